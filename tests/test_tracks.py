"""Tracks against a slow, obvious implementation, and their bookkeeping."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayeval as bv
from bayeval import tracks

ESTIMATORS = {
    "Bayes@N": lambda o: bv.posterior(o).mean,
    "avg@N": bv.avg,
    "Pass@2": partial(bv.pass_at_k, k=2),
    "Pass^4": partial(bv.pass_hat_k, k=4),
    "G-Pass@4": partial(bv.g_pass_at_k, k=4, tau=0.5),
    "mG-Pass@4": partial(bv.mg_pass_at_k, k=4),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scores_are_those_of_the_outcomes_so_far(name):
    estimator = ESTIMATORS[name]
    R = np.random.default_rng(1).integers(0, 2, (3, 5, 7))
    found = tracks.scores(estimator, np.moveaxis(R.cumsum(axis=2), 2, 0))
    for n in range(1, 8):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bv.UndefinedWarning)
            expected = estimator(bv.Outcomes.from_matrix(R[:, :, :n], categories=2))
        np.testing.assert_allclose(found[n - 1], expected, rtol=1e-13)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_tracks_are_successes_along_trials(n, models, questions, seed):
    rng = np.random.default_rng(seed)
    R = rng.integers(0, 2, (models, questions, 12))
    o = bv.Outcomes.from_matrix(R, categories=2)
    for t in (tracks.flips(rng.random((models, questions)), n, 4, rng=rng),
              tracks.subsamples(o, n, 4, rng=rng),
              tracks.resamples(R, n, 4, by="question", rng=rng),
              tracks.resamples(R, n, 4, by="trial", rng=rng)):
        assert t.shape == (4, n, models, questions)
        steps = np.diff(t, axis=1, prepend=0)
        assert ((steps == 0) | (steps == 1)).all()


def test_subsamples_are_random_orders_of_the_attempts():
    o = bv.Outcomes.from_counts([[3, 0, 10]], 10)
    t = tracks.subsamples(o, 10, 20_000, rng=2)
    assert (t[:, -1] == o.successes).all()
    # After 4 of 10 the successes are hypergeometric: variance n p (1 - p) (T - n) / (T - 1).
    assert t[:, 3, 0, 0].mean() == pytest.approx(1.2, abs=0.02)
    assert t[:, 3, 0, 0].var() == pytest.approx(4 * 0.3 * 0.7 * 6 / 9, abs=0.02)


def test_whole_trials_keep_what_questions_share():
    R = np.repeat(np.array([0, 1, 1, 0, 1])[None, None], 2, axis=1)  # two questions, always alike
    together = tracks.resamples(R, 6, 300, by="trial", rng=3)
    apart = tracks.resamples(R, 6, 300, by="question", rng=3)
    assert (together[..., 0] == together[..., 1]).all()
    assert (apart[..., 0] != apart[..., 1]).any()


def test_pieces_do_not_depend_on_the_number_of_cores():
    def last(size, rng):
        return {"last": tracks.flips([[0.3, 0.6]], 9, size, rng=rng)[:, -1]}
    one, two = (tracks.over(last, 250, n_jobs=jobs, rng=5)["last"] for jobs in (1, 2))
    assert one.shape == (250, 1, 2)
    np.testing.assert_array_equal(one, two)


def test_bad_input_is_named():
    o = bv.Outcomes.from_counts([[1, 2]], 3)
    for call, name in (
        (lambda: tracks.flips([0.5, 0.5], 4, 1), "p must"),
        (lambda: tracks.flips([[1.5]], 4, 1), "p must"),
        (lambda: tracks.flips([[0.5]], 0, 1), "n must"),
        (lambda: tracks.flips([[0.5]], 4, 1.5), "size must"),
        (lambda: tracks.subsamples(o, 4, 1), "n must be at most 3"),
        (lambda: tracks.resamples([[0, 1]], 4, 1), "R must"),
        (lambda: tracks.resamples([[[0, 2]]], 4, 1), "R must"),
        (lambda: tracks.resamples([[[0, 1]]], 4, 1, by="row"), "by must"),
        (lambda: tracks.scores(bv.avg, np.array([[[2]]])), "tracks must"),
        (lambda: tracks.scores(bv.avg, np.array([[[0.5]]])), "tracks must"),
        (lambda: tracks.scores(lambda o: 0.5, np.array([[[1]]])), "estimator must"),
    ):
        with pytest.raises(ValueError, match=name):
            call()

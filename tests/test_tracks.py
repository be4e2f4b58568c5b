"""Tracks against a slow, obvious implementation, and their bookkeeping."""

import itertools
import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import oracles
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


def picks(k, value):
    """The mean of a function of the number right over all picks of k of a question's trials."""
    def score(row):
        every = list(itertools.combinations(row, k))
        return sum(Fraction(value(sum(pick))) for pick in every) / len(every) if every else None
    return score


# Each question from its list of outcomes, without counts, tables or closed forms.
SLOW = {
    "Bayes@N": lambda row: Fraction(1 + sum(row), 2 + len(row)),
    "avg@N": lambda row: Fraction(sum(row), len(row)),
    "Pass@2": picks(2, lambda right: right >= 1),
    "Pass^4": picks(4, lambda right: right == 4),
    "G-Pass@4": picks(4, lambda right: right >= 2),
    "mG-Pass@4": picks(4, lambda right: Fraction(2, 4) * sum(right >= i for i in (3, 4))),
}


def slow_scores(score, R):
    """Scores of the models after each trial, from the outcomes themselves."""
    out = []
    for n in range(1, len(R[0][0]) + 1):
        of_models = [[score(row[:n]) for row in model] for model in R]
        out.append([math.nan if None in model else sum(model) / len(model) for model in of_models])
    return out


def slow_tau(x, y):
    """Kendall's tau-b from its definition, pair by pair."""
    signs = [(np.sign(float(x[i] - x[j])), np.sign(float(y[i] - y[j])))
             for i in range(len(x)) for j in range(i)]
    size = math.sqrt(sum(a * a for a, _ in signs) * sum(b * b for _, b in signs))
    return sum(a * b for a, b in signs) / size if size else math.nan


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scores_orders_and_convergence_are_those_of_plain_loops(name):
    rng = np.random.default_rng(1)
    reference = [3, 1, 2, 1]
    for chance in (0.5, 0.5, 0.1, 0.9):
        R = (rng.random((4, 3, 7)) < chance).astype(int)
        found = tracks.scores(ESTIMATORS[name], np.moveaxis(R.cumsum(axis=2), 2, 0))
        expected = slow_scores(SLOW[name], R.tolist())
        np.testing.assert_allclose(found, np.array(expected, dtype=float), rtol=1e-13)
        defined = [row for row in expected if not math.isnan(row[0])]
        np.testing.assert_allclose(bv.kendall_tau(found, reference)[-len(defined):],
                                   [slow_tau(row, reference) for row in defined], rtol=1e-13)
        for wanted in (None, reference, expected[-1]):
            n = oracles.convergence_at_n(defined, wanted) + len(expected) - len(defined)
            np.testing.assert_equal(bv.convergence_at_n(found, wanted if wanted is None else
                                                        np.array(wanted, dtype=float)), n)


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


def test_one_table_serves_all_estimators_and_shorter_tracks(monkeypatch):
    table = tracks.tabulate(ESTIMATORS, 9)
    assert table.names == tuple(ESTIMATORS)
    assert table.values.shape == (9 * 12 // 2, 6)
    t = tracks.flips(np.random.default_rng(2).random((3, 4)), 6, 50, rng=2)
    together = tracks.scores(table, t)
    assert list(together) == list(ESTIMATORS)
    for name, estimator in ESTIMATORS.items():
        np.testing.assert_array_equal(together[name], tracks.scores(estimator, t))
        assert together[name].shape == (50, 6, 3)
    np.testing.assert_array_equal(tracks.scores(ESTIMATORS, t[3])["avg@N"], together["avg@N"][3])
    monkeypatch.setattr(tracks, "BLOCK", 100)
    for name, x in tracks.scores(table, t).items():
        np.testing.assert_array_equal(x, together[name])


def test_equal_scores_tie_whatever_the_order_of_the_questions():
    p = np.random.default_rng(3).random(30)
    t = tracks.flips([p], 40, 20, rng=3)
    both = np.concatenate([t, t[..., ::-1]], axis=2)
    for x in tracks.scores(ESTIMATORS, both).values():
        assert np.nanmax(bv.ranking.ranks(np.nan_to_num(x))) == 1


def test_twins_are_draws_of_the_posterior():
    o = bv.Outcomes.from_counts([[3, 0, 4, 1, 4, 0], [0, 0, 0, 1, 0, 0]], 4)
    rng = np.random.default_rng(4)
    for prior in ("uniform", "learned"):
        p = np.stack([tracks.twin(o, prior=prior, rng=rng) for _ in range(800)])
        expected = bv.posterior(o, prior=prior)
        assert p.shape == (800, 2, 6)
        assert ((p >= 0) & (p <= 1)).all()
        error = p.std(axis=0) / np.sqrt(800)
        assert (np.abs(p.mean(axis=0) - expected.question_mean) < 5 * error).all()
        np.testing.assert_allclose(p.std(axis=0), expected.question_sd, rtol=0.15)
        np.testing.assert_allclose(p.mean(axis=2).std(axis=0), expected.sd, rtol=0.15)
    one = bv.Outcomes.from_counts([3, 0], 4)
    assert tracks.twin(one, rng=1).shape == (1, 2)
    np.testing.assert_array_equal(tracks.twin(o, rng=7), tracks.twin(o, rng=7))


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
    again = tracks.over(last, 250, rng=np.random.RandomState(5))["last"]
    np.testing.assert_array_equal(
        again, tracks.over(last, 250, rng=np.random.RandomState(5))["last"])
    assert len(np.unique(one[:100] != one[100:200])) == 2  # pieces have streams of their own


def test_pieces_are_put_together_in_order():
    sizes = []

    def count(size, rng):
        sizes.append(size)
        return {"first": np.arange(size), "second": np.zeros((size, 2))}
    found = tracks.over(count, 230, rng=1)
    assert sizes == [100, 100, 30]
    assert found["first"].tolist() == [*range(100), *range(100), *range(30)]
    assert found["second"].shape == (230, 2)


def test_bootstrap_tracks_have_the_law_of_their_record():
    rng = np.random.default_rng(6)
    R = rng.random((2, 3, 20)) < 0.4
    rates = R.mean(axis=2)
    for by in ("question", "trial"):
        t = tracks.resamples(R, 12, 4000, by=by, rng=rng)[:, -1]
        np.testing.assert_allclose(t.mean(axis=0) / 12, rates, atol=0.01)
        np.testing.assert_allclose(t.var(axis=0), 12 * rates * (1 - rates), rtol=0.1)


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
        (lambda: tracks.scores(lambda o: 0.5, np.array([[[1]]])), "estimators must"),
        (lambda: tracks.scores({}, np.array([[[1]]])), "estimators must"),
        (lambda: tracks.scores("avg", np.array([[[1]]])), "estimators must"),
        (lambda: tracks.scores(tracks.tabulate({"avg": bv.avg}, 2), np.zeros((3, 1, 1), int)),
         "tracks have 3 trials"),
        (lambda: tracks.tabulate({"avg": bv.avg}, 0), "n must"),
        (lambda: tracks.twin([[1]]), "o must"),
        (lambda: tracks.twin(o, prior="flat"), "prior must"),
        (lambda: tracks.twin(bv.Outcomes.from_matrix([[0, 1, 2]], categories=3)), "binary"),
        (lambda: tracks.over(lambda size, rng: {}, 0), "size must"),
    ):
        with pytest.raises(ValueError, match=name):
            call()

"""Simulated coins, subsamples of real counts, and coverage studies against known laws."""

from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayeval as bv
from bayeval import simulate

# -- coins -----------------------------------------------------------------------------------


def test_coins_are_binomial():
    p = np.array([0.0, 0.03, 0.5, 1.0])
    o = simulate.coin_flips(np.tile(p, (20_000, 1)), 40, rng=1)
    s = o.successes
    assert set(s[:, 0]) == {0}
    assert set(s[:, 3]) == {40}
    for m in (1, 2):
        law = stats.binom(40, p[m])
        seen = np.bincount(s[:, m], minlength=41)
        expected = law.pmf(np.arange(41)) * len(s)
        pool = expected > 5
        chi2 = ((seen - expected)[pool] ** 2 / expected[pool]).sum()
        assert stats.chi2(pool.sum() - 1).sf(chi2) > 1e-4


def test_coins_carry_labels_repeat_with_the_seed_and_broadcast():
    o = simulate.coin_flips([[0.5, 0.2], [0.1, 0.9]], [4, 7], models=["A", "B"], rng=3)
    assert o.models == ("A", "B")
    assert o.n_trials.tolist() == [[4, 7], [4, 7]]
    again = simulate.coin_flips([[0.5, 0.2], [0.1, 0.9]], [4, 7], rng=np.random.default_rng(3))
    assert np.array_equal(o.counts, again.counts)
    assert simulate.coin_flips([0.5], 0).n_trials.tolist() == [[0]]
    assert simulate.coin_flips([0.5], 3).single


@pytest.mark.parametrize(("p", "n", "message"), [
    ([1.5], 3, r"p must have shape \(M,\) or \(L, M\) and lie in \[0, 1\].* 1.5"),
    ([-0.1], 3, "p must"), ([np.nan], 3, "p must"), ([], 3, "p must"), (0.5, 3, "p must"),
    ([[[0.5]]], 3, "p must"), (["a"], 3, "p must be an array of probabilities"),
    (np.ma.array([0.5], mask=[1]), 3, "p must"), ([0.5], -1, "n must be counts"),
    ([0.5], 2.5, "n must be whole numbers; found 2.5"), ([0.5], [1, 2], "n of shape"),
])
def test_bad_coins(p, n, message):
    with pytest.raises(ValueError, match=message):
        simulate.coin_flips(p, n)


@pytest.mark.parametrize("rng", ["seed", 1.5, -1, True, [0.5], object()])
def test_bad_seeds(rng):
    with pytest.raises(ValueError, match="rng must be a seed"):
        simulate.coin_flips([0.5], 3, rng=rng)


# -- subsamples --------------------------------------------------------------------------------


def test_subsamples_are_hypergeometric():
    o = bv.Outcomes.from_counts(np.full((20_000, 1), 8), 20)
    kept = simulate.subsample(o, 6, rng=1)
    assert (kept.n_trials == 6).all()
    seen = np.bincount(kept.successes[:, 0], minlength=7)
    expected = stats.hypergeom(20, 8, 6).pmf(np.arange(7)) * 20_000
    assert (expected > 5).all()
    assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_subsamples_of_a_rubric_have_the_multivariate_moments():
    counts = np.array([5, 3, 8, 4])
    o = bv.Outcomes.from_category_counts(np.tile(counts, (40_000, 1, 1)))
    kept = simulate.subsample(o, 9, rng=2).counts[:, 0]
    law = stats.multivariate_hypergeom(counts, 9)
    assert np.allclose(kept.mean(axis=0), law.mean(), atol=0.03)
    assert np.allclose(np.cov(kept.T), law.cov(), atol=0.05)
    assert (kept <= counts).all()


def test_a_cell_with_fewer_attempts_keeps_them_all():
    o = bv.Outcomes.from_counts([[3, 0, 9], [1, 1, 1]], [[4, 0, 9], [2, 6, 1]],
                                models=["A", "B"], questions=list("xyz"))
    kept = simulate.subsample(o, 5, rng=0)
    assert kept.n_trials.tolist() == [[4, 0, 5], [2, 5, 1]]
    assert kept.successes[0].tolist() == [3, 0, 5]
    assert (kept.models, kept.questions, kept.categories) == (o.models, o.questions, o.categories)
    assert np.array_equal(simulate.subsample(o, 9, rng=0).counts, o.counts)
    assert simulate.subsample(o.select(models="A"), 2, rng=0).single


def test_averages_of_subsamples_are_unbiased_on_real_counts():
    o = bv.datasets.load("hmmt_feb_2025")
    rng = np.random.default_rng(3)
    means = np.array([bv.avg(simulate.subsample(o, 1, rng=rng)) for _ in range(300)])
    error = means.std(axis=0, ddof=1) / np.sqrt(300)
    assert (np.abs(means.mean(axis=0) - bv.avg(o)) < 5 * error + 1e-9).all()


@pytest.mark.parametrize(("n", "message"), [
    (0, "n must be a whole number"), (2.5, "n must be"), (True, "n must be"), ("2", "n must be"),
    ([2], "n must be"), (2**60, "n must be")])
def test_bad_subsamples(n, message):
    with pytest.raises(ValueError, match=message):
        simulate.subsample(bv.Outcomes.from_counts([1], 2), n)
    with pytest.raises(ValueError, match=r"o must be bayeval\.Outcomes"):
        simulate.subsample([1, 2], 1)


# -- coverage --------------------------------------------------------------------------------


class Half:
    """A law without spread."""

    def rvs(self, size, random_state):
        return np.full(size, 0.5)

    def mean(self):
        return 0.5


def fixed(low, center, high):
    """An estimator that always says the same."""
    def estimator(o):
        one = np.ones(o.n_models)
        return SimpleNamespace(
            mean=center * one, interval=lambda p: SimpleNamespace(low=low * one, high=high * one),
            population=SimpleNamespace(mean=0.9 * one, interval=lambda p: SimpleNamespace(
                low=0.8 * one, high=one)))
    return estimator


def test_the_columns_are_what_they_say():
    t = simulate.coverage(fixed(0.4, 0.6, 0.7), Half(), [2, 8], questions=5, replicates=300, rng=1)
    assert t.n.tolist() == [2, 8]
    assert t.coverage.tolist() == [1, 1]
    assert t.mc_error.tolist() == [0, 0]
    assert np.allclose(t.width, 0.3)
    assert np.allclose(t.bias, 0.1)
    assert np.allclose(t.rmse, 0.1)
    assert np.allclose(t.rmse_avg, np.sqrt(0.25 / (5 * t.n)), rtol=0.15)
    off = simulate.coverage(fixed(0.6, 0.65, 0.7), Half(), 2, questions=5, replicates=10, rng=1)
    assert off.coverage.tolist() == [0]
    population = simulate.coverage(fixed(0.4, 0.6, 0.7), Half(), 2, questions=5, replicates=10,
                                   population=True, rng=1)
    assert (population.coverage[0], population.bias[0]) == (0, pytest.approx(0.4))


def test_the_right_prior_covers_as_often_as_it_says():
    t = simulate.coverage(bv.posterior, stats.beta(1, 1), [1, 4, 16], questions=12,
                          replicates=800, probability=0.9, rng=2)
    assert (np.abs(t.coverage - 0.9) < 4 * t.mc_error).all()
    assert (np.diff(t.width) < 0).all()
    assert (t.rmse < t.rmse_avg).all()


def test_the_uniform_prior_fails_on_hard_questions():
    t = simulate.coverage(bv.posterior, stats.beta(0.2, 8), 4, questions=60, replicates=200, rng=3)
    assert t.coverage[0] < 0.05
    assert t.bias[0] > 0.1


def test_subsamples_of_real_counts_are_judged_by_all_attempts():
    o = bv.Outcomes.from_counts([[40, 2, 0, 17], [9, 9, 30, 1]], 40, models=["A", "B"])
    t = simulate.coverage(bv.posterior, o, [4, 40], replicates=400, rng=4)
    assert t.model.tolist() == ["A", "A", "B", "B"]
    assert t.n.tolist() == [4, 40] * 2
    # The posterior mean shrinks avg@N towards 1/2: (1 + n avg) / (n + 2).
    truth = np.repeat(bv.avg(o), 2)
    shift = (1 + t.n * truth) / (t.n + 2) - truth
    assert np.allclose(t.bias, shift, atol=0.02)
    assert np.allclose(t[t.n == 40].rmse_avg, 0, atol=1e-12)


@pytest.mark.parametrize("seed", [
    lambda: 3, lambda: np.random.default_rng(3), lambda: np.random.SeedSequence(3),
    lambda: np.random.MT19937(3), lambda: np.random.RandomState(3)])
def test_every_kind_of_seed_gives_the_same_study_twice(seed):
    first, second = (simulate.coverage(bv.posterior, stats.beta(1, 3), 4, questions=5,
                                       replicates=40, rng=seed()) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_results_do_not_depend_on_how_the_work_is_spread():
    arguments = (bv.posterior, stats.beta(2, 2), [1, 3])
    options = {"questions": 4, "replicates": 600, "rng": 5}
    alone = simulate.coverage(*arguments, **options)
    with joblib.parallel_config("threading"):
        spread = simulate.coverage(*arguments, n_jobs=2, **options)
    assert alone.equals(spread)
    assert not alone.equals(simulate.coverage(*arguments, **(options | {"rng": 6})))


@pytest.mark.parametrize(("change", "message"), [
    ({"estimator": 3}, "estimator must be a function"), ({"truth": 0.5}, "truth must be"),
    ({"truth": [1, 2]}, "truth must be"), ({"n": 0}, "n must be a whole number"),
    ({"n": 1.5}, "n must be"), ({"n": []}, "n must be"), ({"n": True}, "n must be"),
    ({"questions": None}, "questions is needed"), ({"questions": 0}, "questions must be"),
    ({"questions": 2.5}, "questions must be"), ({"replicates": 0}, "replicates must be"),
    ({"probability": 1}, "probability must be"), ({"probability": 95}, "probability must be"),
    ({"n_jobs": "all"}, "n_jobs must be"), ({"n_jobs": [1]}, "n_jobs must be"),
    ({"truth": bv.Outcomes.from_counts([1], 2), "population": True}, "population=True needs"),
    ({"truth": stats.norm()}, "p must have shape"),
])
def test_bad_studies(change, message):
    arguments = {"estimator": bv.posterior, "truth": stats.beta(1, 1), "n": 2, "questions": 3,
                 "replicates": 2} | change
    with pytest.raises(ValueError, match=message):
        simulate.coverage(**arguments)

"""The same quantities from scorio, the library of the authors of "Don't Pass@k"."""

import numpy as np
import pytest
import scorio.eval as se
import scorio.rank as sr
from scorio.utils import compare_rankings, rank_scores

import bayeval as bv

WEIGHTS = [0.0, 0.25, 1.0]


def binary(seed, shape=(4, 30, 20)):
    """Outcomes of models on questions from hopeless to certain."""
    rng = np.random.default_rng(seed)
    return (rng.random(shape) < rng.beta(0.4, 0.6, shape[:2])[..., None]).astype(int)


def rubric(seed, shape=(4, 10, 12)):
    return np.random.default_rng(seed).choice(3, size=shape, p=[0.5, 0.2, 0.3])


def each(function, R, *arguments, **options):
    """The function of every model's matrix, as an array."""
    return np.array([function(model, *arguments, **options) for model in R])


# -- scores ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 1, 1), (4, 30, 20), (2, 7, 80)])
def test_bayes_at_n(shape):
    R = binary(1, shape)
    p = bv.posterior(bv.Outcomes.from_matrix(R))
    mu, sigma, low, high = each(se.bayes_ci, R).T
    assert np.allclose(p.mean, mu, rtol=1e-13)
    assert np.allclose(p.sd, sigma, rtol=1e-12)
    i = p.interval(0.95, kind="normal")
    assert np.allclose(i.low, low, rtol=0, atol=1e-12)
    assert np.allclose(i.high, high, rtol=0, atol=1e-12)


def test_bayes_at_n_of_a_rubric_with_past_results():
    R, R0 = rubric(2), rubric(3, (4, 10, 5))
    o, past = (bv.Outcomes.from_matrix(x, categories=3) for x in (R, R0))
    p = bv.posterior(o, weights=WEIGHTS, prior=bv.Past(past))
    expected = np.array([se.bayes(x, np.array(WEIGHTS), x0) for x, x0 in zip(R, R0, strict=True)])
    assert np.allclose(np.stack([p.mean, p.sd], axis=1), expected, rtol=1e-12)
    plain = bv.posterior(o, weights=WEIGHTS)
    expected = each(se.bayes, R, np.array(WEIGHTS))
    assert np.allclose(np.stack([plain.mean, plain.sd], axis=1), expected, rtol=1e-12)


def test_avg_and_its_sd_on_its_own_scale():
    R = rubric(4)
    o, N = bv.Outcomes.from_matrix(R, categories=3), R.shape[2]
    average, sd = each(se.avg, R, np.array(WEIGHTS)).T[:2]
    assert np.allclose(bv.avg(o, WEIGHTS), average, rtol=1e-13)
    assert np.allclose((N + 3) / N * bv.posterior(o, weights=WEIGHTS).sd, sd, rtol=1e-12)


def test_the_interval_that_leaves_the_range():
    low, high = se.bayes_ci(np.ones((1, 5), dtype=int))[2:]
    o = bv.Outcomes.from_counts([5], 5)
    normal = bv.posterior(o).interval(kind="normal")
    assert (normal.low, normal.high) == pytest.approx((low, high), rel=1e-12)
    assert high > 1 > bv.posterior(o).interval().high


# -- the Pass@k family -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 8, 20])
def test_unbiased_estimates(k):
    R = binary(5)
    o = bv.Outcomes.from_matrix(R)
    assert np.allclose(bv.pass_at_k(o, k), each(se.pass_at_k, R, k), rtol=1e-11)
    assert np.allclose(bv.pass_hat_k(o, k), each(se.pass_hat_k, R, k), rtol=1e-11)
    assert np.allclose(bv.mg_pass_at_k(o, k), each(se.mg_pass_at_k, R, k), rtol=1e-11)
    for tau in (0.25, 0.5, 0.75, 1.0):
        assert np.allclose(bv.g_pass_at_k(o, k, tau=tau), each(se.g_pass_at_k_tau, R, k, tau),
                           rtol=1e-11)


@pytest.mark.parametrize("prior", [(1.0, 1.0), (0.5, 0.5), (2.0, 0.25)])
@pytest.mark.parametrize("k", [1, 2, 3, 8, 20])
def test_posterior_moments(k, prior):
    R = binary(6, (2, 12, 20))
    p = bv.posterior(bv.Outcomes.from_matrix(R), prior=bv.Dirichlet(prior[::-1]))
    options = {"alpha0": prior[0], "beta0": prior[1]}
    ours = {"pass": (p.pass_at_k(k), each(se.pass_at_k_ci, R, k, **options)),
            "hat": (p.pass_hat_k(k), each(se.pass_hat_k_ci, R, k, **options)),
            "mean": (p.mg_pass_at_k(k), each(se.mg_pass_at_k_ci, R, k, **options))}
    for tau in (0.5, 0.75):
        ours[tau] = p.g_pass_at_k(k, tau=tau), each(se.g_pass_at_k_tau_ci, R, k, tau, **options)
    for name, (got, expected) in ours.items():
        assert np.allclose(got.mean, expected[:, 0], rtol=1e-11), name
        assert np.allclose(got.sd, expected[:, 1], rtol=1e-9), name
        i = got.interval(0.95, kind="normal")
        assert np.allclose(np.clip(i.low, 0, 1), expected[:, 2], rtol=0, atol=1e-10), name
        assert np.allclose(np.clip(i.high, 0, 1), expected[:, 3], rtol=0, atol=1e-10), name


# -- ranks -----------------------------------------------------------------------------------


def test_ranks_of_the_same_scores():
    R = binary(7, (9, 6, 3))  # few attempts, so that there are ties
    o = bv.Outcomes.from_matrix(R)
    scores = bv.avg(o)
    assert len(np.unique(scores)) < len(scores)
    ours = bv.ranking.ranks
    assert np.array_equal(ours(scores), rank_scores(scores)["competition"])
    assert np.array_equal(ours(scores), sr.avg(R))
    board = bv.leaderboard(o)["rank"][list(o.models)]
    assert np.array_equal(board, sr.bayes(R))
    assert np.array_equal(ours(bv.pass_at_k(o, 2)), sr.pass_at_k(R, 2))
    assert np.array_equal(ours(bv.pass_hat_k(o, 2)), sr.pass_hat_k(R, 2))
    assert np.array_equal(ours(bv.mg_pass_at_k(o, 3)), sr.mg_pass_at_k(R, 3))


def test_kendalls_tau_of_two_rankings():
    rng = np.random.default_rng(8)
    for _ in range(10):
        a, b = rng.integers(0, 6, (2, 9))
        assert bv.kendall_tau(a, b) == pytest.approx(
            compare_rankings(a, b, method="kendall")[0], abs=1e-14)


@pytest.mark.parametrize("name", ["aime_2025", "hmmt_feb_2025"])
def test_real_leaderboards(name):
    o = bv.datasets.load(name).select(models=list(bv.datasets.load(name).models[:8]))
    n = o.n_trials.max()
    assert (o.n_trials == n).all()
    R = (np.arange(n) < o.successes[..., None]).astype(int)
    ranks, scores = sr.bayes(R, return_scores=True)
    board = bv.leaderboard(o).loc[list(o.models)]
    assert np.allclose(board.score, scores, rtol=1e-13)
    assert np.array_equal(board["rank"], ranks)

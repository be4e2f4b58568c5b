"""The learned prior: against brute force, against its own draws, and whether its intervals hold."""

import itertools

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayeval as bv
from bayeval import betabinomial
from bayeval import dirichlet_multinomial as dm

COUNTS = np.array([[3, 0, 1], [0, 4, 0], [2, 1, 0], [4, 0, 0], [0, 0, 2], [0, 0, 0]])
W = np.array([0.0, 0.3, 1.0])


def learn(counts, weights=None, **labels):
    counts = np.asarray(counts)
    if weights is None:
        weights = np.linspace(0, 1, counts.shape[-1])
    return bv.posterior(bv.Outcomes.from_category_counts(counts, **labels), weights=weights,
                        prior="learned")


def log_likelihood(counts, alpha):
    """By the formula, question by question; alpha of shape (J, K)."""
    total = alpha.sum(axis=1)
    out = np.zeros(len(alpha))
    for n in counts:
        out += special.gammaln(total) - special.gammaln(total + n.sum())
        out += (special.gammaln(alpha + n) - special.gammaln(alpha)).sum(axis=1)
    return out


def halves(K):
    """Standard deviations of the prior of log alpha below and above 0."""
    return 2 * np.sqrt(K / 2), 2.0


def log_prior(x):
    left, right = halves(x.shape[1])
    return -(x**2 / np.where(x < 0, left, right) ** 2).sum(axis=1) / 2


def summary(counts, alpha, weight, w):
    """Mean and sd of the score, and the score of the population at each node."""
    T = alpha.sum(axis=1)[:, None] + counts.sum(axis=1)
    m = np.stack([(alpha + n) @ w for n in counts], axis=1) / T
    square = np.stack([(alpha + n) @ w**2 for n in counts], axis=1) / T
    var = ((square - m**2) / (T + 1)).sum(axis=1) / len(counts) ** 2
    mean = weight @ m.mean(axis=1)
    sd = np.sqrt(weight @ (var + m.mean(axis=1) ** 2) - mean**2)
    return mean, sd, alpha @ w / alpha.sum(axis=1)


# -- against brute force ----------------------------------------------------------------------


def test_three_categories_against_a_dense_grid():
    x = np.linspace(-14, 8, 67)
    grid = np.array(list(itertools.product(x, x, x)))
    alpha = np.exp(grid)
    weight = np.exp(log_likelihood(COUNTS, alpha) + log_prior(grid)
                    - log_likelihood(COUNTS, np.ones((1, 3))))
    weight /= weight.sum()
    mean, sd, population = summary(COUNTS, alpha, weight, W)
    p = learn(COUNTS, W)
    assert abs(p.mean - mean) < 0.003 * sd
    assert abs(p.sd / sd - 1) < 0.005
    center = weight @ population
    spread = np.sqrt(weight @ (population - center) ** 2)
    assert abs(p.population.mean - center) < 0.01 * spread
    assert abs(p.population.sd / spread - 1) < 0.01
    order = np.argsort(population)
    below = np.cumsum(weight[order]) - weight[order] / 2
    ends = np.interp([0.025, 0.975], below, population[order])
    found = p.population.interval(0.95)
    assert np.allclose((found.low, found.high), ends, atol=0.05 * spread)


@pytest.mark.parametrize("counts", [
    [[2, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1], [0, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]],
    [[3, 0, 0, 0]] * 4 + [[2, 1, 0, 0]]])
def test_more_categories_against_draws_from_the_prior(counts):
    counts = np.array(counts)
    K = counts.shape[1]
    rng = np.random.default_rng(1)
    left, right = halves(K)
    # Two half normals that meet at 0, so the wider one holds more.
    x = np.abs(rng.standard_normal((200_000, K)))
    x *= np.where(rng.random(x.shape) < left / (left + right), -left, right)
    alpha = np.exp(x)
    weight = np.exp(log_likelihood(counts, alpha))
    weight /= weight.sum()
    assert 1 / (weight**2).sum() > 1500
    w = np.linspace(0, 1, K)
    mean, sd, population = summary(counts, alpha, weight, w)
    p = learn(counts, w)
    noise = 4 / np.sqrt(1500)
    assert abs(p.mean - mean) < noise * sd
    assert abs(p.sd / sd - 1) < noise
    assert abs(p.population.mean - weight @ population) < noise * p.population.sd


@pytest.mark.parametrize(("s", "n"), [
    ([0, 3, 1, 0, 4], 4), ([0] * 20 + [1], 3), ([5, 6, 5, 4, 6, 5, 5], 10),
    ([1, 0, 0, 2, 7], [1, 0, 3, 2, 9])])
def test_two_categories_are_the_beta_binomial_model(s, n):
    s, n = np.broadcast_arrays(s, n)
    exact = betabinomial.quadrature(s, n)
    fit = dm.nodes(np.stack([n - s, s], axis=-1)[None])
    w = np.array([0.0, 1.0])
    for law, other in ((fit.score(w), exact.score()), (fit.population(w), exact.population())):
        assert abs(law.mean[0] - other.mean) < 0.01 * other.sd
        assert abs(law.sd[0] / other.sd - 1) < 0.01
        q = np.array([0.025, 0.5, 0.975])
        assert np.allclose(law.ppf(q)[0], other.ppf(q), atol=0.05 * other.sd)


def test_the_shared_factor_is_the_integral_that_it_is_said_to_be():
    T, N = 0.7, 5
    value = integrate.quad(lambda c: np.exp(-c * T) * (-np.expm1(-c)) ** (N - 1), 0, np.inf)[0]
    assert np.isclose(value / special.gamma(N), special.gamma(T) / special.gamma(T + N))


# -- coverage on simulated rubrics --------------------------------------------------------------

NEVER = 1e-12
SHAPES = {
    "three alike": [1, 1, 1],
    "questions alike": [20, 40, 10],
    "one never used": [0.5, 0.5, NEVER],
    "one dominant": [0.05, 0.05, 3],
    "sparse": [0.05] * 5,
    "four of six never used": [0.3, 0.3, *[NEVER] * 4],
}
REPLICATES = 70


def covered(alpha, M=40, N=3):
    """Whether intervals hold the truth, and the root mean square error over that of avg@N."""
    alpha, w = np.array(alpha), np.linspace(0, 1, len(alpha))
    rng = np.random.default_rng(4)
    pi = dm.draw(np.broadcast_to(alpha, (REPLICATES, M, len(alpha))), rng)
    counts = rng.multinomial(N, pi)
    truth, plain = (pi @ w).mean(axis=1), (counts @ w / N).mean(axis=1)
    p = learn(counts, w)
    i = p.interval(0.95)
    error = ((p.mean - truth) ** 2).mean() / ((plain - truth) ** 2).mean()
    return (i.low <= truth) & (truth <= i.high), np.sqrt(error)


def test_intervals_of_rubrics_hold():
    held, error = zip(*map(covered, SHAPES.values()))
    shares = dict(zip(SHAPES, np.mean(held, axis=1)))
    assert min(shares.values()) > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / REPLICATES), shares
    slack = 3 * np.sqrt(0.95 * 0.05 / np.size(held))
    assert 0.92 - slack < np.mean(held) < 0.98 + slack
    # What is never used is guessed at: a small share, but more than avg@N's none.
    for shape, ratio in zip(SHAPES, error):
        assert ratio < (1.7 if "never" in shape else 1.05), (shape, ratio)


# -- symmetries ------------------------------------------------------------------------------


def test_orders_of_questions_and_models_do_not_matter():
    rng = np.random.default_rng(5)
    counts = rng.multinomial(4, rng.dirichlet([0.5, 0.3, 0.4], (3, 20)))
    p = learn(counts, W)
    shuffled = learn(counts[:, rng.permutation(20)], W)
    assert np.allclose(p.mean, shuffled.mean, rtol=1e-12)
    assert np.allclose(p.interval().low, shuffled.interval().low, rtol=1e-9)
    turned = learn(counts[::-1], W)
    assert np.allclose(p.mean, turned.mean[::-1], rtol=1e-12)
    assert np.allclose(p.sd, turned.sd[::-1], rtol=1e-12)
    alone = learn(counts[1], W)
    assert np.isclose(alone.mean, p.mean[1], rtol=1e-12)


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_orders_of_categories_do_not_matter(order):
    p, q = learn(COUNTS, W), learn(COUNTS[:, order], W[list(order)])
    assert abs(p.mean - q.mean) < 0.01 * p.sd
    assert abs(p.sd / q.sd - 1) < 0.01
    i, j = p.interval(), q.interval()
    assert np.allclose((i.low, i.high), (j.low, j.high), atol=0.03 * p.sd)
    assert np.allclose(p.question_mean, q.question_mean, atol=0.01)


@pytest.mark.parametrize("counts", [[[3, 1], [0, 4], [2, 2]], COUNTS])
def test_mirrored_weights_mirror_the_score(counts):
    K = np.shape(counts)[1]
    w = np.linspace(0, 1, K)
    p, q = learn(counts, w), learn(counts, 1 - w)
    i, j = p.interval(0.9), q.interval(0.9)
    assert np.isclose(p.mean + q.mean, 1, rtol=1e-12)
    assert np.isclose(p.sd, q.sd, rtol=1e-9)
    assert np.allclose((i.low + j.high, i.high + j.low), 1, atol=1e-4)
    assert np.allclose(p.question_mean + q.question_mean, 1)


def test_the_score_moves_with_the_scale_of_the_weights():
    p, q = learn(COUNTS, W), learn(COUNTS, 5 - 20 * W)
    assert np.isclose(q.mean, 5 - 20 * p.mean)
    assert np.isclose(q.sd, 20 * p.sd)
    assert np.isclose(q.interval().high, 5 - 20 * p.interval().low, atol=2e-3 * q.sd)


def test_unused_categories_hardly_move_the_score():
    counts = np.array([[3, 1], [0, 4], [4, 0], [2, 2], [1, 3], [4, 0]] * 6)
    padded = np.pad(counts, ((0, 0), (0, 4)))
    w = np.array([0, 0.5, 1, 1, 1, 1])
    plain, more = learn(counts, w[:2]), learn(padded, w)
    uniform = [bv.posterior(bv.Outcomes.from_category_counts(c), weights=w[:c.shape[1]]).mean
               for c in (counts, padded)]
    assert abs(more.mean - plain.mean) < 0.03 * abs(uniform[1] - uniform[0])
    assert abs(more.mean - plain.mean) < 0.6 * plain.sd


# -- draws ----------------------------------------------------------------------------------


def agrees(estimate, n=20_000, tail=0.009):
    """Draws have the mean, the sd and the tails of the estimate, to Monte Carlo error."""
    x = estimate.draws(n, rng=7)
    assert x.shape == (*np.shape(estimate.mean), n)
    noise = 4.5 / np.sqrt(n)
    assert (abs(x.mean(axis=-1) - estimate.mean) < noise * estimate.sd + 1e-12).all()
    assert (abs(x.std(axis=-1) - estimate.sd) < 0.03 * estimate.sd + 1e-12).all()
    i = estimate.interval(0.9)
    low, high = np.array(i.low)[..., None], np.array(i.high)[..., None]
    assert (abs((x < low).mean(axis=-1) - 0.05) < tail).all()
    assert (abs((x > high).mean(axis=-1) - 0.05) < tail).all()


def test_draws_of_a_rubric_agree():
    rng = np.random.default_rng(6)
    p = learn(rng.multinomial(5, rng.dirichlet([0.6, 0.2, 0.4], (2, 12))), W)
    agrees(p)
    agrees(p.population)


@pytest.mark.parametrize("population", [False, True])
def test_draws_of_the_family_agree(population):
    p = bv.posterior(bv.Outcomes.from_counts([3, 0, 9, 5, 10, 7, 1, 2] * 3, 10), prior="learned")
    estimates = [p, p.pass_at_k([1, 8, 50]), p.pass_hat_k([2, 5]), p.g_pass_at_k(4, tau=0.5),
                 p.mg_pass_at_k(6), p.mg_pass_at_k(6, form="integral")]
    for estimate in estimates:
        # Their laws are matched by two moments, node by node: tails of skewed ones are less exact.
        agrees(estimate.population if population else estimate, tail=0.045)


def test_one_seed_gives_draws_of_different_weights_that_belong_together():
    a, b = np.array([0, 0.5, 1.0]), np.array([1, 0.2, 0.0])
    x, y, both = (learn(COUNTS, w).draws(50, rng=3) for w in (a, b, a + b))
    assert np.allclose(x + y, both)


# -- hostile input ----------------------------------------------------------------------------


def sane(p, low=0.0, high=1.0):
    i, j = p.interval(0.95), p.population.interval(0.95)
    for x in (p.mean, i.low, i.high, j.low, j.high, p.population.mean, *np.ravel(p.question_mean)):
        assert np.isfinite(x)
        assert low <= x <= high
    assert i.low < p.mean < i.high
    assert 0 < p.sd < 0.5 * (high - low)
    assert np.isfinite(p.draws(100, rng=1)).all()


def test_one_category_only():
    p = learn(np.tile([4, 0, 0, 0], (30, 1)))
    sane(p)
    assert p.interval(0.95).high < 0.05
    q = learn(np.tile([0, 0, 0, 4], (30, 1)))
    assert abs(p.mean + q.mean - 1) < 0.02 * p.sd


def test_no_attempts_at_all():
    p = learn(np.zeros((5, 3), dtype=int))
    sane(p)
    assert abs(p.mean - 0.5) < 0.01
    assert p.interval(0.95).width > 0.8


def test_questions_without_attempts_are_draws_from_the_population():
    p = learn(np.concatenate([COUNTS, np.zeros((3, 3), dtype=int)]), W)
    assert np.allclose(p.question_mean[-3:], p.population.mean, atol=0.01)
    assert (p.question_sd[-3:] > p.question_sd[0]).all()


@pytest.mark.parametrize("M", [1, 40])
def test_fifteen_categories(M):
    rng = np.random.default_rng(8)
    counts = rng.multinomial(4, np.r_[0.4, 0.3, np.full(13, 0.3 / 13)], size=M)
    counts[:, 10:] = 0
    sane(learn(counts))


def test_a_million_attempts():
    p = learn([[600_000, 399_000, 1000], [10, 999_990, 0], [0, 0, 1_000_000]], W)
    sane(p)
    assert abs(p.mean - bv.avg(p.outcomes, W)) < 5e-4


def test_weights_that_are_all_alike():
    p = learn(COUNTS, [2, 2, 2])
    assert p.mean == pytest.approx(2)
    assert p.sd == pytest.approx(0, abs=1e-6)
    assert p.interval().low == pytest.approx(2)


def test_draws_of_tiny_parameters_do_not_underflow():
    x = dm.draw(np.full((1000, 4), 1e-9), np.random.default_rng(9))
    assert np.isfinite(x).all()
    assert np.allclose(x.sum(axis=1), 1)
    # One category takes all, each as often as the others.
    assert stats.chisquare((x > 0.5).sum(axis=0)).pvalue > 1e-4

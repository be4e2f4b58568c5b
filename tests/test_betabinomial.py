"""The beta-binomial model: likelihood, maximum, posterior; each against something slower."""

import itertools
import warnings

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import log_beta_ratio
from scipy import optimize, special, stats

import bayeval as bv
from bayeval import betabinomial as bb
from bayeval._gammas import log_failure
from bayeval._pairs import Pairs
from bayeval.mixture import BetaMixture

QUANTILES = np.array([0.025, 0.05, 0.5, 0.95, 0.975])


# -- log-pmf ----------------------------------------------------------------------------------


def exact_logpmf(s, n, a, b):
    with mp.workdps(60):
        s, n, a, b = map(mp.mpf, (s, n, a, b))
        choose = mp.loggamma(n + 1) - mp.loggamma(s + 1) - mp.loggamma(n - s + 1)
        top = mp.loggamma(a + s) + mp.loggamma(b + n - s) - mp.loggamma(a + b + n)
        return choose + top - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)


def test_logpmf_against_mpmath():
    n_s = [(n, round(n * share)) for n in (1, 2, 7, 60, 1000, 10**6)
           for share in (0, 0.003, 0.3, 0.5, 1)]
    sizes = (1e-4, 0.03, 1.0, 4.7, 300.0, 2e5, 1e7)
    cells = [(s, n, a, b) for n, s in n_s for a, b in itertools.product(sizes, sizes)]
    found = bb.logpmf(*np.array(cells).T)
    exact = [exact_logpmf(*cell) for cell in cells]
    error = np.array([abs(float(x - mp.mpf(float(y)))) / max(1, abs(float(x)))
                      for x, y in zip(exact, found, strict=True)])
    assert error.max() < 1e-13


def test_logpmf_where_log_beta_functions_cancel():
    s, n, a, b = 10**6, 10**6, 2e5, 1e-4
    exact = float(exact_logpmf(s, n, a, b))
    plain = (-np.log1p(n) - special.betaln(s + 1, n - s + 1)
             + special.betaln(a + s, b + n - s) - special.betaln(a, b))
    assert abs(plain - exact) > 1e-7
    assert bb.logpmf(s, n, a, b) == pytest.approx(exact, abs=1e-14)


def test_logpmf_sums_to_one_and_is_zero_elsewhere():
    assert np.exp(bb.logpmf(np.arange(51), 50, 0.2, 3)).sum() == pytest.approx(1, abs=1e-13)
    assert (bb.logpmf([-1, 51, 2.5], 50, 0.2, 3) == -np.inf).all()
    assert bb.logpmf(0, 0, 0.2, 3) == 0


@given(st.floats(-9, 16), st.floats(-9, 16), st.integers(0, 10**7))
def test_log_failure_against_mpmath(log_a, log_b, k):
    a, b = np.exp(log_a), np.exp(log_b)
    exact = float(log_beta_ratio(a, b, k))
    # 1e-14 of each of the four terms.
    scale = a * (1 + abs(np.log(b + k))) + abs(exact) + 1
    assert abs(float(log_failure(a, b, k)) - exact) < 3e-14 * scale


# -- maximum likelihood -----------------------------------------------------------------------


def scipy_fit(s, n, bounds):
    """Best of several starts, by scipy's beta-binomial and Nelder-Mead, then polished."""
    def loss(x):
        return -stats.betabinom.logpmf(s, n, *np.exp(x)).sum()

    box = [tuple(np.log(bounds))] * 2
    fits = [optimize.minimize(loss, np.clip(start, *box[0]), bounds=box, method="Nelder-Mead",
                              options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000})
            for start in ([-1, 1], [1, 1], [-2, -2], [3, 4])]
    return min(fits, key=lambda fit: fit.fun)


@pytest.mark.parametrize("bounds", [None, (0.01, 100)])
@pytest.mark.parametrize(("a", "b", "M", "n"), [
    (1, 1, 12, 4), (0.2, 3, 60, 10), (5, 0.4, 40, 30), (0.05, 4, 80, 100), (40, 60, 100, 50),
    (0.3, 0.3, 20, 3)])
def test_mle_is_the_best_that_scipy_finds(a, b, M, n, bounds):
    rng = np.random.default_rng([M, n])
    tried = rng.integers(n // 2 + 1, n + 1, M)
    s = rng.binomial(tried, rng.beta(a, b, M))
    fit, other = bb.mle(s, tried, bounds=bounds), scipy_fit(s, tried, bounds or (1e-6, 1e6))
    assert np.isfinite(fit.concentration)
    assert fit.loglik >= -other.fun - 1e-7
    np.testing.assert_allclose(np.log([fit.a, fit.b]), other.x, atol=2e-4)
    assert fit.loglik == pytest.approx(stats.betabinom.logpmf(s, tried, fit.a, fit.b).sum())


def test_mle_does_not_depend_on_the_start():
    s, n = [0, 0, 0, 1, 0, 7, 0, 0, 2, 10], 10
    fits = [bb.mle(s, n, start=start) for start in ((0.5, 3.5), (50, 60), (1e-3, 1e-3), (9, 0.1))]
    for fit in fits[1:]:
        assert (fit.a, fit.b) == pytest.approx((fits[0].a, fits[0].b), rel=1e-6)


@pytest.mark.parametrize(("s", "mean", "loglik"), [([0] * 9, 0, 0), ([6] * 9, 1, 0)])
def test_mle_without_success_or_failure(s, mean, loglik):
    fit = bb.mle(s, 6)
    assert (fit.mean, fit.loglik) == (mean, loglik)
    assert fit.pass_at_k([1, 100]).tolist() == [mean, mean]
    # In the box, the corner.
    boxed = bb.mle(s, 6, bounds=(0.01, 100))
    assert sorted([boxed.a, boxed.b]) == pytest.approx([0.01, 100])


def test_mle_of_counts_that_vary_less_than_coin_flips_is_binomial():
    fit = bb.mle([5, 4, 6, 5, 5], 10)
    assert fit.concentration == np.inf
    assert fit.mean == 0.5
    assert fit.loglik == pytest.approx(stats.binom.logpmf([5, 4, 6, 5, 5], 10, 0.5).sum())
    assert fit.pass_at_k(3) == pytest.approx(7 / 8)
    # Finite fits come close to it and do not pass it.
    near = bb.mle([5, 4, 6, 5, 5], 10, bounds=(1e-3, 1e7)).loglik
    assert fit.loglik - 1e-5 < near <= fit.loglik


def test_mle_of_questions_that_are_always_or_never_right():
    fit = bb.mle([0, 4, 4, 0, 4], 4)
    assert (fit.mean, fit.concentration) == (0.6, 0)
    assert fit.loglik == pytest.approx(3 * np.log(0.6) + 2 * np.log(0.4))
    assert fit.pass_at_k(50) == 0.6


def test_mle_of_one_attempt_each_knows_the_mean_only():
    fit = bb.mle([0, 1, 1, 0], 1)
    assert (fit.mean, fit.concentration) == (0.5, 4)
    assert fit.loglik == pytest.approx(4 * np.log(0.5))


def test_weights_of_mle_are_repeated_questions():
    s, n, times = np.array([0, 3, 8, 1]), np.array([5, 9, 9, 4]), np.array([7, 2, 1, 4])
    once, many = bb.mle(s, n, weights=times), bb.mle(np.repeat(s, times), np.repeat(n, times))
    assert once.loglik == pytest.approx(many.loglik)
    assert (once.a, once.b) == pytest.approx((many.a, many.b))


# -- posterior against brute force ------------------------------------------------------------


class Brute:
    """Posterior on a plain fine grid over (log a/b, log a + b), by the formulas."""

    def __init__(self, s, n, *, shape=(1201, 241), sd=2.0):
        eta, lam = np.meshgrid(*(np.linspace(-13, 13, size) for size in shape), indexing="ij")
        log_a, log_b = lam + special.log_expit(eta), lam + special.log_expit(-eta)
        a, b = np.exp(log_a), np.exp(log_b)
        (s, n), count = np.unique(np.stack([s, n]), axis=1, return_counts=True)
        self.counts = list(zip(s, n, count, strict=True))
        logp = -(log_a**2 + log_b**2) / (2 * sd**2)
        for s_u, n_u, times in self.counts:
            logp += times * (special.betaln(a + s_u, b + n_u - s_u) - special.betaln(a, b))
        keep = logp > logp.max() - 25
        self.a, self.b = a[keep], b[keep]
        self.w = np.exp(logp[keep] - logp.max())
        self.w /= self.w.sum()
        self.M = count.sum()

    def moments(self, of_question):
        """Mean and sd of the mean over questions; `of_question` gives two moments of each."""
        mean = var = 0
        for s, n, count in self.counts:
            first, second = of_question(self.a + s, self.b + n - s)
            mean = mean + count * first / self.M
            var = var + count * (second - first**2) / self.M**2
        center = self.w @ mean
        return mean, var, center, np.sqrt(self.w @ (var + (mean - center) ** 2))

    def quantiles(self, mean, var):
        size = mean * (1 - mean) / var - 1
        a, b = mean * size, (1 - mean) * size
        return np.array([optimize.brentq(lambda x, q=q: self.w @ special.betainc(a, b, x) - q,
                                         0, 1, xtol=1e-8) for q in QUANTILES])


def first_two(a, b):
    m = a / (a + b)
    return m, m * (a + 1) / (a + b + 1)


BRUTE = {
    "few": ([0, 1, 4, 0, 2], [4] * 5),
    "unequal, some unattempted": ([0, 3, 0, 9, 1, 0], [0, 5, 2, 9, 30, 1]),
    "none right": ([0] * 8, [4] * 8),
    "all right": ([3] * 12, [3] * 12),
    "always or never": ([0, 6] * 8, [6] * 16),
    "alike": ([16, 15, 17, 16, 14, 18] * 5, [50] * 30),
}


@pytest.mark.parametrize("case", BRUTE)
def test_quadrature_against_a_plain_grid(case):
    s, n = map(np.array, BRUTE[case])
    brute, q = Brute(s, n), bb.quadrature(s, n)
    mean, var, center, sd = brute.moments(first_two)
    score = q.score()
    assert score.mean == pytest.approx(center, abs=2e-6)
    assert score.sd == pytest.approx(sd, rel=2e-5)
    np.testing.assert_allclose(score.ppf(QUANTILES), brute.quantiles(mean, var), atol=1e-4)
    for k in (3, 50):
        def failure(a, b, k=k):
            return tuple(np.exp(special.betaln(a, b + j) - special.betaln(a, b))
                         for j in (k, 2 * k))
        _, _, center, sd = brute.moments(failure)
        law = q.pass_at_k(k)
        assert law.mean == pytest.approx(1 - center, abs=5e-6)
        assert law.sd == pytest.approx(sd, rel=1e-4, abs=1e-7)
    population = brute.a / (brute.a + brute.b)
    assert q.population().mean == pytest.approx(brute.w @ population, abs=2e-6)
    assert q.population().sd == pytest.approx(
        np.sqrt(brute.w @ (population - brute.w @ population) ** 2), rel=1e-4)


@pytest.mark.parametrize(("s", "n"), [([0, 4], 4), ([0, 1], 1), ([0] * 10 + [4] * 10, 4),
                                      ([0, 0, 4, 4, 1], 4), ([2] * 28 + [1, 1], 4)])
def test_intervals_hold_nearly_what_they_say_of_the_exact_posterior(s, n):
    s, rng = np.array(s), np.random.default_rng(6)
    q = bb.quadrature(s, n)
    node = rng.choice(q.weights.size, 40_000, p=q.weights.ravel())
    a, b = q.a.ravel()[node][:, None], q.b.ravel()[node][:, None]
    p = rng.beta(a + s, b + n - s).mean(axis=1)
    low, high = q.score().ppf([0.025, 0.975])
    assert 0.93 < ((low < p) & (p < high)).mean() < 0.955


def test_pass_hat_k_is_pass_at_k_of_the_failures():
    s, n = np.array([0, 3, 5, 5]), np.array([6, 6, 5, 8])
    k = [1, 4, 30]
    right, wrong = bb.quadrature(s, n), bb.quadrature(n - s, n)
    np.testing.assert_allclose(right.pass_hat_k(k).mean, 1 - wrong.pass_at_k(k).mean, atol=1e-7)
    np.testing.assert_allclose(right.pass_hat_k(k).sd, wrong.pass_at_k(k).sd, rtol=1e-5)
    np.testing.assert_allclose(right.population_pass_hat_k(k).mean,
                               1 - wrong.population_pass_at_k(k).mean, atol=1e-7)
    assert right.pass_at_k(1).mean == pytest.approx(right.score().mean, abs=1e-7)
    assert right.population_pass_at_k(1).mean == pytest.approx(right.population().mean, abs=1e-7)


def test_the_likelihood_is_interpolated_exactly():
    rng = np.random.default_rng(1)
    n = rng.integers(0, 3000, 200)
    s = rng.binomial(n, rng.beta(0.4, 2, 200))
    pairs = Pairs.of(s, n)
    log_a, log_b = rng.uniform(-20, 15, (2, 1, 60))
    choose = (special.gammaln(n + 1) - special.gammaln(s + 1) - special.gammaln(n - s + 1)).sum()
    exact = [bb.logpmf(s, n, a, b).sum() - choose
             for a, b in zip(*np.exp([log_a[0], log_b[0]]), strict=True)]
    found = pairs.loglik(log_a, log_b, np.logaddexp(log_a, log_b))[0]
    np.testing.assert_allclose(found, exact, rtol=1e-10)


SHAPES = {
    "none right": lambda M, rng: np.zeros(M), "all right": lambda M, rng: np.ones(M),
    "always or never": lambda M, rng: np.arange(M) % 2.0,
    "alike": lambda M, rng: np.full(M, 0.3), "rarely right": lambda M, rng: np.full(M, 0.01),
    "even": lambda M, rng: rng.random(M), "hard": lambda M, rng: rng.beta(0.1, 2, M),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_grid_four_times_finer_changes_nothing(shape):
    rng = np.random.default_rng(2)
    for M, N in ((1, 3), (5, 2), (5, 10_000), (30, 4), (30, 80), (150, 1), (1000, 16),
                 (1000, 10_000)):
        n = rng.integers(N // 3 + 1, N + 1, M)
        s = rng.binomial(n, SHAPES[shape](M, rng))
        plain, fine = bb.quadrature(s, n), bb.quadrature(s, n, refine=4)
        for law, other in ((plain.score(), fine.score()),
                           (plain.population(), fine.population())):
            assert law.mean == pytest.approx(other.mean, abs=2e-6)
            assert law.sd == pytest.approx(other.sd, rel=1e-4, abs=2e-5)
            np.testing.assert_allclose(law.ppf(QUANTILES), other.ppf(QUANTILES), atol=1.2e-4,
                                       err_msg=f"M = {M}, N = {N}")


# -- what must hold for any counts -----------------------------------------------------------


@st.composite
def counts(draw, models=1):
    M = draw(st.integers(1, 12))
    top = draw(st.sampled_from([1, 4, 80, 10_000]))
    n = np.array(draw(st.lists(st.integers(0, top), min_size=M, max_size=M)))
    share = np.array(draw(st.lists(st.floats(0, 1), min_size=M * models, max_size=M * models)))
    s = np.rint(n * share.reshape(models, M)).astype(int)
    return (s if models > 1 else s[0]), n


@settings(max_examples=25, deadline=None)
@given(counts(), st.randoms())
def test_the_order_of_questions_does_not_matter(data, random):
    s, n = data
    order = random.sample(range(len(s)), len(s))
    one, other = bb.quadrature(s, n).score(), bb.quadrature(s[order], n[order]).score()
    np.testing.assert_allclose(one.ppf(QUANTILES), other.ppf(QUANTILES), rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(counts())
def test_swapping_success_and_failure_mirrors_the_score(data):
    s, n = data
    one, other = bb.quadrature(s, n).score(), bb.quadrature(n - s, n).score()
    assert one.mean == pytest.approx(1 - other.mean, abs=3e-6)
    np.testing.assert_allclose(one.ppf(QUANTILES), 1 - other.ppf(1 - QUANTILES), atol=2e-4)


@settings(max_examples=8, deadline=None)
@given(counts(models=3))
def test_many_models_at_once_are_each_alone(data):
    s, n = data
    together = bb.quadrature(s, n)
    for law in (bb.Quadrature.score, bb.Quadrature.population,
                lambda q: q.pass_at_k([1, 7])):
        many = law(together)
        for l in range(3):
            alone = law(bb.quadrature(s[l], n))
            np.testing.assert_allclose(many.mean[l], alone.mean, atol=3e-6)
            np.testing.assert_allclose(many.ppf(QUANTILES)[l], alone.ppf(QUANTILES), atol=2e-4)


def test_repeated_questions_count_as_often_as_they_stand():
    s, n, times = np.array([0, 3, 1]), np.array([4, 4, 9]), np.array([3, 1, 2])
    q = bb.quadrature(np.repeat(s, times), np.repeat(n, times))
    assert sorted(zip(q.pairs.s, q.pairs.n, q.pairs.count[0], strict=True)) == [
        (0, 4, 3), (1, 9, 2), (3, 4, 1)]
    brute = Brute(np.repeat(s, times), np.repeat(n, times))
    assert q.score().mean == pytest.approx(brute.moments(first_two)[2], abs=1e-5)


def test_questions_never_attempted_have_the_law_of_the_others():
    q = bb.quadrature([1, 4, 2, 0], [4, 4, 4, 0])
    known = bb.quadrature([1, 4, 2], 4)
    assert q.population().mean == pytest.approx(known.population().mean, abs=1e-6)
    assert q.score().mean == pytest.approx(
        (3 * known.score().mean + known.population().mean) / 4, abs=1e-6)


def test_a_million_questions_are_the_pairs_that_they_fall_into():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 31, 10**6)
    p = rng.beta(0.5, 2, 10**6)
    q = bb.quadrature(rng.binomial(n, p), n)
    assert len(q.pairs.s) <= 31 * 32 / 2
    low, high = q.score().ppf([0.001, 0.999])
    assert low < p.mean() < high
    assert high - low < 2e-3
    assert (q.a * q.weights).sum() == pytest.approx(0.5, abs=0.01)


# -- against Markov chains --------------------------------------------------------------------


def test_quadrature_agrees_with_nuts():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of ArviZ, about its own next version
        pm, az = pytest.importorskip("pymc"), pytest.importorskip("arviz")
    s, n = np.array([0, 0, 1, 3, 0, 7, 8, 0, 2, 0, 5, 1]), 8
    with pm.Model():
        log_ab = pm.Normal("log_ab", 0, 2, shape=2)
        a, b = pm.math.exp(log_ab[0]), pm.math.exp(log_ab[1])
        pm.BetaBinomial("s", n=n, alpha=a, beta=b, observed=s)
        chains = pm.sample(1000, tune=500, chains=2, cores=1, random_seed=4, progressbar=False,
                           target_accept=0.9, compute_convergence_checks=False)
    draws = chains.posterior["log_ab"].values
    for x in (draws[..., 0], draws[..., 1]):
        assert az.rhat(x) < 1.01
        assert az.ess(x) > 400
    a, b = np.exp(np.moveaxis(draws, -1, 0)).reshape(2, -1)
    mean, square = zip(*(first_two(a + x, b + n - x) for x in s), strict=True)
    mean, square = np.mean(mean, axis=0), np.array(square)
    score = bb.quadrature(s, n).score()
    error = mean.std() / np.sqrt(az.ess(mean.reshape(2, -1)))
    assert abs(mean.mean() - score.mean) < 4 * error
    rng = np.random.default_rng(5)
    p = rng.beta(a[:, None] + s, b[:, None] + n - s).mean(axis=1)
    covered = score.cdf(p)
    for q in QUANTILES:
        assert np.mean(covered < q) == pytest.approx(
            q, abs=4 * np.sqrt(q * (1 - q) / az.ess(p.reshape(2, -1))))


# -- mixtures of betas ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def laws():
    """Broad, narrow, and crowded at either end."""
    return bb.quadrature([[0, 1, 4, 0], [4, 4, 4, 3], [0, 0, 0, 0], [2, 2, 2, 2]], 4).score()


def test_quantiles_invert_the_cdf(laws):
    q = np.array([1e-3, 0.01, 0.025, 0.3, 0.5, 0.975, 0.99])
    x = laws.ppf(q)
    assert x.shape == (4, 7)
    for l, row in enumerate(x):
        law = BetaMixture(laws.weights[l], laws.a[l], laws.b[l])
        np.testing.assert_allclose(law.cdf(row), q, rtol=2e-3, atol=1e-7)
        exact = [optimize.brentq(lambda y, law=law, p=p: law.cdf(y) - p, 0, 1, xtol=1e-12)
                 for p in q[1:-1]]
        np.testing.assert_allclose(row[1:-1], exact, atol=3e-5)
        assert law.ppf(0.3) == pytest.approx(row[3], abs=3e-5)


def test_draws_have_the_law_of_the_mixture(laws):
    x = laws.rvs(40_000, rng=6)
    assert x.shape == (4, 40_000)
    np.testing.assert_allclose(x.mean(axis=1), laws.mean, atol=4 * laws.sd.max() / 200)
    for l, row in enumerate(x):
        law = BetaMixture(laws.weights[l], laws.a[l], laws.b[l])
        for q in QUANTILES:
            below = (row < law.ppf(q)).mean()
            assert below == pytest.approx(q, abs=4 * np.sqrt(q * (1 - q) / 40_000))
    assert (x == laws.rvs(40_000, rng=6)).all()


def test_quantiles_next_to_one_and_to_zero():
    # A model that is almost never wrong, and one that is almost never right.
    law = bb.quadrature([1000] * 50, 1000).score()
    mirror = bb.quadrature([0] * 50, 1000).score()
    np.testing.assert_allclose(1 - law.ppf(QUANTILES), mirror.ppf(QUANTILES[::-1]),
                               rtol=1e-4, atol=1e-15)
    high = bb.quadrature([3, 4, 4, 4], 4).pass_at_k(10**6)
    assert high.ppf(0.975) == 1
    assert 0 < high.ppf(1e-3) < 1


def test_one_component_is_a_beta():
    law = BetaMixture(np.ones(1), np.array([0.3]), np.array([4.0]))
    exact = stats.beta(0.3, 4)
    assert (law.mean, law.sd) == pytest.approx((exact.mean(), exact.std()))
    np.testing.assert_allclose(law.ppf(QUANTILES), exact.ppf(QUANTILES), rtol=1e-6)
    np.testing.assert_allclose(law.cdf([0.0, 0.2, 1.0]), exact.cdf([0, 0.2, 1]))


# -- other hyperpriors; bad input -------------------------------------------------------------


def test_the_hyperprior_is_that_of_the_package():
    assert bb.Hyperprior(sd=2.0) == bb.HYPERPRIOR
    s, n = [0, 2, 1], 3
    brute = Brute(np.array(s), np.array([n] * 3), sd=1.0)
    assert bb.quadrature(s, n, hyperprior=bb.Hyperprior(1)).score().mean == pytest.approx(
        brute.moments(first_two)[2], abs=2e-6)


def test_shapes():
    one, two = bb.quadrature([0, 3, 1], 3), bb.quadrature([[0, 3, 1], [2, 2, 2]], 3)
    assert np.shape(one.score().mean) == ()
    assert two.score().mean.shape == (2,)
    assert one.score().ppf([0.1, 0.5]).shape == (2,)
    assert two.score().ppf([0.1, 0.5, 0.9]).shape == (2, 3)
    assert one.pass_at_k([1, 2]).mean.shape == (2,)
    assert two.pass_at_k([1, 2, 5]).ppf([0.1, 0.9]).shape == (2, 3, 2)
    assert two.population_pass_hat_k(2).mean.shape == (2,)
    o = bv.Outcomes.from_counts([[0, 3, 1], [2, 2, 2]], 3)
    np.testing.assert_allclose(bv.posterior(o, prior="learned").mean, two.score().mean)


@pytest.mark.parametrize("function", [bb.mle, bb.quadrature])
@pytest.mark.parametrize(("s", "n", "match"), [
    ([1, 5], 4, "s = 5 of n = 4"), ([1, -1], 4, "^s must be counts"),
    ([0.5, 1], 4, "^s must be whole numbers; found 0.5"), ([np.nan, 1], 4, "^s must be counts"),
    ([1, 2], [4, np.inf], "^n must be counts"), ([1, 2], [4, 4, 4], "n of shape"),
    ([], 4, "at least one question"), (3, 4, "shape"), (["a"], 4, "^s must be counts")])
def test_bad_counts_are_named(function, s, n, match):
    with pytest.raises(ValueError, match=match):
        function(s, n)


@pytest.mark.parametrize(("call", "match"), [
    (lambda: bb.mle([[1, 2], [1, 1]], 4), "one model; found 2"),
    (lambda: bb.mle([1, 2], 4, bounds=(0, 100)), "bounds must be two positive"),
    (lambda: bb.mle([1, 2], 4, bounds=(9, 1)), "low < high"),
    (lambda: bb.mle([1, 2], 4, start=(1,)), "start must be two positive"),
    (lambda: bb.mle([1, 2], 4, weights=[1, -1]), "weights must be finite"),
    (lambda: bb.mle([1, 2], 4, weights=[1]), "weights must be finite"),
    (lambda: bb.logpmf(1, 2, 0, 1), "a must be positive"),
    (lambda: bb.logpmf(1, 2, 1, np.inf), "b must be positive"),
    (lambda: bb.logpmf(np.nan, 2, 1, 1), "s and n must be counts"),
    (lambda: bb.logpmf(0, -2, 1, 1), "s and n must be counts"),
    (lambda: bb.quadrature([1, 2], 4).pass_at_k(-1), "k must be a number of attempts"),
    (lambda: bb.quadrature([1, 2], 4).population_pass_at_k(np.nan), "k must be a number"),
    (lambda: bb.mle([1, 3], 4).pass_at_k([[1]]), "k must be a number of attempts"),
    (lambda: bb.quadrature([1, 2], 4, refine=0), "refine must be a whole number")])
def test_bad_options_are_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()

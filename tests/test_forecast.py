"""Forecasts of Pass@k: the beta-binomial model and its rivals against slow, obvious oracles."""

import importlib.util
import warnings

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats

import bayeval as bv
from bayeval import _baselines, _bent, _zeroinflated
from bayeval import betabinomial as bb
from bayeval.forecast import METHODS, POSTERIOR_METHODS

pytestmark = pytest.mark.filterwarnings("ignore::bayeval.ForecastWarning")
SMALL = [0, 0, 1, 0, 9, 0, 2, 1, 0, 4]
SETS = {                                       # successes, attempts
    "small": (SMALL, 10),
    "unequal": ([0, 3, 0, 1, 0, 7], [4, 60, 0, 11, 30, 9]),
    "unsolved": ([0] * 12, 6),
    "solved": ([5] * 4, 5),
    "hard": ([0] * 60 + [1, 2, 1, 1, 30], 100),
}


def one(name):
    return bv.Outcomes.from_counts(*SETS[name])


# -- the beta-binomial by brute force --------------------------------------------------------


class Brute:
    """Posterior of (a, b), and of w, on a plain grid; question by question, no shared code."""

    def __init__(self, s, n, allowance=1.0, inflated=False):
        (self.s, self.n), self.count = np.unique(np.broadcast_arrays(s, n), axis=1,
                                                 return_counts=True)
        x = np.linspace(-13, 13, 81 if inflated else 161)
        w = (np.arange(40) + 0.5) / 40 if inflated else np.zeros(1)
        log_a, log_b, self.w = np.meshgrid(x, x, w, indexing="ij", sparse=True)
        self.a, self.b = np.exp(log_a), np.exp(log_b)
        log_p = stats.norm(0, 2).logpdf(log_a) + stats.norm(0, 2).logpdf(log_b)
        for s_m, n_m, count in zip(self.s, self.n, self.count):
            lik = (special.betaln(self.a + s_m, self.b + n_m - s_m)
                   - special.betaln(self.a, self.b))
            log_p = log_p + count * (np.log1p(-self.w) + lik if s_m or not inflated else
                                     np.log(self.w + (1 - self.w) * np.exp(lik)))
        self.evidence = special.logsumexp(log_p) + 2 * np.log(x[1] - x[0]) - np.log(w.size)
        self.p = np.exp(log_p - special.logsumexp(log_p))
        self.factors = 1 / allowance, 1, allowance

    def fail(self, a, b, k):
        return np.exp(special.betaln(a, b + k) - special.betaln(a, b))

    def moments(self, k):
        """Mean and sd of the mean Pass@k on these questions."""
        first = second = 0.0
        for f, chance in zip(self.factors, (1 / 6, 2 / 3, 1 / 6)):
            mean = var = 0.0
            for s, n, count in zip(self.s, self.n, self.count):
                a, b = self.a * (f if s == 0 and n > 0 else 1) + s, self.b + n - s
                zero = (1 - self.w) * self.fail(self.a, self.b, n)
                possible = 1.0 if s or self.w.size == 1 else zero / (self.w + zero)
                q, q2 = self.fail(a, b, k), self.fail(a, b, 2 * k)
                hit, hit2 = possible * (1 - q), possible * (1 - 2 * q + q2)
                mean, var = mean + count * hit, var + count * (hit2 - hit**2)
            mean, var = mean / self.count.sum(), var / self.count.sum() ** 2
            first += chance * (self.p * mean).sum()
            second += chance * (self.p * (var + mean**2)).sum()
        return first, np.sqrt(second - first**2)

    def draws(self, k, size, seed):
        """Draws of the mean Pass@k on these questions, for an allowance or an inflation."""
        rng = np.random.default_rng(seed)
        node = rng.choice(self.p.size, size, p=self.p.ravel())
        a, b, w = (np.broadcast_to(x, self.p.shape).ravel()[node] for x in (self.a, self.b, self.w))
        f = rng.choice(self.factors, size, p=[1 / 6, 2 / 3, 1 / 6])
        total = 0.0
        for s, n in np.repeat(np.stack([self.s, self.n]), self.count, axis=1).T:
            p = rng.beta(np.where((s == 0) & (n > 0), a * f, a) + s, b + n - s)
            if s == 0 and self.w.size > 1:
                zero = (1 - w) * self.fail(a, b, n)
                p = np.where(rng.random(size) < w / (w + zero), 0, p)
            total = total + 1 - (1 - p) ** k
        return total / self.count.sum()


@pytest.mark.parametrize("k", [1, 7, 300, 10**6])
@pytest.mark.parametrize("name", SETS)
def test_moments_are_those_of_a_plain_grid(name, k):
    # At k = 1e6 the plain grid is the coarser of the two.
    tolerance = 3e-3 if k > 1e5 else 1e-3
    for allowance in (1.0, 2.0):
        mean, sd = Brute(*SETS[name], allowance).moments(k)
        f = bv.forecast(one(name), k, allowance=allowance)
        assert f.mean == pytest.approx(mean, abs=tolerance * max(sd, 0.01))
        # Where Pass@k is 1 to eight digits, the second moment of the oracle is rounded away.
        assert f.sd == pytest.approx(sd, rel=5e-3, abs=5e-8)


@pytest.mark.parametrize("name", ["small", "unequal", "hard"])
def test_moments_with_impossible_questions_are_those_of_a_plain_grid(name):
    for k in (7, 300):
        mean, sd = Brute(*SETS[name], inflated=True).moments(k)
        f = bv.forecast(one(name), k, method="zero-inflated")
        assert f.mean == pytest.approx(mean, abs=2e-3 * sd + 1e-4)
        assert f.sd == pytest.approx(sd, rel=5e-3)


def test_the_average_weighs_by_marginal_likelihood():
    for name in ("small", "hard"):
        plain, inflated = Brute(*SETS[name]), Brute(*SETS[name], inflated=True)
        weight = special.expit(plain.evidence - inflated.evidence)
        by = {m: bv.forecast(one(name), 300, method=m).mean for m in POSTERIOR_METHODS}
        expected = weight * by["bayes"] + (1 - weight) * by["zero-inflated"]
        assert by["averaged"] == pytest.approx(expected, abs=1e-3)
        assert 0.05 < weight < 0.95


# Quantiles come from a mixture of betas with the moments of every node: close for a hundred
# questions, and rough for six or with impossible ones.
@pytest.mark.parametrize(("name", "k", "inflated", "tolerance"), [
    ("hard", 1000, False, 0.01), ("small", 50, False, 0.02), ("unsolved", 40, False, 0.05),
    ("unequal", 300, False, 0.08), ("small", 50, True, 0.08), ("hard", 1000, True, 0.05)])
def test_quantiles_and_draws_are_those_of_brute_force(name, k, inflated, tolerance):
    brute = Brute(*SETS[name], 1.0 if inflated else 2.0, inflated).draws(k, 40_000, seed=1)
    f = bv.forecast(one(name), k, method="zero-inflated" if inflated else "bayes")
    levels = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    of_draws = np.quantile(f.draws(40_000, rng=2), levels)
    np.testing.assert_allclose([np.mean(brute < x) for x in of_draws], levels, atol=0.012)
    intervals = f.interval(0.9), f.interval(0.5)
    ends = [intervals[0].low, intervals[1].low, intervals[1].high, intervals[0].high]
    np.testing.assert_allclose([np.mean(brute < x) for x in ends], levels[[0, 1, 3, 4]],
                               atol=tolerance)


def test_without_allowance_it_is_the_learned_posterior():
    o = bv.Outcomes.from_counts([SMALL, SMALL[::-1]], 10)
    ours = bv.forecast(o, [10, 1000], allowance=1)
    learned = bv.posterior(o, prior="learned").pass_at_k([10, 1000])
    np.testing.assert_allclose(ours.mean, learned.mean, rtol=1e-9)
    np.testing.assert_allclose(ours.sd, learned.sd, rtol=1e-6)
    np.testing.assert_allclose(ours.population.mean, learned.population.mean, rtol=1e-9)
    np.testing.assert_allclose(ours.interval().low, learned.interval().low, rtol=1e-4)


def test_the_population_is_what_many_like_questions_give():
    s, n = np.array(SETS["hard"][0]), 100
    forecast = bv.forecast(bv.Outcomes.from_counts(s, n), [10, 1000])
    few = forecast.population
    # A thousand unattempted questions more, and the set is the population it comes from.
    many = bv.forecast(bv.Outcomes.from_counts(
        np.concatenate([s, np.zeros(100_000, int)]),
        np.concatenate([np.full(len(s), n), np.zeros(100_000, int)])), [10, 1000], allowance=1)
    plain = bv.forecast(bv.Outcomes.from_counts(s, n), [10, 1000], allowance=1).population
    np.testing.assert_allclose(many.mean, plain.mean, rtol=1e-3)
    np.testing.assert_allclose(many.sd, plain.sd, rtol=1e-3)
    # The allowance leaves k <= n alone and widens what lies beyond.
    assert few.mean[0] == pytest.approx(plain.mean[0], rel=1e-9)
    assert few.sd[1] > 1.05 * plain.sd[1]
    draws = few.draws(40_000, rng=3)
    np.testing.assert_allclose(draws.mean(axis=1), few.mean, rtol=0.02)
    np.testing.assert_allclose(draws.std(axis=1), few.sd, rtol=0.03)


def test_population_of_the_inflated_model_agrees_with_its_draws():
    f = bv.forecast(one("hard"), [10, 1000], method="averaged").population
    draws = f.draws(40_000, rng=4)
    np.testing.assert_allclose(draws.mean(axis=1), f.mean, rtol=0.02)
    np.testing.assert_allclose(draws.std(axis=1), f.sd, rtol=0.03)


def test_finer_grid_changes_nothing():
    s, n = np.array(SETS["hard"][0]), np.full(65, 100)
    for k in (300.0, 1e6):
        laws = [_bent.BentQuadrature(bb.quadrature(s[None], n[None], refine=r), s, n, 2.0)
                .pass_at_k(np.array([k])) for r in (1, 3)]
        assert laws[0].mean == pytest.approx(laws[1].mean, rel=1e-4)
        np.testing.assert_allclose(laws[0].ppf([0.05, 0.95]), laws[1].ppf([0.05, 0.95]), rtol=2e-3)


# -- maximum likelihood ----------------------------------------------------------------------


def mp_pass_at_k(a, b, k):
    with mp.workdps(60):
        a, b = mp.mpf(a), mp.mpf(b)
        return float(1 - mp.beta(a, b + k) / mp.beta(a, b))


@pytest.mark.parametrize("k", [1, 1000, 10**9])
@pytest.mark.parametrize(("a", "b"), [(0.03, 4.8), (0.3, 12.0), (1e-4, 50.0), (20.0, 3.0),
                                      (1e-3, 1e6)])
def test_prediction_against_mpmath(a, b, k):
    fit = bb.Fit(mean=a / (a + b), concentration=a + b, loglik=0.0)
    assert fit.pass_at_k(k) == pytest.approx(mp_pass_at_k(a, b, k), rel=1e-9)


def mp_inflated_loglik(fit, s, n):
    with mp.workdps(60):
        a, b, w = mp.mpf(fit.rest.a), mp.mpf(fit.rest.b), mp.mpf(fit.impossible)
        return float(sum(
            mp.log((1 - w) * mp.binomial(m, x) * mp.beta(a + x, b + m - x) / mp.beta(a, b)
                   + w * (x == 0)) for x, m in np.transpose(np.broadcast_arrays(s, n)).tolist()))


def scipy_fit(s, n, bounds, inflated=False):
    """Best of several starts on scipy's beta-binomial, over log a and log b (and logit w)."""
    (s, n), count = np.unique(np.broadcast_arrays(s, n), axis=1, return_counts=True)

    def loss(x):
        w = special.expit(x[2]) if inflated else 0.0
        return -count @ np.log((1 - w) * stats.betabinom(n, *np.exp(x[:2])).pmf(s) + w * (s == 0))

    box = [np.log(bounds)] * 2 + [(-20, 8)] * inflated
    starts = [(0.5, 3.5, 1.0), (0.05, 10.0, 0.2)]
    best = min((optimize.minimize(loss, np.log(x[:len(box)]), method="Nelder-Mead", bounds=box,
                                  options={"xatol": 1e-5, "fatol": 1e-9, "maxiter": 1000})
                for x in starts), key=lambda fit: fit.fun)
    return np.exp(best.x[:2]), -best.fun


@pytest.mark.parametrize(("name", "method", "bounds"), [
    ("small", "mle", (1e-6, 1e6)), ("unequal", "mle", (1e-6, 1e6)), ("hard", "mle", (1e-6, 1e6)),
    ("small", "mle-boxed", (0.01, 100)), ("hard", "mle-boxed", (0.01, 100)),
    ("solved", "mle-boxed", (0.01, 100)), ("unsolved", "mle-boxed", (0.01, 100))])
def test_maximum_likelihood_against_scipy_from_several_starts(name, method, bounds):
    (a, b), loglik = scipy_fit(*SETS[name], bounds)
    ours = bv.forecast(one(name), [10, 1000], method=method).mean
    np.testing.assert_allclose(ours, [mp_pass_at_k(a, b, k) for k in (10, 1000)], rtol=2e-4)
    fit = bb.mle(*SETS[name], bounds=bounds if method == "mle-boxed" else None)
    assert fit.loglik >= loglik - 1e-7


def test_the_box_acts_as_a_prior():
    # The free maximum lies at a / (a + b) with b beyond 100: the box stops it.
    s = np.array([0] * 120 + [1] * 8)
    fit, boxed = bb.mle(s, 10), bb.mle(s, 10, bounds=_baselines.BOX)
    assert fit.b > 100 or np.isinf(fit.concentration)
    assert boxed.b == pytest.approx(100)
    assert boxed.pass_at_k(1000) < fit.pass_at_k(1000)


@pytest.mark.parametrize(("s", "n"), [
    ([0] * 50 + [3, 5, 7, 4, 6, 5, 2, 8, 5, 5], 10), (SETS["hard"]), (SETS["unequal"]),
    ([0] * 20 + [4, 3, 6, 5], [10] * 12 + [30] * 8 + [10] * 4)])
def test_inflated_maximum_likelihood_against_scipy(s, n):
    fit = _zeroinflated.mle(s, n)
    _, loglik = scipy_fit(s, n, (1e-5, 1e5), inflated=True)
    assert fit.loglik >= loglik - 1e-6
    # The best a + b may be in the millions, where scipy's probabilities lose eight digits.
    assert fit.loglik == pytest.approx(mp_inflated_loglik(fit, s, n), abs=1e-10)
    o = bv.Outcomes.from_counts(s, n)
    assert bv.forecast(o, 50, method="zero-inflated-mle").mean == pytest.approx(
        (1 - fit.impossible) * fit.rest.pass_at_k(50))


# -- the published rivals, on numbers worked out here -----------------------------------------


def test_power_law_on_worked_numbers():
    # Two questions, 0 and 2 of 4. Unbiased Pass@j of the second: 1/2, 5/6, 1 for j = 1, 2, 3.
    x = [mp.log(j) for j in (1, 2, 3)]
    y = [-mp.log(v / 2) for v in (mp.mpf(1) / 2, mp.mpf(5) / 6, mp.mpf(1))]
    mx, my = sum(x) / 3, sum(y) / 3
    slope = sum((u - mx) * (v - my) for u, v in zip(x, y)) / sum((u - mx) ** 2 for u in x)
    o = bv.Outcomes.from_counts([0, 2], 4)
    for k in (5, 7):
        assert bv.forecast(o, k, method="power-law").mean == pytest.approx(
            float(mp.exp(-(my + slope * (mp.log(k) - mx)))), rel=1e-12)
    assert bv.forecast(o, 10**6, method="power-law").mean == 1.0      # beyond 1 it is cut off
    assert bv.forecast(one("unsolved"), 50, method="power-law").mean == 0.0


def test_power_law_stops_at_the_fewest_attempts():
    # Only j = 1, 2 exist for n = 3, so the line passes through both points.
    o = bv.Outcomes.from_counts([1, 2], [3, 9])
    p1, p2 = (bv.pass_at_k(o, j) for j in (1, 2))
    slope = np.log2(p2 / p1)
    for k in (1, 3, 10**6):
        assert bv.forecast(o, k, method="power-law").mean == pytest.approx(
            min(p1 * k**slope, 1), rel=1e-12)


def test_plug_in_on_worked_numbers():
    o = bv.Outcomes.from_counts([0, 1, 4], 4)
    assert bv.forecast(o, 3, method="plug-in").mean == pytest.approx(
        (0 + (1 - 0.75**3) + 1) / 3, rel=1e-14)


@pytest.mark.parametrize(("a", "b", "scale", "k"), [
    (0.3, 2.0, 0.5, 7), (0.02, 1.5, 1.0, 1000), (1.7, 40.0, 0.9, 200), (0.1, 0.5, 0.03, 10**5),
    (0.4, 3.0, 0.7, 10**7)])
def test_scaled_failure_is_the_hypergeometric_function(a, b, scale, k):
    with mp.workdps(50):
        if k <= 10**5:
            exact = mp.log(mp.hyp2f1(-k, a, a + b, mp.mpf(scale), maxterms=10**6))
        else:               # of order k^-a: leading term of the expansion for large k
            exact = mp.log(mp.gamma(a + b) / mp.gamma(b)) - a * mp.log(mp.mpf(k) * scale)
    ours = _baselines.log_scaled_failure(a, b, scale, k)
    assert ours == pytest.approx(float(exact), rel=1e-6)


def published_bins(rate):
    """[0, 1e-4] and 999 log-spaced bins up to 1."""
    edges = np.concatenate([[0.0], np.logspace(-4, 0, 1000)])
    at = np.minimum(np.searchsorted(edges, rate, side="right"), len(edges) - 1)
    return edges[at - 1], edges[at]


def best_beta_in_bins(low, high, scale):
    """The beta law in the box under which the bins of the rates are most probable."""
    low, high = np.minimum(low / scale, 1), np.minimum(high / scale, 1)

    def loss(x):
        law = special.betainc(*np.exp(x), [low, high])
        return -np.log(law[1] - law[0] + 1e-16).sum()

    box = [np.log((0.01, 100.0))] * 2
    start = min(((u, v) for u in np.linspace(*box[0], 41) for v in np.linspace(*box[0], 41)),
                key=loss)
    return np.exp(optimize.minimize(loss, start, method="Nelder-Mead", bounds=box,
                                    options={"xatol": 1e-6, "fatol": 1e-9}).x)


@pytest.mark.parametrize("method", ["discretized-beta", "discretized-beta-matched"])
@pytest.mark.parametrize(("s", "n"), [([0] * 20 + [1, 1, 2, 3, 5, 9], 30),
                                      ([0] * 5 + [2, 17, 40, 3, 66, 8, 1, 1], 100)])
def test_discretized_beta_is_the_best_in_its_bins(method, s, n):
    s = np.array(s)
    bins = published_bins(s / n) if method == "discretized-beta" else \
        (np.maximum(s - 0.5, 0) / n, (s + 0.5) / n)
    scale = s.max() / n
    a, b = best_beta_in_bins(*bins, scale)
    f = bv.forecast(bv.Outcomes.from_counts(s, n), [10, 1000], method=method)
    exact = [float(1 - mp.hyp2f1(-k, a, a + b, scale, maxterms=10**6)) for k in (10, 1000)]
    # The published stopping rule leaves a little of the way to the optimum.
    np.testing.assert_allclose(f.mean, exact, rtol=0.02)


def test_without_success_the_rivals_say_zero():
    for method in ("discretized-beta", "discretized-beta-matched", "power-law", "plug-in", "mle"):
        assert bv.forecast(one("unsolved"), 1000, method=method).mean == 0.0


# -- what every method must do ---------------------------------------------------------------


@st.composite
def counts(draw, least=0):
    M = draw(st.integers(1, 8))
    n = draw(st.lists(st.integers(least, 40), min_size=M, max_size=M))
    return [draw(st.integers(0, x)) for x in n], n


def quiet(o, k, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bv.ForecastWarning)
        return bv.forecast(o, k, **options)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=8, deadline=None)
@given(data=counts(least=3))
def test_forecasts_are_probabilities_that_rise_with_k(method, data):
    o = bv.Outcomes.from_counts(*data)
    f = quiet(o, [1, 2, 10, 1000, 10**6, 10**9], method=method)
    assert np.isfinite(f.mean).all()
    assert (f.mean >= 0).all()
    assert (f.mean <= 1).all()
    assert (np.diff(f.mean) >= -1e-9).all()
    if method in POSTERIOR_METHODS:
        i = f.interval(0.9)
        assert (i.low >= 0).all()
        assert (i.high <= 1).all()
        assert (i.low <= i.high).all()


@settings(max_examples=8, deadline=None)
@given(data=counts(), seed=st.integers(0, 9))
def test_the_order_of_questions_does_not_matter(data, seed):
    s, n = map(np.array, data)
    at = np.random.default_rng(seed).permutation(len(s))
    for method in ("bayes", "averaged", "mle"):
        f, g = (quiet(bv.Outcomes.from_counts(x, y), [5, 500], method=method)
                for x, y in ((s, n), (s[at], n[at])))
        np.testing.assert_allclose(f.mean, g.mean, rtol=1e-9, atol=1e-12)


@settings(max_examples=10, deadline=None)
@given(data=counts(), times=st.integers(2, 4))
def test_repeated_questions_are_multiplicities(data, times):
    """The likelihood of every question `times` times is that of weights `times`."""
    s, n = map(np.array, data)
    repeated = bb.mle(np.tile(s, times), np.tile(n, times))
    weighted = bb.mle(s, n, weights=np.full(len(s), times))
    assert repeated.loglik == pytest.approx(weighted.loglik, rel=1e-9, abs=1e-9)
    once = bb.mle(s, n)
    np.testing.assert_allclose([repeated.pass_at_k(k) for k in (3, 300)],
                               [once.pass_at_k(k) for k in (3, 300)], rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_several_models_are_forecast_as_each_alone(method):
    o = bv.Outcomes.from_counts([SMALL, [0] * 9 + [3], [10] * 10], 10, models=["A", "B", "C"])
    together = bv.forecast(o, [5, 500], method=method)
    assert together.mean.shape == (3, 2)
    for l, model in enumerate(o.models):
        alone = bv.forecast(o.select(models=model), [5, 500], method=method)
        np.testing.assert_allclose(together.mean[l], alone.mean, rtol=1e-6, atol=1e-12)
        if method in POSTERIOR_METHODS:
            np.testing.assert_allclose(together.interval().low[l], alone.interval().low, rtol=1e-4)


def test_shapes():
    several = bv.Outcomes.from_counts([SMALL, SMALL[::-1]], 10)
    for o, k, shape in ((one("small"), 5, ()), (one("small"), [5, 6, 7], (3,)),
                        (several, 5, (2,)), (several, [5, 6, 7], (2, 3))):
        f = bv.forecast(o, k)
        for x in (f.mean, f.sd, f.population.mean, f.interval(0.9).low, f.interval(0.9).width):
            assert np.shape(x) == shape
        assert f.draws(11, rng=0).shape == (*shape, 11)
        assert f.population.draws(11, rng=0).shape == (*shape, 11)
        assert np.shape(bv.forecast(o, k, method="mle").mean) == shape
        assert np.shape(f.interval(0.9, kind="hdi").low) == shape
    assert isinstance(bv.forecast(one("small"), 5).mean, float)


def test_intervals_rise_with_k():
    for name in ("small", "hard"):
        i = bv.forecast(one(name), [1, 5, 50, 500, 10**4, 10**6, 10**9]).interval(0.9)
        assert (np.diff(i.low) > 0).all()
        assert (np.diff(i.high) >= 0).all()


def test_curves_of_draws_rise_with_k():
    draws = bv.forecast(one("small"), [1, 5, 50, 10**6]).draws(300, rng=1)
    assert (np.diff(draws, axis=0) >= 0).all()
    again = bv.forecast(one("small"), [1, 5, 50, 10**6]).draws(300, rng=1)
    np.testing.assert_array_equal(draws, again)


@pytest.mark.parametrize("method", POSTERIOR_METHODS)
def test_other_kinds_of_interval_agree_with_the_law(method):
    f = bv.forecast(one("hard"), [20, 2000], method=method)
    draws = f.draws(20_000, rng=5)
    hdi, tails = f.interval(0.8, kind="hdi"), f.interval(0.8)
    assert (hdi.width <= tails.width + 1e-3).all()
    for i in (hdi, tails):
        inside = ((i.low[:, None] <= draws) & (draws <= i.high[:, None])).mean(axis=1)
        np.testing.assert_allclose(inside, 0.8, atol=0.02 if method == "bayes" else 0.05)


# -- no success, no failure, no attempt ------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["unsolved", "solved"])
def test_extreme_data_give_sensible_answers(name, method):
    f = bv.forecast(one(name), [1, 100, 10**9], method=method)
    assert ((f.mean >= 0) & (f.mean <= 1)).all()
    if name == "solved":
        assert f.mean[1] > 0.95
    else:
        assert f.mean[0] < 0.05
    if method in POSTERIOR_METHODS:
        width = f.interval(0.9).width
        assert width[0] > 0.01
        if name == "unsolved":
            assert width[1] > 0.2                     # nothing was seen: anything may come


def test_questions_never_attempted_are_forecast_from_the_others():
    s, n = [0, 5, 9, 2], [10, 10, 10, 10]
    more = bv.forecast(bv.Outcomes.from_counts([*s, 0], [*n, 0]), 20, allowance=1)
    four = bv.forecast(bv.Outcomes.from_counts(s, n), 20, allowance=1)
    assert more.mean == pytest.approx((4 * four.mean + four.population.mean) / 5, rel=1e-6)
    nothing = bv.forecast(bv.Outcomes.from_counts([0, 0], [0, 0]), 20)
    assert nothing.interval(0.9).width > 0.5


# -- agreement within the attempts -----------------------------------------------------------


@pytest.mark.parametrize(("name", "n"), [("codecontests", 100), ("pythia_math", 100),
                                         ("codecontests", 10_000), ("pythia_math", 10_000)])
def test_within_the_attempts_the_unbiased_estimate_lies_in_the_interval(name, n):
    o = bv.datasets.load(name)
    o = bv.simulate.subsample(o, n, rng=0) if n < 10_000 else o
    ks = [1, n // 10, n // 2, n]
    o = o.select(models=[m for m, s in zip(o.models, o.successes) if (s > 0).sum() >= 5])
    assert o.n_models >= 4
    unbiased = np.array([bv.pass_at_k(o, k) for k in ks]).T
    i = bv.forecast(o, ks).interval(0.95)
    inside = (i.low <= unbiased) & (unbiased <= i.high)
    assert inside[:, :3].all()
    assert inside[:, 3].mean() > 0.7, "at k = n the estimate is at its noisiest"


# -- stopped sampling ------------------------------------------------------------------------


def stopped(p, rng, batch=60, batches=10):
    """Counts of sampling that stops after the first batch with a success."""
    s, n = np.zeros_like(p, dtype=int), np.zeros_like(p, dtype=int)
    for _ in range(batches):
        going = s == 0
        s[going] = rng.binomial(batch, p[going])
        n[going] += batch
    return s, n


def test_stopped_sampling_is_handled_by_the_likelihood():
    rng = np.random.default_rng(11)
    p = rng.beta(0.3, 60.0, size=(60, 100))
    s, n = stopped(p, rng)
    o, k = bv.Outcomes.from_counts(s, n), 5000
    truth = (1 - (1 - p) ** k).mean(axis=1)
    f = bv.forecast(o, k)
    i = f.interval(0.9)
    assert 0.85 <= ((i.low <= truth) & (truth <= i.high)).mean() <= 1
    assert abs((f.mean - truth).mean()) < 0.02
    assert (bv.forecast(o, 20, method="mle").mean - (1 - (1 - p) ** 20).mean(axis=1)).mean() \
        == pytest.approx(0, abs=0.01)
    # The rates s/n are biased up, and the plug-in with them.
    assert (s / n - p).mean() > 0.001
    bias = bv.forecast(o, 20, method="plug-in").mean - (1 - (1 - p) ** 20).mean(axis=1)
    assert bias.mean() > 0.015


def test_recorded_attacks_are_forecast():
    o = bv.datasets.load("bon_jailbreak_text")
    f = bv.forecast(o, [100, 10_000, 10**6])
    assert (f.mean > 0).all()
    assert (np.diff(f.mean, axis=1) >= 0).all()
    unsolved = (o.successes == 0).any(axis=1)
    assert unsolved.sum() == 6
    assert (f.interval(0.9).width[unsolved] > 0).all()


# -- calibration where the model is right ----------------------------------------------------


def test_intervals_hold_the_truth_where_difficulty_is_beta():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 8.0, size=(100, 60))
    o = bv.Outcomes.from_counts(rng.binomial(50, p), 50)
    k = 2000
    truth = (1 - (1 - p) ** k).mean(axis=1)
    covered = {}
    for allowance in (1, 2):
        i = bv.forecast(o, k, allowance=allowance).interval(0.9)
        covered[allowance] = ((i.low <= truth) & (truth <= i.high)).mean()
    assert covered[1] == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / 100))
    assert covered[2] >= covered[1]


# -- warnings and errors ---------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_warnings_name_the_numbers():
    with pytest.warns(bv.ForecastWarning, match=r"only 2 of 40 questions have a success"):
        bv.forecast(bv.Outcomes.from_counts([0] * 38 + [1, 3], 10), 100)
    with pytest.warns(bv.ForecastWarning, match=r"k = 5,000 is 500 times the 10 attempts"):
        bv.forecast(bv.Outcomes.from_counts([0] * 30 + [1] * 10, 10), 5000)
    several = bv.Outcomes.from_counts([[9] * 8, [0] * 8, [0] * 7 + [1]], 10,
                                      models=["A", "B", "C"])
    with pytest.warns(bv.ForecastWarning,
                      match=r"only 0 of 8 .*\(model 'B', and 1 model is like it\)"):
        bv.forecast(several, 10)
    bv.forecast(bv.Outcomes.from_counts([0] * 30 + [1] * 10, 10), 1000)      # silent
    bv.forecast(bv.Outcomes.from_counts([3] * 10, 10), 10**9)                # all are solved


@pytest.mark.parametrize(("o", "k", "options", "match"), [
    ("small", 0, {}, r"k must be a whole number from 1"),
    ("small", 2.5, {}, r"k must be a whole number"),
    ("small", 2 * 10**9, {}, r"k must be at most 1e9; found 2000000000"),
    ("small", 5, {"method": "magic"}, r"method must be one of 'bayes'.*found 'magic'"),
    ("small", 5, {"allowance": 0.5}, r"allowance must be .*0\.5"),
    ("unequal", 5, {"method": "power-law"}, r"'power-law' needs at least 3 .*; 1 of 6"),
    ("unequal", 5, {"method": "plug-in"}, r"'plug-in' needs at least 1 .*; 1 of 6"),
    ("unequal", 5, {"method": "discretized-beta"}, r"'discretized-beta' needs at least 1"),
])
def test_bad_input_is_named(o, k, options, match):
    with pytest.raises(ValueError, match=match):
        bv.forecast(one(o), k, **options)


def test_three_categories_have_no_forecast():
    o = bv.Outcomes.from_category_counts([[1, 2, 3], [2, 2, 2]])
    with pytest.raises(ValueError, match="binary"):
        bv.forecast(o, 10)
    with pytest.raises(ValueError, match=r"o must be bayeval\.Outcomes"):
        bv.forecast([1, 2, 3], 10)


def test_a_point_forecast_has_no_interval():
    f = bv.forecast(one("small"), 100, method="mle")
    assert np.isnan(f.sd)
    assert f.population is f
    for ask in (f.interval, f.draws):
        with pytest.raises(ValueError, match=r"method='mle' makes point forecasts.*'bayes'"):
            ask()


# -- the study -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grid(root):
    spec = importlib.util.spec_from_file_location("forecast_grid",
                                                  root / "studies" / "forecast_grid.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stored_study_holds_the_bars(grid):
    table = pd.read_csv(grid.PATH)
    assert len(table) == len(table.drop_duplicates(["data", "sampling", "attempts", "method", "k"]))
    bars = grid.bars(table).xs("simulated", level="sampling")
    assert len(bars) == 2 * 2 * 4 + 2 * 4
    assert (bars.loc["codecontests", "error_ratio"].loc[1000] <= 1.1).all()
    assert bars.loc[("pythia_math", 1000, 10), "error_ratio"] <= 0.7
    assert bars.loc[("pythia_math", 1000, 30), "error_ratio"] <= 0.95
    assert (bars["coverage"] >= 0.85).all()
    aside = bars.loc[list(grid.ASIDE)]
    assert (aside["error_ratio"] <= 1.1).all()


def test_a_cell_of_the_study_comes_out_again(grid):
    methods = ["bayes", "mle-boxed", "power-law"]
    again = grid.cell("codecontests", 10, methods=methods)
    stored = pd.read_csv(grid.PATH)
    stored = stored[(stored["data"] == "codecontests") & (stored["sampling"] == "simulated")
                    & (stored["attempts"] == 10) & stored["method"].isin(methods)]
    columns = ["squared_error", "bias", "coverage", "interval_score"]
    key = ["method", "k"]
    np.testing.assert_allclose(again.sort_values(key)[columns], stored.sort_values(key)[columns],
                               rtol=1e-3, atol=2e-6)


def test_the_grid_at_reduced_size(grid):
    methods = ["bayes", "mle-boxed", "discretized-beta", "plug-in"]
    table = grid.study(attempts=(30,), aside=(), replicates=3, methods=methods)
    assert set(table["data"]) == set(grid.DATA)
    assert set(table["sampling"]) == {"simulated", "recorded"}
    assert len(table) == 2 * 2 * 2 * len(methods)
    error = table.pivot_table(index="method", values="squared_error")["squared_error"]
    assert error["bayes"] < error[["discretized-beta", "plug-in"]].min()
    assert table.loc[table["method"] == "bayes", "coverage"].between(0.5, 1).all()

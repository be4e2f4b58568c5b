"""Published rivals of the beta-binomial forecast, restated.

Each takes the counts of one model, s and n of shape (M,), and k of shape (K,), and returns the
forecast of the mean Pass@k, shape (K,).
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy import special

# The published settings of the discretized beta: its box, grid, and what keeps the logarithm of
# an empty bin finite.
BOX = (0.01, 100.0)
EDGES = np.concatenate([[0.0], np.logspace(-4, 0, 1000)])
FLOOR = 1e-16
# Points of the sum over a binomial law; a wider law is smooth enough for evenly spaced points.
MAX_POINTS = 4001


def plug_in(s, n, k):
    """1 - mean (1 - s/n)^k."""
    _needs_attempts(n, 1, "plug-in")
    with np.errstate(divide="ignore"):
        return -np.expm1(np.multiply.outer(k, np.log1p(-(s / n)))).mean(axis=1)


def power_law(s, n, k):
    """Least squares of -log Pass@j on log j, extended to k and cut off at 1.

    The points are the unbiased estimates for j = 1, ..., n - 1 with n the fewest attempts at a
    question. Without a success the forecast is 0.
    """
    _needs_attempts(n, 3, "power-law")
    if not s.any():
        return np.zeros(len(k))
    pairs, count = np.unique(np.stack([s, n]), axis=1, return_counts=True)
    s, n = pairs[:, :, None].astype(float)
    # C(n - s, j) / C(n, j) as a running product: factor i takes j from i to i + 1.
    i = np.arange(n.min() - 1)
    failure = np.cumprod(np.maximum(n - s - i, 0) / (n - i), axis=1)
    x, y = np.log(i + 1), -np.log1p(-(count @ failure) / count.sum())
    slope = ((x - x.mean()) * y).sum() / ((x - x.mean()) ** 2).sum()
    return np.exp(np.minimum(slope * (x.mean() - np.log(k)) - y.mean(), 0.0))


def discretized_beta(s, n, k, *, matched=False):
    """Scaled beta law fitted to a histogram of s/n by multinomial likelihood.

    The scale is c = max s/n. As published, the bins are [0, 1e-4] and 999 log-spaced ones up to
    1. With `matched`, the bin of a question is (s - 1/2, s + 1/2) / n: what the rounding of its
    rate to multiples of 1/n can hide. The forecast is 1 - E(1 - c x)^k, x ~ Beta(a, b).
    """
    _needs_attempts(n, 1, "discretized-beta")
    rate = s / n
    scale = rate.max()
    if scale == 0:
        return np.zeros(len(k))
    if matched:
        low, high = np.maximum(s - 0.5, 0) / n, (s + 0.5) / n
    else:
        bin_ = np.clip(np.searchsorted(EDGES, rate, side="right"), 1, len(EDGES) - 1)
        low, high = EDGES[bin_ - 1], EDGES[bin_]
    bins, count = np.unique(np.minimum(np.stack([low, high]) / scale, 1), axis=1,
                            return_counts=True)

    def loss(parameters):
        # Averaged over the bins of the grid, as published: the tolerance below is on this scale.
        mass = np.diff(special.betainc(*parameters, bins), axis=0)[0]
        return -(count @ np.log(mass + FLOOR)) / (len(EDGES) - 1)

    fit = scipy.optimize.minimize(loss, _start(rate), bounds=[BOX, BOX], method="L-BFGS-B",
                            options={"maxiter": 5000, "maxls": 400, "gtol": 1e-6, "ftol": 1e-6})
    return np.array([-np.expm1(log_scaled_failure(*fit.x, scale, k_i)) for k_i in k])


def _start(rate):
    """The published start: maximum-likelihood beta fit to the rates, on a slightly wider scale."""
    x = np.clip(rate, 1e-6, 1 - 1e-6) / ((len(rate) + 1) * rate.max() / len(rate))
    fallback = np.array([0.35, 3.5])
    if x.max() >= 1:
        return fallback
    spread = x.mean() * (1 - x.mean()) / x.var() - 1 if x.var() > 0 else 1.0
    means = np.log(x).mean(), np.log1p(-x).mean()
    (a, b), _, status, _ = scipy.optimize.fsolve(
        lambda p: special.psi(p) - special.psi(p.sum()) - means,
        [x.mean() * spread, (1 - x.mean()) * spread], full_output=True)
    return np.clip([a, b], *BOX) if status == 1 else fallback


def log_scaled_failure(a, b, scale, k):
    """log E(1 - c x)^k for x ~ Beta(a, b), which is log 2F1(-k, a; a + b; c).

    A failure of an attempt with chance c x is: either the attempt does not count, with chance
    1 - c, or it does and fails. The number J of those that count is Binomial(k, c), and given J
    the expectation is B(a, b + J) / B(a, b). All terms are positive, so nothing cancels.
    """
    center, sd = k * scale, np.sqrt(k * scale * (1 - scale))
    # Small J weigh most in the expectation although they are rare: lean to that side.
    low, high = np.floor(max(center - 40 * sd - 40, 0)), np.ceil(min(center + 12 * sd + 40, k))
    j = np.linspace(low, high, int(min(high - low + 1, MAX_POINTS)))
    log_pmf = (special.xlogy(j, scale) + special.xlog1py(k - j, -scale)
               - special.betaln(j + 1, k - j + 1))
    log_pmf -= special.logsumexp(log_pmf)
    return special.logsumexp(log_pmf + special.betaln(a, b + j) - special.betaln(a, b))


def _needs_attempts(n, least, method):
    if n.min() < least:
        short = int((n < least).sum())
        raise ValueError(f"method={method!r} needs at least {least} scored "
                         f"attempt{'s' * (least > 1)} at every question; {short} of {len(n)} "
                         'questions have fewer (method="bayes" takes any number)')

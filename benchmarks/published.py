"""The published forecasts of Pass@k, restated plainly: what `bayeval.forecast` is timed beside.

Every function takes the counts s and n of one model, shape (M,), and k, shape (K,), and works on
all rows, with scipy's optimizer, and with the settings of the authors' code: the box, the starts
and the tolerances. Kazdan et al. (2025), arXiv:2510.05197, and Schaeffer et al. (2025),
arXiv:2502.17578.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special, stats

BOX = (0.01, 100.0)
OPTIONS = {"maxiter": 5000, "maxls": 400, "gtol": 1e-6, "ftol": 1e-6}
EDGES = np.concatenate([[0.0], np.logspace(-4, 0, 1000)])


def beta_binomial(s, n, k):
    """Maximum likelihood of a and b in the box; mean of 1 - (1 - p)^k under Beta(a, b)."""

    def loss(parameters):
        return -stats.betabinom.logpmf(s, n, *parameters).sum()

    a, b = optimize.minimize(loss, (0.5, 3.5), bounds=[BOX, BOX], method="L-BFGS-B").x
    return 1 - np.exp(special.betaln(a, b + k) - special.betaln(a, b))


def discretized_beta(s, n, k):
    """A beta law on [0, max s/n], fitted to the histogram of s/n in log-spaced bins."""
    rate = s / n
    scale = rate.max()
    if scale == 0:
        return np.zeros(len(k))
    counts = np.histogram(rate, EDGES)[0]
    start = _start(rate)

    def loss(parameters):
        mass = np.diff(stats.beta.cdf(EDGES, *parameters, scale=scale))
        return -(counts * np.log(mass + 1e-16)).mean()

    a, b = optimize.minimize(loss, start, bounds=[BOX, BOX], method="L-BFGS-B", options=OPTIONS).x
    return 1 - special.hyp2f1(-k, a, a + b, scale)


def _start(rate):
    scale = (len(rate) + 1) * rate.max() / len(rate)
    try:
        a, b, _, _ = stats.beta.fit(np.clip(rate, 1e-6, 1 - 1e-6), floc=0, fscale=scale)
    except (stats.FitError, ValueError):
        return 0.35, 3.5
    return np.clip((a, b), *BOX)


def power_law(s, n, k):
    """Least squares of -log Pass@j on log j, from the unbiased estimates for j = 1, ..., n - 1."""
    j = np.arange(1, n.min())
    unbiased = np.mean([[_unbiased(s_i, n_i, j_i) for j_i in j] for s_i, n_i in zip(s, n)], axis=0)
    slope, intercept = np.polyfit(np.log(j), -np.log(unbiased), 1)
    return np.minimum(np.exp(-(intercept + slope * np.log(k))), 1)


def _unbiased(s, n, k):
    """1 - C(n - s, k) / C(n, k) as the product of Chen et al. (2021)."""
    return 1.0 if n - s < k else 1 - np.prod(1 - k / np.arange(n - s + 1, n + 1))

"""Differences of log-gamma functions that keep their digits."""

from __future__ import annotations

import numpy as np
from scipy import special


def log_choose(s, f):
    """Log of the binomial coefficient (s + f)! / (s! f!)."""
    n = np.maximum(s + f, 1)
    return (stirling(s + f) - stirling(s) - stirling(f)
            - special.xlogy(s, s / n) - special.xlogy(f, f / n))


def stirling(x):
    """log x! - x log x + x, for real x >= 0."""
    big = np.maximum(x, 10.0)
    series = 0.5 * np.log(2 * np.pi * big) + _stirling_tail(big)
    return np.where(x < 10, special.gammaln(x + 1) - special.xlogy(x, x) + x, series)


def _stirling_tail(x):
    """The asymptotic series of log-gamma after its leading terms; 1e-14 from x = 8 on."""
    z = 1 / (x * x)
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (
        1 / 1188 - z * 691 / 360360))))) / x


def deviance(x, m, gap):
    """x log(x / m) - gap with gap = x - m given, without cancellation where x is near m."""
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.where(x + m > 0, gap / (x + m), 0.0)
        far = special.xlogy(x, x / m) - gap
    v = np.clip(v, -0.05, 0.05)
    v2 = v * v
    series = 1 / 3 + v2 * (1 / 5 + v2 * (1 / 7 + v2 * (1 / 9 + v2 * (1 / 11 + v2 / 13))))
    near = gap * v + 2 * x * v * v2 * series
    return np.where(np.abs(gap) < 0.05 * (x + m), near, np.where(m > 0, far, 0.0))


def log_rising(x, r):
    """log gamma(x + r) - log gamma(x) for x > 0, r >= 0; fast, and exact to about 1e-14 r.

    Both arguments are moved up by 8 with a product, to where Stirling's series is exact.
    """
    if np.ndim(r) == 0 and r in (1, 2):
        return np.log(x if r == 1 else x * (x + 1))
    y, moved = x, 0.0
    if np.min(x, initial=np.inf) < 8:
        y, moved = x + 8, np.log(_rising_8(x) / _rising_8(x + r))
    z = y + r
    return (r * np.log(y) + (z - 0.5) * np.log1p(r / y) - r + moved
            + (_stirling_tail(z) - _stirling_tail(y)))


def _rising_8(x):
    """x (x + 1) ... (x + 7), from its factors x (x + 7), (x + 1) (x + 6), ..."""
    z = x * (x + 7)
    return z * (z + 6) * (z + 10) * (z + 12)


def log_failure(a, b, k):
    """log E(1 - p)^k for p ~ Beta(a, b)."""
    return log_rising(b, a) - log_rising(b + k, a)

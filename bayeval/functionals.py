"""Increasing functions of a question's success probability p: the Pass@k family.

Each is a callable of p with its `inverse`. When p ~ Beta(a, b), for 1-d arrays a and b,
`moments(a, b)` gives its mean and standard deviation, and `cumulants(a, b)` its third and fourth
cumulants, or None where they would cost more than the whole law.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import special

from bayeval._special import (
    beta_binomial_mean,
    hypergeometric_mean,
    log_beta_ratio,
    log_beta_spread,
)
from bayeval.metrics import excess, least_right

# Up to this k the variance of G-Pass comes from the law of 2k attempts, beyond it by quadrature.
MAX_PAIRED = 600
# Up to this k its third and fourth cumulants come from the laws of 3k and 4k attempts.
MAX_FOURFOLD = 100


class PassAtK:
    """1 - (1 - p)^k."""

    def __init__(self, k):
        self.k = k

    def __call__(self, p):
        return -np.expm1(special.xlog1py(self.k, -p))

    def inverse(self, y):
        return -np.expm1(np.log1p(-y) / self.k)

    def moments(self, a, b):
        return -np.expm1(log_beta_ratio(a, b, self.k)), _sd_of_power(a, b, self.k)

    def cumulants(self, a, b):
        third, fourth = PassHatK(self.k).cumulants(b, a)
        return -third, fourth


def _sd_of_power(a, b, k):
    """Standard deviation of (1 - p)^k for p ~ Beta(a, b)."""
    # Var = E q^2k - (E q^k)^2 = E q^2k (1 - exp(-spread)), without cancellation.
    return np.exp(log_beta_ratio(a, b, 2 * k) / 2) * np.sqrt(-np.expm1(-log_beta_spread(a, b, k)))


class PassHatK:
    """p^k."""

    def __init__(self, k):
        self.k = k

    def __call__(self, p):
        return p**self.k

    def inverse(self, y):
        return y ** (1 / self.k)

    def moments(self, a, b):
        return np.exp(log_beta_ratio(b, a, self.k)), _sd_of_power(b, a, self.k)

    def cumulants(self, a, b):
        return _cumulants(*(np.exp(log_beta_ratio(b, a, j * self.k)) for j in (1, 2, 3, 4)))


class _MeanWeight:
    """Mean over k attempts of a weight, which increases with the number right among them."""

    @cached_property
    def _square(self):
        return _product(self.weight, self.weight)

    def moments(self, a, b):
        mean = beta_binomial_mean(a, b, self.weight)
        if self.k > MAX_PAIRED:
            return mean, quadrature_moments(self, a, b)[1]
        return mean, np.sqrt(np.maximum(beta_binomial_mean(a, b, self._square) - mean**2, 0))

    def cumulants(self, a, b):
        if self.k > MAX_FOURFOLD:
            return None
        powers = (self.weight, self._square, _product(self._square, self.weight),
                  _product(self._square, self._square))
        return _cumulants(*(beta_binomial_mean(a, b, power) for power in powers))


def _product(u, v):
    """Mean product of the weights of two sets of attempts, by the number right in both."""
    j, k = len(u) - 1, len(v) - 1
    both, first = np.arange(j + k + 1), np.arange(j + 1)
    second = np.clip(both[:, None] - first, 0, k)  # what is cut off has no chance
    return hypergeometric_mean(np.full(both.shape, j + k), both, u * v[second])


def _cumulants(mean, square, cube, fourth):
    """Third and fourth cumulants from moments about 0."""
    third = cube - 3 * mean * square + 2 * mean**3
    about = fourth - 4 * mean * cube + 6 * mean**2 * square - 3 * mean**4
    return third, about - 3 * (square - mean**2) ** 2


class GPassAtK(_MeanWeight):
    """Binomial tail: at least ceil(tau k) right of k."""

    def __init__(self, k, tau):
        self.k, self.least = k, least_right(k, tau)
        self.weight = (np.arange(k + 1) >= self.least).astype(float)

    def __call__(self, p):
        return special.betainc(self.least, self.k - self.least + 1, p)

    def inverse(self, y):
        return special.betaincinv(self.least, self.k - self.least + 1, y)


class MGPassAtK(_MeanWeight):
    """2/k times the expected number right beyond a threshold; see `metrics.excess`."""

    def __init__(self, k, form):
        self.k = k
        # Both forms are (2/k) E max(X - t, 0): t = ceil(k/2) for the sum, k/2 for the integral.
        self.threshold = (k + 1) // 2 if form == "sum" else k / 2
        self.weight = excess(np.arange(k + 1), k, form)

    def __call__(self, p):
        k, t = self.k, self.threshold
        least = int(np.floor(t)) + 1
        if least > k:
            return np.zeros_like(p)
        above = special.betainc(least, k - least + 1, p)
        one_less = special.betainc(least - 1, k - least + 1, p) if least > 1 else np.ones_like(p)
        return np.clip(2 / k * (k * p * one_less - t * above), 0, 1)

    @cached_property
    def _table(self):
        p = np.sin(np.linspace(0, np.pi / 2, 8193)) ** 2
        return self(p), p

    def inverse(self, y):
        return np.interp(y, *self._table)


_NODE, _WEIGHT = np.polynomial.legendre.leggauss(64)
_NODE, _WEIGHT = (_NODE + 1) / 2, _WEIGHT / 2


def quadrature_moments(function, a, b):
    """Mean and standard deviation of an increasing function of p ~ Beta(a, b), by Gauss-Legendre.

    In the angle t with p = sin(t)^2, over all but 1e-15 of the mass, on either side of p = 1/2.
    Only what differs from the function's values at 0 and 1 is integrated: the density has poles
    there when a or b is below 1/2, as those of learned priors often are.
    """
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    top = float(function(np.ones(1))[0])
    low = np.arcsin(np.sqrt(special.betaincinv(a, b, 1e-15)))
    high = np.arccos(np.sqrt(special.betaincinv(b, a, 1e-15)))
    middle = np.clip(np.pi / 4, low, high)
    above = special.betainc(b, a, np.cos(middle) ** 2)
    mean, square = top * above, top**2 * above
    for start, end, edge in ((low, middle, 0.0), (middle, high, top)):
        t = start[:, None] + (end - start)[:, None] * _NODE
        with np.errstate(divide="ignore", under="ignore"):
            density = 2 * np.exp((2 * a[:, None] - 1) * np.log(np.sin(t))
                                 + (2 * b[:, None] - 1) * np.log(np.cos(t))
                                 - special.betaln(a, b)[:, None])
        mass = density * _WEIGHT * (end - start)[:, None]
        value = function(np.sin(t) ** 2)
        mean = mean + (mass * (value - edge)).sum(axis=1)
        square = square + (mass * (value**2 - edge**2)).sum(axis=1)
    return mean, np.sqrt(np.maximum(square - mean**2, 0))

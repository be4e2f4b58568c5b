"""Increasing functions of a question's success probability p: the Pass@k family.

Each is a callable of p with its `inverse`. When p ~ Beta(a, b), for 1-d arrays a and b,
`moments(a, b)` gives its mean and standard deviation, and `cumulants(a, b)` the third to the
sixth of its cumulants.
"""

from __future__ import annotations

from functools import cached_property
from math import comb

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
# Up to this k its higher cumulants come from the laws of up to 6k attempts; beyond it they would
# cost more than the whole law, and are NaN.
MAX_SIXFOLD = 64


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
        k3, k4, k5, k6 = PassHatK(self.k).cumulants(b, a)
        return -k3, k4, -k5, k6


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
        return _cumulants(*(np.exp(log_beta_ratio(b, a, j * self.k)) for j in range(1, 7)))


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
        if self.k > MAX_SIXFOLD:
            return [np.full(np.shape(a), np.nan)] * 4
        powers = [self.weight, self._square]
        for _ in range(4):
            powers.append(_product(powers[-1], self.weight))
        return _cumulants(*(beta_binomial_mean(a, b, power) for power in powers))


def _product(u, v):
    """Mean product of the weights of two sets of attempts, by the number right in both."""
    j, k = len(u) - 1, len(v) - 1
    both, first = np.arange(j + k + 1), np.arange(j + 1)
    second = np.clip(both[:, None] - first, 0, k)  # what is cut off has no chance
    return hypergeometric_mean(np.full(both.shape, j + k), both, u * v[second])


def _cumulants(mean, *moments):
    """The third to sixth cumulants from the first six moments about 0."""
    about = [1.0, mean, *moments]
    central = [sum(comb(j, i) * about[j - i] * (-mean) ** i for i in range(j + 1))
               for j in range(2, 7)]
    return cumulants(*central)[1:]


def cumulants(m2, m3, m4, m5, m6):
    """The second to sixth cumulants from central moments."""
    return (m2, m3, m4 - 3 * m2**2, m5 - 10 * m3 * m2,
            m6 - 15 * m4 * m2 - 10 * m3**2 + 30 * m2**3)


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

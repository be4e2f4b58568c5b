"""Mixtures of beta distributions: what the posterior of a mean of chances is computed as."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

# A beta law with both parameters above this is all but normal: computed as such, with its
# skewness, to 1e-7. The incomplete beta function takes a thousand times longer there.
LARGE = 1e6

# From here on the inverse of the logit is rounded to 1.
LOGIT_ONE = 37.0


@dataclass(frozen=True)
class BetaMixture:
    """A distribution on [0, 1]: a mixture of C beta distributions.

    Attributes
    ----------
    weights, a, b : ndarray, shape (..., C)
        Weights, which sum to 1 over the last axis, and parameters.

    Examples
    --------
    >>> x = BetaMixture(np.array([0.5, 0.5]), np.array([1, 9]), np.array([9, 1]))
    >>> float(x.mean), x.ppf([0.1, 0.9]).round(3)
    (0.5, array([0.024, 0.976]))
    """

    weights: np.ndarray
    a: np.ndarray
    b: np.ndarray

    @classmethod
    def matching(cls, weights, mean, var):
        """The mixture whose components have the given means and variances."""
        mean = np.clip(mean, 1e-300, 1 - 1e-16)
        spread = mean * (1 - mean)
        size = spread / np.clip(var, 1e-14 * spread, spread * (1 - 1e-12)) - 1
        return cls(weights, mean * size, np.maximum((1 - mean) * size, 1e-300))

    @property
    def mean(self):
        return (self.weights * self.a / (self.a + self.b)).sum(-1)[()]

    @property
    def sd(self):
        size = self.a + self.b
        m = self.a / size
        within = m * (1 - m) / (size + 1)
        center = (self.weights * m).sum(-1, keepdims=True)
        return np.sqrt((self.weights * (within + (m - center) ** 2)).sum(-1))[()]

    def cdf(self, x):
        """P(X <= x); `x` broadcasts against the leading axes."""
        x = np.asarray(x, dtype=float)
        return _mixture_cdf(self.weights, self.a, self.b, x[..., None])[()]

    def ppf(self, q):
        """Quantiles: shape (..., Q) for `q` of shape (Q,), (...) for a number."""
        q = np.asarray(q, dtype=float)
        lead, parts = self.weights.shape[:-1], self.weights.shape[-1]
        flat = BetaMixture(*(x.reshape(-1, parts) for x in (self.weights, self.a, self.b)))
        return special.expit(_quantile(flat, q.ravel())).reshape(lead + q.shape)[()]

    def merge(self, size):
        """Each run of `size` components as one beta distribution, mean and variance kept."""
        w, m = self.weights, self.a / (self.a + self.b)
        v = m * (1 - m) / (self.a + self.b + 1)
        starts = np.arange(0, w.shape[-1], size)
        weight = np.add.reduceat(w, starts, axis=-1)
        safe = np.where(weight > 0, weight, 1)
        mean = np.add.reduceat(w * m, starts, axis=-1) / safe
        center = np.repeat(mean, size, axis=-1)[..., :w.shape[-1]]
        var = np.add.reduceat(w * (v + (m - center) ** 2), starts, axis=-1) / safe
        live = weight > 0
        return BetaMixture.matching(weight, np.where(live, mean, 0.5), np.where(live, var, 0.01))

    def rvs(self, size, rng=None):
        """`size` draws: shape (..., size)."""
        rng = np.random.default_rng(rng)
        lead, parts = self.weights.shape[:-1], self.weights.shape[-1]
        edges = np.cumsum(self.weights, axis=-1).reshape(-1, parts)
        row = np.arange(len(edges))[:, None]
        u = rng.random((len(edges), size))
        # One search for all rows: row i has its edges, and its draws, between i and i + 1.
        pick = np.searchsorted((row + edges / edges[:, -1:]).ravel(), (row + u).ravel())
        pick = np.minimum(pick.reshape(u.shape) - row * parts, parts - 1).reshape(*lead, size)
        return rng.beta(np.take_along_axis(self.a, pick, -1), np.take_along_axis(self.b, pick, -1))


def _mixture_cdf(w, a, b, x):
    large = np.minimum(a, b) > LARGE
    part = np.zeros(np.broadcast_shapes(w.shape, x.shape))
    special.betainc(a, b, x, where=(w > 0) & ~large, out=part)
    if large.any():
        size = a + b
        z = (x - a / size) * size * np.sqrt((size + 1) / (a * b))
        skewness = 2 * (b - a) / (size + 2) * np.sqrt((size + 1) / (a * b))
        edgeworth = np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (1 - z * z) * skewness / 6
        part = np.where(large, special.ndtr(z) + edgeworth, part)
    return (w * part).sum(-1)


def _quantile(mixture, q):
    """Quantiles (L, Q) of mixtures (L, C) in logit x: Newton's method on the log of the tail.

    It starts from the quantiles of a mixture with 16 times fewer components, made by merging
    neighbors, for the incomplete beta function of all the components is what costs time.
    """
    w, a, b = mixture.weights, mixture.a, mixture.b
    merged = mixture.merge(16)
    if merged.weights.shape[-1] > 1:
        y = _quantile(merged, q)
    else:
        x = special.betaincinv(merged.a, merged.b, q)
        y = special.logit(np.clip(x, 1e-300, 1 - 1e-16))
    row, level = np.repeat(np.arange(len(w)), len(q)), np.tile(q, len(w))
    y = y.ravel()
    log_beta = special.betaln(a, b)
    low, high = np.full(y.shape, -745.0), np.full(y.shape, 745.0)
    todo = np.arange(y.size)
    for _ in range(100):
        r, z, wanted = row[todo], y[todo, None], level[todo]
        # On the right the chance of more than x, from 1 - x: x itself is rounded to 1 there.
        right = z > 0
        part = _mixture_cdf(w[r], np.where(right, b[r], a[r]), np.where(right, a[r], b[r]),
                            special.expit(-np.abs(z)))
        cdf = np.where(right[:, 0], 1 - part, part)
        with np.errstate(under="ignore"):
            slope = (w[r] * np.exp(a[r] * special.log_expit(z) + b[r] * special.log_expit(-z)
                                   - log_beta[r])).sum(-1)
        z = z[:, 0]
        below = cdf < wanted
        low[todo] = np.where(below, z, low[todo])
        high[todo] = np.where(below, high[todo], z)
        left = wanted < 0.5
        tail, wanted = np.where(left, (cdf, wanted), (1 - cdf, 1 - wanted))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            gap = np.log(wanted / tail)
            new = z + np.where(left, 1, -1) * gap * tail / slope
        outside = ~((new >= low[todo]) & (new <= high[todo]))
        y[todo] = np.where(outside, (low[todo] + high[todo]) / 2, new)
        # A step from this near leaves an error of the order of its square.
        rough = outside | (np.abs(gap) > 0.01)
        todo = todo[rough & (high[todo] - low[todo] > 1e-9) & (low[todo] < LOGIT_ONE)]
        if not todo.size:
            break
    return y.reshape(len(w), len(q))

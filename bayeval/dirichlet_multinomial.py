r"""The Dirichlet-multinomial model: categories of outcomes that share a prior to be learned.

Question m has the counts n_m of its categories; its probabilities p_m are a draw from
Dirichlet(alpha), so that

.. math:: P(n_m \mid \alpha) \propto \frac{\Gamma(T)}{\Gamma(T + N_m)}
          \prod_k \frac{\Gamma(\alpha_k + n_{mk})}{\Gamma(\alpha_k)}, \qquad T = \sum_k \alpha_k.

Only the first factor ties the categories together, and it is a mixture of factors that do not:

.. math:: \frac{\Gamma(T)}{\Gamma(T + N)} = \frac{1}{\Gamma(N)}
          \int_0^\infty e^{-c T} \, (1 - e^{-c})^{N - 1} \, dc

(Escobar and West 1995). So all questions together contribute exp(-c T), where c, a sum with one
term for each question, has a density known by its Laplace transform; and given c, the
alpha_k are independent. The posterior is an integral over one number, c, of products of laws on
the line: no chains, no search in many dimensions, and the same numbers every time.

Each log alpha_k has the hyperprior of the binary model above 0, half a Normal(0, 2). Below 0 its
standard deviation is 2 sqrt(K/2), K being the number of categories. Two categories are the
binary model; with more, categories that never occur weigh as much together as one would, however
many the rubric lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
import scipy
from scipy import special

from bayeval.betabinomial import HYPERPRIOR
from bayeval.mixture import BetaMixture

# Nodes of each model.
NODES = 4096
# Values of c, the number that is integrated over. Its posterior is smooth and has one peak: with
# half as many nothing changes.
RATES = 40
# Points at which the law of a log alpha_k is tabulated, in widths of its peak.
STEPS = np.linspace(-10, 7, 273)
# Runs of this many nodes, sorted by their score, become one component of a mixture.
RUN = 16


@dataclass(frozen=True)
class Nodes:
    """Posterior of alpha of each model as nodes.

    Attributes
    ----------
    alpha : ndarray, shape (L, J, C+1)
        Nodes.
    weights : ndarray, shape (L, J)
        Posterior weights: all equal.
    counts : ndarray, shape (L, M, C+1)
    """

    alpha: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    def score(self, w):
        """Mean score of these M questions under weights `w`: `BetaMixture` on the scale of w."""
        T = self.alpha.sum(axis=-1)
        mean, var = np.zeros((2, *self.weights.shape))
        for l, rows in enumerate(self.counts):
            unique, times = np.unique(rows, axis=0, return_counts=True)
            for n, share in zip(unique, times / len(rows)):
                nu = self.alpha[l] + n
                m = nu @ w / (T[l] + n.sum())
                mean[l] += share * m
                # The sum of squares about m, as the difference of two may cancel.
                spread = (nu * (w - m[:, None]) ** 2).sum(axis=-1)
                var[l] += share * spread / ((T[l] + n.sum()) * (T[l] + n.sum() + 1))
        return self._mixture(mean, var / self.counts.shape[1], w)

    def population(self, w):
        """Mean score of the population that the questions were drawn from."""
        mean = self.alpha @ w / self.alpha.sum(axis=-1)
        return self._mixture(mean, np.zeros_like(mean), w)

    def _mixture(self, mean, var, w):
        span = (w.max() - w.min()) or 1.0
        order = np.argsort(mean, axis=1)
        weights, mean, var = (np.take_along_axis(x, order, 1)
                              for x in (self.weights, (mean - w.min()) / span, var / span**2))
        return BetaMixture.matching(weights, mean, var).merge(RUN)


def nodes(counts, *, hyperprior=HYPERPRIOR):
    """Posterior of the Dirichlet-multinomial parameters of each model, as nodes.

    Parameters
    ----------
    counts : array_like of int, shape (L, M, K)
        Attempts in each of K = C+1 categories; unequal numbers and 0 are ordinary.
    hyperprior : Hyperprior
        Its `sd` is that of each log alpha_k above 0, and for K = 2 below 0 as well.

    Returns
    -------
    Nodes

    References
    ----------
    Escobar and West (1995), Bayesian density estimation and inference using mixtures, for the
    auxiliary variable; Daniels (1954), Saddlepoint approximations in statistics, for its density.

    Examples
    --------
    >>> fit = nodes([[[5, 0, 1], [0, 6, 0], [2, 2, 2], [6, 0, 0]]])
    >>> fit.alpha.shape, float(fit.score(np.array([0, 0.5, 1])).mean.round(2)[0])
    ((1, 4096, 3), 0.3)
    """
    counts = np.asarray(counts)
    alpha = np.stack([_nodes(rows.astype(np.int64).tobytes(), counts.shape[2], hyperprior.sd)
                      for rows in counts])
    return Nodes(alpha, np.full(alpha.shape[:2], 1 / NODES), counts)


@lru_cache(maxsize=64)
def _nodes(counts, size, sd):
    """Equally likely nodes of alpha, shape (NODES, K), of one model with counts (M, K) as bytes.

    They do not depend on the weights, so that a second rubric costs little.
    """
    counts = np.frombuffer(counts, dtype=np.int64).reshape(-1, size)
    categories = _Categories(counts, sd * np.sqrt(size / 2), sd)
    rate, log_density = _rates(counts.sum(axis=1), categories)
    x, cdf, log_mass = categories.table(rate)
    log_p = log_density + log_mass.sum(axis=0)
    p = np.exp(log_p - log_p.max())
    u = _uniform(size + 1)
    # One search serves all rates: the j-th has its cumulative probabilities between j and j + 1.
    j = np.minimum(np.searchsorted(np.cumsum(p / p.sum()), u[:, 0]), len(p) - 1)
    cdf += np.arange(len(p))[:, None]
    return np.exp(np.stack([np.interp(j + u[:, k + 1], cdf[k].ravel(), x[k].ravel())
                            for k in range(size)], axis=1))


class _Categories:
    """What counts, shape (M, K), and prior say of x = log alpha_k, given c; x of shape (K, ...)."""

    def __init__(self, counts, left, right):
        self.values = np.unique(counts[counts > 0])
        self.times = [(counts == v).sum(axis=0) for v in self.values]
        self.size, self.left, self.right = counts.shape[1], left, right

    def _risen(self, function, a):
        """Sum over the questions of function(a + count) - function(a)."""
        here, out = function(a), np.zeros_like(a)
        for v, n in zip(self.values, self.times):
            k = np.nonzero(n)[0]
            out[k] += n[k].reshape(-1, *[1] * (a.ndim - 1)) * (function(a[k] + v) - here[k])
        return out

    def _precision(self, x):
        return np.where(x < 0, self.left**-2, self.right**-2)

    def _log_density(self, x, rate):
        a = np.exp(x)
        return self._risen(special.gammaln, a) - rate * a - x**2 * self._precision(x) / 2

    def _slope(self, x, rate):
        a = np.exp(x)
        return a * (self._risen(special.psi, a) - rate) - x * self._precision(x)

    def peak(self, rate):
        """Modes of x and their widths, and Laplace's log-masses, all of shape (K, J)."""
        shape = self.size, len(rate)
        low, high = np.full(shape, -60.0), np.full(shape, 60.0)
        for _ in range(26):
            x = (low + high) / 2
            up = self._slope(x, rate) > 0
            low, high = np.where(up, x, low), np.where(up, high, x)
        h = 1e-3
        curvature = (self._slope(x - h, rate) - self._slope(x + h, rate)) / (2 * h)
        width = 1 / np.sqrt(np.maximum(curvature, 0.25 / self.left**2))
        return x, width, self._log_density(x, rate) + np.log(width)

    def table(self, rate):
        """Points (K, J, G), cumulative probabilities there, and log-masses (K, J)."""
        x, width, _ = self.peak(rate)
        x = x[..., None] + width[..., None] * STEPS
        log_f = self._log_density(x, rate[:, None])
        top = log_f.max(axis=-1, keepdims=True)
        f = np.exp(log_f - top)
        cdf = np.cumsum((f[..., 1:] + f[..., :-1]) / 2 * np.diff(x), axis=-1)
        mass = cdf[..., -1:].copy()
        cdf = np.concatenate([np.zeros_like(mass), cdf / mass], axis=-1)
        return x, cdf, (top + np.log(mass))[..., 0]


def _rates(trials, categories):
    """Values of c that cover its posterior, (J,), and the log of the weight of each, (J,).

    The weights are those of the density of c times its step; they lack the mass of the
    categories.
    """
    trials, times = np.unique(trials[trials > 0], return_counts=True)
    if not len(trials):
        return np.zeros(1), np.zeros(1)

    def density(log_t):
        # Saddlepoint approximation with its second-order term: c is the mean of the law that
        # is tilted by exp(-c t).
        t = np.exp(log_t)

        def risen(function):
            return sum(n * (function(t + v) - function(t)) for v, n in zip(trials, times))

        k0 = -risen(special.gammaln)
        rate, k2, k3, k4 = (sign * risen(partial(special.polygamma, order))
                            for order, sign in enumerate((1, -1, 1, -1)))
        second = 1 + k4 / k2**2 / 8 - 5 * k3**2 / k2**3 / 24
        # The step of c is k2 dt, and dt = t d(log t).
        return rate, k0 + t * rate + np.log(k2) / 2 + log_t + np.log(second)

    log_t = np.linspace(-25, 25, 51)
    while True:
        rate, log_p = density(log_t)
        log_p = log_p + categories.peak(rate)[2].sum(axis=0)
        inside = np.nonzero(log_p > log_p.max() - 18)[0]
        first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(log_t) - 1)
        log_t = np.linspace(log_t[first], log_t[last], RATES)
        if len(inside) > RATES / 4 or log_t[-1] - log_t[0] < 1e-6:
            return density(log_t)


@cache
def _uniform(size):
    """Quasi-random points of the unit cube, shape (NODES, size), strictly inside it."""
    return np.clip(scipy.stats.qmc.Sobol(size, rng=0).random(NODES), 1e-12, 1 - 1e-12)


def draw(nu, rng):
    """Dirichlet draws for parameters on the last axis; tiny ones do not underflow to 0 / 0."""
    # gamma(nu) = gamma(nu + 1) u^(1/nu), whose logarithm stays finite.
    log_g = np.log(rng.standard_gamma(nu + 1)) - rng.standard_exponential(nu.shape) / nu
    g = np.exp(log_g - log_g.max(axis=-1, keepdims=True))
    return g / g.sum(axis=-1, keepdims=True)

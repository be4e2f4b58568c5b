"""The conjugate posterior: every question has its own Dirichlet law (Bayes@N)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from operator import mul

import numpy as np
from scipy import special

from bayeval._special import beta_range
from bayeval.distribution import (
    Estimate,
    Law,
    dirichlet_score_cdf,
    laws_of_mixtures,
    mean_of_independent,
)
from bayeval.functionals import cumulants
from bayeval.mixture import BetaMixture
from bayeval.score import Posterior

# Six cumulants give the quantiles of a mean where the last term of their expansion is below this
# many standard deviations at both ends of a 99% interval; otherwise the mean is convolved.
LAST_TERM = 2e-4
# What the expansion is trusted for, in normal quantiles, and the points that make a law of it.
REACH = 3.3
GRID = np.linspace(-8, 8, 1601)
GRID_CDF = special.ndtr(GRID)
# Cumulants of functions of p are differences of moments up to 1: this much of them is noise.
NOISE = 1e-11
# With prior counts of 1 or more, less than 1e-5 of a question's law lies beyond this many sd.
DIRICHLET_REACH = 12
# Numbers of random values held at once while drawing, and of counts in a block.
CHUNK, BLOCK = 1 << 22, 1 << 16


@dataclass(frozen=True, eq=False)
class DirichletPosterior(Posterior):
    """Posterior under independent Dirichlet laws of the questions.

    Attributes
    ----------
    nu : ndarray, shape (L, M, C+1)
        Parameters of each question's law.
    """

    nu: np.ndarray

    @classmethod
    def of(cls, o, w, nu):
        """Posterior of the score under Dirichlet(nu), nu of shape (L, M, C+1)."""
        M = o.n_questions
        mean, var = _sums(score_moments, nu, w)

        def other():
            return bootstrap(o.per_model, *score_moments(nu, w), w.min(), w.max(), o.models,
                             lambda n, rng: draw(nu, n, rng, lambda p: p @ w, population=True))

        laws = cache(lambda: _Laws(_sums(_score_cumulants, nu, w), M, w.min(), w.max(),
                                   lambda i: _score_law(nu[i], w)))
        return cls(mean=o.per_model(mean / M), sd=o.per_model(np.sqrt(var) / M),
                   laws=lambda: laws().all, quantiles=lambda q: o.per_model(laws().ppf(q)),
                   sampler=lambda n, rng: o.per_model(draw(nu, n, rng, lambda p: p @ w)),
                   models=o.models, nu=nu, outcomes=o, weights=w, other=cache(other))

    @property
    def question_mean(self):
        """Posterior mean of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(score_moments(self.nu, self.weights)[0])

    @property
    def question_sd(self):
        """Posterior standard deviation of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(np.sqrt(score_moments(self.nu, self.weights)[1]))

    def _functional(self, functions, many):
        a, b = self.nu[..., 1], self.nu[..., 0]
        mean, sd = (np.stack(x, axis=1) for x in zip(
            *(functional_moments(f, a, b) for f in functions)))  # (L, K, M)

        def shape(x):  # (L, K, ...) as the caller asked for it
            return self.outcomes.per_model(x if many else x[:, 0])

        @cache
        def laws():  # in the order of the models, then of the functions
            K = len(functions)
            higher = [[k.sum(axis=-1) for k in functional_cumulants(f, a, b)] for f in functions]
            sums = [mean.sum(axis=-1), (sd**2).sum(axis=-1), *np.transpose(higher, (1, 2, 0))]
            return _Laws([x.ravel() for x in sums], mean.shape[-1], 0.0, 1.0,
                         lambda i: _functional_law(functions[i % K], a[i // K], b[i // K],
                                                   mean[i // K, i % K], sd[i // K, i % K]),
                         NOISE)

        def sampler(n, rng, population=False):
            # The same draws of p for every k, so that curves in k are smooth and monotone.
            return np.moveaxis(draw(self.nu, n, rng, lambda p: np.stack(
                [f(p[..., 1]) for f in functions]), population=population), 0, 1)

        def other():
            return bootstrap(shape, mean, sd**2, 0.0, 1.0, self.models,
                              lambda n, rng: sampler(n, rng, population=True))

        return Estimate(mean=shape(mean.mean(axis=-1)),
                        sd=shape(np.sqrt((sd**2).sum(axis=-1)) / a.shape[1]),
                        laws=lambda: laws().all,
                        quantiles=lambda q: shape(laws().ppf(q).reshape(*mean.shape[:2], -1)),
                        sampler=lambda n, rng: shape(sampler(n, rng)), models=self.models,
                        other=cache(other))


def bootstrap(shape, mean, var, low, high, models, sampler):
    """The mean over the population of questions, by the Bayesian bootstrap (Rubin 1981).

    The questions of the population are those seen, in proportions of a Dirichlet(1, ..., 1) law.
    `mean` and `var` are those of the questions, on the last axis; the law is the beta law on
    [low, high] with the mean and the variance that result.
    """
    M = mean.shape[-1]
    center = mean.mean(axis=-1)
    here = var.sum(axis=-1) / M**2
    spread = (var + (mean - center[..., None]) ** 2).mean(axis=-1) - here
    total = here + spread / (M + 1)
    span = (high - low) or 1.0
    law = BetaMixture.matching(np.ones((*center.shape, 1)), (center - low)[..., None] / span,
                               total[..., None] / span**2)
    return Estimate(mean=shape(center), sd=shape(np.sqrt(total)),
                    laws=cache(lambda: laws_of_mixtures(law, low, high)),
                    sampler=lambda n, rng: shape(sampler(n, rng)), models=models,
                    quantiles=lambda q: shape(low + (high - low) * law.ppf(q)))


# -- moments, laws and draws ---------------------------------------------------------------


def score_moments(nu, w):
    """Mean and variance of every question's score, shape (..., M)."""
    T, m, d = _centered(nu, w)
    return m, np.einsum("...k,...k,...k->...", nu, d, d) / (T * (T + 1))


def _score_cumulants(nu, w):
    """Mean and the second to sixth cumulants of every question's score, shape (..., M)."""
    T, m, d = _centered(nu, w)
    # For p ~ Dirichlet(nu) the moments of x = sum d_k p_k are those of the generating function
    # prod (1 - d_k t)^(-nu_k) over rising factorials of T. With the mean at 0 its logarithm is
    # sum_j s_j t^j / j, for the power sums s_j = sum_k nu_k d_k^j.
    s2, s3, s4, s5, s6 = (x.sum(axis=-1) for x in accumulate([nu * d * d, d, d, d, d], mul))
    moments = (s2 / 2, s3 / 3, s4 / 4 + s2**2 / 8, s5 / 5 + s2 * s3 / 6,
               s6 / 6 + s2 * s4 / 8 + s3**2 / 18 + s2**3 / 48)
    scale, central = T, []
    for j, moment in enumerate(moments, start=2):
        scale = scale * (T + j - 1) / j
        central.append(moment / scale)
    return m, *cumulants(*central)


def _sums(function, nu, w):
    """What `function` gives, summed over the questions, shape (..., L): some models at a time."""
    step = max(1, BLOCK // nu[0].size)
    return np.concatenate([[x.sum(axis=1) for x in function(nu[i:i + step], w)]
                           for i in range(0, len(nu), step)], axis=1)


def _centered(nu, w):
    """Total counts, mean scores, and the weights about each mean, which cannot cancel."""
    T = nu.sum(axis=-1)
    offset = nu @ (w - w[0]) / T
    return T, w[0] + offset, (w - w[0]) - offset[..., None]


class _Laws:
    """Laws of R means over M independent questions.

    Parameters
    ----------
    sums : sequence of ndarray, shape (R,)
        Sums over the questions of their first to sixth cumulants.
    M : int
    low, high : float
        Range of the means.
    convolved : callable
        ``convolved(i)``: the law of mean i where the cumulants do not give it.
    noise : float
        Error of the cumulants of a question by rounding.
    """

    def __init__(self, sums, M, low, high, convolved, noise=0.0):
        mean, total, *higher = sums
        self.mean, self.sd, self.range = mean / M, np.sqrt(total) / M, (low, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.shape = [k[:, None] / total[:, None] ** (j / 2) for j, k in enumerate(higher, 3)]
            last = self._expansion(np.array([-1, 1]) * special.ndtri(0.995))[1]
        self.close = (np.abs(last).max(axis=1) <= LAST_TERM) & (total**3 > noise * M)
        self.convolved = cache(convolved)

    def _expansion(self, z):
        """Standardized quantiles at those of a normal law (Cornish and Fisher), and the last term.

        Shape (R, len(z)). The terms are in the order of the number of questions.
        """
        g1, g2, g3, g4 = self.shape
        h1, h2 = z, z**2 - 1
        h3 = z * h2 - 2 * h1
        h4 = z * h3 - 3 * h2
        h5 = z * h4 - 4 * h3
        last = (g4 * h5 / 720 - g2**2 * (3 * h5 + 6 * h3 + 2 * h1) / 384
                - g1 * g3 * (2 * h5 + 3 * h3) / 180
                + g1**2 * g2 * (14 * h5 + 37 * h3 + 8 * h1) / 288
                - g1**4 * (252 * h5 + 832 * h3 + 227 * h1) / 7776)
        return (z + g1 * h2 / 6 + (g2 * h3 / 24 - g1**2 * (2 * h3 + h1) / 36)
                + (g3 * h4 / 120 - g1 * g2 * (h4 + h2) / 24 + g1**3 * (12 * h4 + 19 * h2) / 324)
                + last), last

    def _quantiles(self, z):
        return np.clip(self.mean[:, None] + self.sd[:, None] * self._expansion(z)[0], *self.range)

    def ppf(self, q):
        """Quantiles, shape (R, len(q)): those of the laws, which need not be made."""
        if np.abs(special.ndtri(q)).max() > REACH:
            return np.array([law.quantile(q) for law in self.all])
        right = np.searchsorted(GRID_CDF, q)
        left = right - 1
        share = (q - GRID_CDF[left]) / (GRID_CDF[right] - GRID_CDF[left])
        out = (1 - share) * self._quantiles(GRID[left]) + share * self._quantiles(GRID[right])
        for i in np.flatnonzero(~self.close):
            out[i] = self.convolved(i).quantile(q)
        return out

    @cached_property
    def all(self):
        """The laws, as a list."""
        # Far out the expansion may turn back; less than 1e-9 is at stake.
        x = np.maximum.accumulate(self._quantiles(GRID), axis=1)
        return [Law(x[i], GRID_CDF) if close else self.convolved(i)
                for i, close in enumerate(self.close)]


def _score_law(nu, w):
    """Law of one model's score by convolution, with nu of shape (M, C+1)."""
    low, high = w.min(), w.max()
    m, var = score_moments(nu, w)
    rows, first, count = np.unique(nu, axis=0, return_index=True, return_counts=True)
    if len(w) == 2:
        up = int(np.argmax(w))

        def cdf(u, y):
            p = np.clip((y - low) / (high - low), 0, 1)
            return special.betainc(rows[u, up], rows[u, 1 - up], p)
        left, right = (low + (high - low) * p for p in beta_range(rows[:, up], rows[:, 1 - up]))
    else:
        def cdf(u, y):
            return dirichlet_score_cdf(rows[u], w, y)
        reach = DIRICHLET_REACH * np.sqrt(var[first]) if nu.min() >= 1 else np.inf
        left, right = np.maximum(m[first] - reach, low), np.minimum(m[first] + reach, high)
    return mean_of_independent(cdf, m[first], np.sqrt(var[first]), count, left, right)


def functional_moments(function, a, b):
    """Mean and sd of the function at every question."""
    return _on_unique(function.moments, a, b)


def functional_cumulants(function, a, b):
    """Its third to sixth cumulants."""
    return _on_unique(function.cumulants, a, b)


def _on_unique(function, a, b):
    """What the function of (a, b) returns, computed on unique pairs."""
    # As complex numbers pairs are sorted several times faster than as columns.
    pairs, back = np.unique(a.ravel() + 1j * b.ravel(), return_inverse=True)
    return [x[back].reshape(a.shape) for x in function(pairs.real, pairs.imag)]


def _functional_law(function, a, b, mean, sd):
    """Law of the mean of the function over one model's questions, by convolution."""
    pairs, first, count = np.unique(a + 1j * b, return_index=True, return_counts=True)
    a, b = pairs.real, pairs.imag

    def cdf(u, y):
        return special.betainc(a[u], b[u], function.inverse(np.clip(y, 0, 1)))
    left, right = (function(p) for p in beta_range(a, b))
    return mean_of_independent(cdf, mean[first], sd[first], count, left, right)


def draw(nu, n, rng, function, *, population=False):
    """Draw every question's probabilities and average `function` of them over questions.

    `function` maps (M, chunk, C+1) to (..., M, chunk); the result has shape (..., L, n). For the
    population the average is weighted by draws of the Bayesian bootstrap.
    """
    _, M, K = nu.shape
    chunk = max(1, CHUNK // (M * K))
    models = []
    for rows in nu:
        parts = []
        for start in range(0, n, chunk):
            size = (M, min(chunk, n - start))
            if K == 2:  # a Beta draw keeps tiny probabilities that 1 - p would lose
                p = rng.beta(rows[:, 1, None], rows[:, 0, None], size)
                p = np.stack([1 - p, p], axis=-1)
            else:
                p = rng.standard_gamma(rows[:, None, :], (*size, K))
                p /= p.sum(axis=-1, keepdims=True)
            share = rng.standard_exponential(size) if population else np.ones(size)
            parts.append((function(p) * (share / share.sum(axis=0))).sum(axis=-2))
        models.append(np.concatenate(parts, axis=-1))
    return np.stack(models, axis=-2)

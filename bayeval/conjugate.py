"""The conjugate posterior: every question has its own Dirichlet law (Bayes@N)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from bayeval._special import beta_range
from bayeval.distribution import (
    Estimate,
    cornish_fisher,
    dirichlet_score_cdf,
    laws_of_mixtures,
    mean_of_independent,
)
from bayeval.mixture import BetaMixture
from bayeval.score import Posterior

# Four cumulants give the law of a mean to about 1e-4 sd when no question holds more than this
# share of the variance and the sum is nearly normal; otherwise it is convolved.
SMALL_SHARE = 1 / 40
NEARLY_NORMAL = 0.3
# Cumulants of functions of p are differences of numbers up to 1; this much of them is lost.
LOST = 1e-11
# With prior counts of 1 or more, less than 1e-5 of a question's law lies beyond this many sd.
DIRICHLET_REACH = 12
# Numbers of random values held at once while drawing.
CHUNK = 1 << 22


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
        m, var = score_moments(nu, w)

        def other():
            return bootstrap(o.per_model, m, var, w.min(), w.max(), o.models,
                              lambda n, rng: draw(nu, n, rng, lambda p: p @ w, population=True))

        return cls(mean=o.per_model(m.mean(axis=1)),
                   sd=o.per_model(np.sqrt(var.sum(axis=1)) / M),
                   laws=cache(lambda: [_score_law(rows, w) for rows in nu]),
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

        def laws():
            return [_functional_law(f, a[i], b[i], mean[i, j], sd[i, j])
                    for i in range(len(a)) for j, f in enumerate(functions)]

        def sampler(n, rng, population=False):
            # The same draws of p for every k, so that curves in k are smooth and monotone.
            return np.moveaxis(draw(self.nu, n, rng, lambda p: np.stack(
                [f(p[..., 1]) for f in functions]), population=population), 0, 1)

        def other():
            return bootstrap(shape, mean, sd**2, 0.0, 1.0, self.models,
                              lambda n, rng: sampler(n, rng, population=True))

        return Estimate(mean=shape(mean.mean(axis=-1)),
                        sd=shape(np.sqrt((sd**2).sum(axis=-1)) / a.shape[1]), laws=cache(laws),
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
                    ppf=lambda q: shape(low + (high - low) * law.ppf(q)))


# -- moments, laws and draws ---------------------------------------------------------------


def score_moments(nu, w):
    """Mean and variance of every question's score, shape (..., M)."""
    T, m, d = _centered(nu, w)
    return m, (nu * d * d).sum(axis=-1) / (T * (T + 1))


def _score_cumulants(nu, w):
    """Mean and the second to fourth cumulants of every question's score, shape (..., M)."""
    T, m, d = _centered(nu, w)
    # For p ~ Dirichlet(nu) the moments of sum d_k p_k follow from prod (1 - d_k t)^(-nu_k);
    # with the mean at 0 they are these power sums over rising factorials of T.
    part = nu * d * d
    q2 = part.sum(axis=-1)
    part *= d
    q3 = part.sum(axis=-1)
    q4 = (part * d).sum(axis=-1)
    T2 = T * (T + 1)
    T3 = T2 * (T + 2)
    var = q2 / T2
    return m, var, 2 * q3 / T3, (3 * q2**2 + 6 * q4) / (T3 * (T + 3)) - 3 * var**2


def _centered(nu, w):
    """Total counts, mean scores, and the weights about each mean, which cannot cancel."""
    T = nu.sum(axis=-1)
    offset = nu @ (w - w[0]) / T
    return T, w[0] + offset, (w - w[0]) - offset[..., None]


def _score_law(nu, w):
    """Law of one model's score, with nu of shape (M, C+1)."""
    low, high = w.min(), w.max()
    m, k2, k3, k4 = _score_cumulants(nu, w)
    if _shared(k2) and (law := _law_from_cumulants(m, k2, k3, k4, low, high)):
        return law
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
        reach = DIRICHLET_REACH * np.sqrt(k2[first]) if nu.min() >= 1 else np.inf
        left, right = np.maximum(m[first] - reach, low), np.minimum(m[first] + reach, high)
    return mean_of_independent(cdf, m[first], np.sqrt(k2[first]), count, left, right)


def _shared(var):
    """Whether no question holds much of the variance."""
    return 0 < var.max() <= SMALL_SHARE * var.sum()


def _law_from_cumulants(mean, k2, k3, k4, low, high):
    """Law of the mean over questions with these cumulants; None if it is far from normal."""
    M, total, k3, k4 = len(mean), k2.sum(), k3.sum(), k4.sum()
    if max(abs(k3) / total**1.5, abs(k4) / total**2) > NEARLY_NORMAL:
        return None
    return cornish_fisher(mean.mean(), total / M**2, k3 / M**3, k4 / M**4, low, high)


def functional_moments(function, a, b):
    """Mean and sd of the function at every question, on unique (a, b)."""
    # As complex numbers pairs are sorted several times faster than as columns.
    pairs, back = np.unique(a.ravel() + 1j * b.ravel(), return_inverse=True)
    mean, sd = function.moments(pairs.real, pairs.imag)
    return mean[back].reshape(a.shape), sd[back].reshape(a.shape)


def _functional_law(function, a, b, mean, sd):
    """Law of the mean of the function over one model's questions, all arguments (M,)."""
    pairs, first, back, count = np.unique(a + 1j * b, return_index=True, return_inverse=True,
                                          return_counts=True)
    a, b, var = pairs.real, pairs.imag, sd**2
    exact = var.sum() ** 1.5 > LOST * len(var)
    if exact and _shared(var) and (cumulants := function.cumulants(a, b)):
        law = _law_from_cumulants(mean, var, *(x[back] for x in cumulants), 0.0, 1.0)
        if law:
            return law

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

"""A past that may not fit: the worth of a past attempt, learned from how well it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from bayeval.conjugate import bootstrap, draw, functional_moments, score_moments
from bayeval.distribution import Estimate, laws_of_mixtures
from bayeval.mixture import BetaMixture
from bayeval.score import Posterior

# Of the fourth root of the discount: dense near 0, where a long past that does not fit ends up.
_NODE, _WEIGHT = np.polynomial.legendre.leggauss(48)
_NODE, _WEIGHT = (_NODE + 1) / 2, _WEIGHT / 2
# Discounts whose log evidence is that far below the best are left out.
_NEGLIGIBLE = 40


@dataclass(frozen=True, eq=False)
class DiscountedPosterior(Posterior):
    """Posterior under a past whose discount, uniform on [0, 1] a priori, is integrated out.

    Given the discount every question has its conjugate posterior, with prior counts
    base + discount * past counts (the normalized power prior of Duan, Ye and Smith 2006). The
    discounts are weighted by how well the past then predicts the outcomes, model by model.

    Attributes
    ----------
    nu : ndarray, shape (L, J, M, C+1)
        Parameters of each question's law, given each discount.
    discounts, discount_weights : ndarray, shape (J,) or (L, J)
        Nodes of the discount's posterior, and their weights.
    """

    nu: np.ndarray
    discounts: np.ndarray
    discount_weights: np.ndarray

    @classmethod
    def of(cls, o, w, past, base=1.0):
        """Posterior of the score, given past counts of shape (L or 1, M, C+1)."""
        discount, weight, nu = _nodes(base, np.asarray(past, dtype=float), o.counts)
        mean, var = score_moments(nu, w)

        def draws(n, rng, population):
            return _draw(nu, weight, n, rng, lambda p: p @ w, population)

        return _estimate(cls, o.per_model, weight, mean, var, draws, o.models, w.min(), w.max(),
                         outcomes=o, weights=w, nu=nu, discounts=o.per_model(discount),
                         discount_weights=o.per_model(weight))

    @property
    def discount(self):
        """Posterior mean of the discount, a number or shape (L,)."""
        return (self.discount_weights * self.discounts).sum(axis=-1)[()]

    @property
    def question_mean(self):
        """Posterior mean of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(self._question_moments()[0])

    @property
    def question_sd(self):
        """Posterior standard deviation of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(np.sqrt(self._question_moments()[1]))

    def _question_moments(self):
        moments = score_moments(self.nu, self.weights)
        return _marginal(np.atleast_2d(self.discount_weights), *moments)

    def _functional(self, functions, many):
        weight = np.atleast_2d(self.discount_weights)
        mean, sd = (np.stack(x, axis=1) for x in zip(
            *(functional_moments(f, self.nu[..., 1], self.nu[..., 0]) for f in functions)))

        def shape(x):  # (L, K, ...) as the caller asked for it
            return self.outcomes.per_model(x if many else x[:, 0])

        def draws(n, rng, population):
            return np.moveaxis(_draw(self.nu, weight, n, rng, lambda p: np.stack(
                [f(p[..., 1]) for f in functions]), population), 0, 1)

        return _estimate(Estimate, shape, weight[:, None], mean, sd**2, draws, self.models,
                         0.0, 1.0)


def _estimate(kind, shape, weight, mean, var, draws, models, low, high, **fields):
    """The estimate of the mean over questions; `mean` and `var` have shape (..., J, M)."""
    span = (high - low) or 1.0
    M = mean.shape[-1]
    mixture = BetaMixture.matching(
        np.broadcast_to(weight, mean.shape[:-1]), (mean.mean(axis=-1) - low) / span,
        var.sum(axis=-1) / (M * span) ** 2)

    def other():
        return bootstrap(shape, *_marginal(weight, mean, var), low, high, models,
                         lambda n, rng: draws(n, rng, True))

    return kind(mean=shape(low + span * mixture.mean), sd=shape(span * mixture.sd),
                laws=cache(lambda: laws_of_mixtures(mixture, low, high)),
                quantiles=lambda q: shape(low + span * mixture.ppf(q)),
                sampler=lambda n, rng: shape(draws(n, rng, False)), models=models,
                other=cache(other), **fields)


def _marginal(weight, mean, var):
    """Mean and variance of every question, the discount integrated out."""
    center = (weight[..., None] * mean).sum(axis=-2)
    return center, (weight[..., None] * (var + (mean - center[..., None, :]) ** 2)).sum(axis=-2)


def _nodes(base, past, counts):
    """Discounts and weights, shape (L, J), and the parameters given each, (L, J, M, C+1).

    The interval of the nodes shrinks to where the evidence is, until most nodes lie there.
    """
    low, high = np.zeros((len(counts), 1)), np.ones((len(counts), 1))
    while True:
        root = low + (high - low) * _NODE
        alpha = base + root[..., None, None] ** 4 * past[:, None]
        nu = alpha + counts[:, None]
        evidence = (_log_norm(nu) - _log_norm(alpha)).sum(axis=-1)
        evidence -= evidence.max(axis=1, keepdims=True)
        heavy = evidence > -_NEGLIGIBLE
        # Of the nodes and the two ends: the one before the first heavy node, and after the last.
        ends = np.concatenate([low, root, high], axis=1)
        first = np.take_along_axis(ends, heavy.argmax(axis=1)[:, None], axis=1)
        last = np.take_along_axis(
            ends, (len(_NODE) + 1 - heavy[:, ::-1].argmax(axis=1))[:, None], axis=1)
        if (last - first >= 0.5 * (high - low)).all():
            weight = _WEIGHT * root**3 * np.exp(evidence)
            return root**4, weight / weight.sum(axis=1, keepdims=True), nu
        low, high = first, last


def _log_norm(nu):
    return special.gammaln(nu).sum(axis=-1) - special.gammaln(nu.sum(axis=-1))


def _draw(nu, weight, n, rng, function, population):
    """Draws of shape (..., L, n): those of each discount come from its conjugate posterior."""
    models = []
    for nodes, w in zip(nu, weight):
        times = rng.multinomial(n, w)
        parts = [draw(nodes[j:j + 1], c, rng, function, population=population)
                 for j, c in enumerate(times) if c]
        models.append(rng.permutation(np.concatenate(parts, axis=-1), axis=-1))
    return np.concatenate(models, axis=-2)

"""The learned prior: the questions are draws from a law that the counts themselves reveal.

Every question's outcome probabilities come from Dirichlet(alpha), and alpha is unknown: each
log alpha_k has the package's hyperprior. For right and wrong outcomes that is the beta-binomial
model, integrated by quadrature; for more categories it is the Dirichlet-multinomial model,
integrated over quasi-random nodes. Either way the posterior of (a, b), or alpha, is a list of
weighted nodes, given which the questions are independent and conjugate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from bayeval import betabinomial, dirichlet_multinomial
from bayeval.distribution import Estimate, laws_of_mixtures
from bayeval.functionals import PassAtK, PassHatK, quadrature_moments
from bayeval.score import Posterior

# Nodes lighter than this share of the heaviest are left out where each of them costs time.
LIGHT = 1e-4
# Numbers of random values held at once while drawing.
CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class LearnedPosterior(Posterior):
    """Posterior under a prior that all questions of a model share, learned from their counts.

    Attributes
    ----------
    fit : betabinomial.Quadrature or dirichlet_multinomial.Nodes
        Posterior of the prior's parameters.
    """

    fit: object

    @classmethod
    def of(cls, o, w):
        """Posterior of the score of every model."""
        binary = o.n_categories == 2
        fit = (betabinomial.quadrature(o.successes, o.n_trials) if binary
               else dirichlet_multinomial.nodes(o.counts))
        # For two categories the score is w_0 + (w_1 - w_0) times the mean success chance.
        low, high = w if binary else (w.min(), w.max())
        score, population = ((fit.score(), fit.population()) if binary
                             else (fit.score(w), fit.population(w)))

        def sampler(n, rng, population=False):
            return _draw(o.counts, fit, n, rng, lambda p: p @ w, population)

        def estimate(kind, mixture, draws, **options):
            return _estimate(kind, mixture, o.per_model, o.models, draws, low, high, **options)

        return estimate(cls, score, sampler, outcomes=o, weights=w, fit=fit, other=cache(
            lambda: estimate(Estimate, population, lambda n, rng: sampler(n, rng, True))))

    @cached_property
    def _question_moments(self):
        weights, alpha = _nodes(self.fit)
        w, counts = self.weights, self.outcomes.counts
        mean, square = np.empty(counts.shape[:2]), np.empty(counts.shape[:2])
        for l, rows in enumerate(counts):
            unique, back = np.unique(rows, axis=0, return_inverse=True)
            nu = alpha[l][:, None] + unique
            T = nu.sum(axis=-1)
            m = nu @ w / T
            m2 = m**2 + (nu @ w**2 / T - m**2) / (T + 1)
            mean[l], square[l] = ((weights[l] @ x)[back.ravel()] for x in (m, m2))
        return mean, np.sqrt(np.maximum(square - mean**2, 0))

    @property
    def question_mean(self):
        """Posterior mean of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(self._question_moments[0])

    @property
    def question_sd(self):
        """Posterior standard deviation of each question's score, shape (M,) or (L, M)."""
        return self.outcomes.per_model(self._question_moments[1])

    def _functional(self, functions, many):
        kind = type(functions[0])
        k = np.array([f.k for f in functions])
        if kind is PassAtK:
            here, there = self.fit.pass_at_k, self.fit.population_pass_at_k
        elif kind is PassHatK:
            here, there = self.fit.pass_hat_k, self.fit.population_pass_hat_k
        else:
            def here(_):
                return _by_nodes(self.fit, self.outcomes.counts, functions)

            def there(_):
                return _by_nodes(self.fit, None, functions)

        def shape(x):  # (L, K, ...) as the caller asked for it
            return self.outcomes.per_model(x if many else x[:, 0])

        def sampler(n, rng, population=False):
            # The same draws of p for every k, so that curves in k are smooth and monotone.
            return np.moveaxis(_draw(self.outcomes.counts, self.fit, n, rng, lambda p: np.stack(
                [f(p[..., 1]) for f in functions]), population, functions), 0, 1)

        def estimate(mixture, draws, **options):
            return _estimate(Estimate, mixture, shape, self.models, draws, **options)

        return estimate(here(k), sampler, other=cache(
            lambda: estimate(there(k), lambda n, rng: sampler(n, rng, True))))


def _estimate(kind, mixture, shape, models, sampler, low=0.0, high=1.0, **options):
    """The estimate of low + (high - low) x, x having the law `mixture`."""
    def quantiles(q):
        return shape(low + (high - low) * mixture.ppf(q if high >= low else 1 - q))

    return kind(mean=shape(low + (high - low) * mixture.mean),
                sd=shape(abs(high - low) * mixture.sd),
                laws=cache(lambda: laws_of_mixtures(mixture, low, high)), quantiles=quantiles,
                sampler=lambda n, rng: shape(sampler(n, rng)), models=models, **options)


def _nodes(fit, thin=0.0):
    """Lists over the models: weights (J,) and alpha (J, C+1) of the nodes of some weight."""
    if isinstance(fit, betabinomial.Quadrature):
        weights = fit.weights.reshape(len(fit.weights), -1)
        alpha = np.stack([fit.b, fit.a], axis=-1).reshape(*weights.shape, 2)
    else:
        weights, alpha = fit.weights, fit.alpha
    keep = weights > thin * weights.max(axis=1, keepdims=True)
    return [w[k] / w[k].sum() for w, k in zip(weights, keep)], [x[k] for x, k in zip(alpha, keep)]


def _by_nodes(fit, counts, functions):
    """`BetaMixture`, shape (L, K, C), of the mean of functions of p, node by node.

    Over the questions with these counts, or the population. On every other row and column of
    the grid: what takes a thousandth of a second for Pass@k takes seconds here.
    """
    weights = fit.weights[:, ::2, ::2]
    grid = betabinomial.Quadrature(fit.eta[:, ::2, ::2], fit.lam[:, ::2],
                                   weights / weights.sum(axis=(1, 2), keepdims=True), fit.pairs)
    mean, var = np.zeros((2, len(functions), *grid.weights.shape))
    for l, w in enumerate(grid.weights):
        at = np.nonzero(w > LIGHT * w.max())
        a, b = grid.a[l][at][:, None], grid.b[l][at][:, None]
        if counts is None:
            share = np.ones(1)
        else:
            unique, times = np.unique(counts[l], axis=0, return_counts=True)
            a, b = a + unique[:, 1], b + unique[:, 0]
            share = times / times.sum()
        for i, function in enumerate(functions):
            m, s = (x.reshape(a.shape) for x in quadrature_moments(function, a.ravel(), b.ravel()))
            mean[i, l][at] = m @ share
            if counts is not None:
                var[i, l][at] = s**2 @ share / len(counts[l])
    return grid.mixture(mean, var)


def _draw(counts, fit, n, rng, function, population=False, functions=None):
    """Draw the prior's parameters, then the questions' probabilities, and average over questions.

    `function` maps (M, chunk, C+1) to (..., M, chunk); the result has shape (..., L, n). For the
    population the average is its expectation: of the score, or of each of `functions`.
    """
    weights, alpha = _nodes(fit)
    models = []
    for l, rows in enumerate(counts):
        node = rng.choice(len(weights[l]), n, p=weights[l])
        if population:
            used, back = np.unique(node, return_inverse=True)
            nu = alpha[l][used]
            value = (function(nu / nu.sum(axis=1, keepdims=True)) if functions is None else
                     np.stack([_expectation(f, nu[:, 1], nu[:, 0]) for f in functions]))
            models.append(value[..., back.ravel()])
            continue
        parts = []
        chunk = max(1, CHUNK // rows.size)
        for start in range(0, n, chunk):
            nu = alpha[l][node[start:start + chunk]] + rows[:, None]
            if nu.shape[-1] == 2:  # a Beta draw keeps tiny probabilities that 1 - p would lose
                p = rng.beta(nu[..., 1], nu[..., 0])
                p = np.stack([1 - p, p], axis=-1)
            else:
                p = dirichlet_multinomial.draw(nu, rng)
            parts.append(function(p).mean(axis=-2))
        models.append(np.concatenate(parts, axis=-1))
    return np.stack(models, axis=-2)


def _expectation(function, a, b):
    exact = isinstance(function, PassAtK | PassHatK)
    return (function.moments if exact else partial(quadrature_moments, function))(a, b)[0]

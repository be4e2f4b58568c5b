r"""The beta-binomial posterior of Pass@k, with an allowance for a law that is not quite a beta.

A forecast far beyond the attempts rests on the density of difficulty near p = 0, which a beta law
makes proportional to p^(a - 1). The exponent is learned from the questions that were solved, and
used for those that were not, below every chance that the attempts could reveal. There it may
differ: an unsolved question has p ~ Beta(a f, b + n), where the factor f, common to all unsolved
questions of a model, is 1 or a given factor up or down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeval import betabinomial as bb
from bayeval._gammas import log_failure, log_rising
from bayeval.mixture import BetaMixture

# Gauss-Hermite weights: the factors are those of a log-normal law, to five moments of its log.
CHANCES = np.array([1, 4, 1]) / 6


@dataclass(frozen=True)
class BentQuadrature:
    """Posterior of (a, b, f) for the counts of one model.

    Attributes
    ----------
    grid : betabinomial.Quadrature
        Nodes and weights of (a, b), for one model.
    s, n : ndarray, shape (M,)
        Successes and attempts.
    allowance : float
        The factor up or down, at least 1.
    """

    grid: bb.Quadrature
    s: np.ndarray
    n: np.ndarray
    allowance: float

    @property
    def factors(self):
        return self.allowance ** np.array([-1.0, 0.0, 1.0])

    @property
    def seen(self):
        """Attempts from which on the law may bend, for a new question."""
        unsolved = (self.s == 0) & (self.n > 0)
        return self.n[unsolved].mean() if unsolved.any() else self.n.mean()

    def pass_at_k(self, k):
        """Pass@k on these questions: `BetaMixture`, shape (K, C), for `k` of shape (K,)."""
        a, b, pairs = self.grid.a, self.grid.b, self.grid.pairs
        k = np.asarray(k, dtype=float)[:, None, None, None]
        bent = (pairs.s == 0) & (pairs.n > 0)

        def total(at, factor):
            """Mean and variance of the sum of Pass@k over the questions `at`."""
            mean, var = np.zeros((2, *np.broadcast_shapes(k.shape, a.shape)))
            for s, n, count in zip(pairs.s[at], pairs.n[at], pairs.count[0, at]):
                x, y = a * factor + s, b + (n - s)
                top = log_rising(y, x)
                once, twice = top - log_rising(y + k, x), top - log_rising(y + 2 * k, x)
                mean -= count * np.expm1(once)
                var += count * (np.exp(twice) - np.exp(2 * once))
            return np.array([mean, var])

        rest, questions = total(~bent, 1.0), pairs.count.sum()
        sums = [rest + total(bent, factor) for factor in self.factors]
        return self._mixture([mean / questions for mean, _ in sums],
                             [np.maximum(var, 0) / questions**2 for _, var in sums])

    def population_pass_at_k(self, k):
        """Mean Pass@k of the population."""
        k = np.asarray(k, dtype=float)[:, None, None, None]
        means = [self._new_question(self.grid.a, self.grid.b, f, k) for f in self.factors]
        return self._mixture(means, np.zeros_like(means))

    def _mixture(self, means, variances):
        """The mixture over nodes and factors."""
        laws = [self.grid.mixture(mean, var) for mean, var in zip(means, variances)]
        return BetaMixture(*(np.concatenate(x, axis=-1)[0] for x in (
            [chance * law.weights for chance, law in zip(CHANCES, laws)],
            [law.a for law in laws], [law.b for law in laws])))

    def _new_question(self, a, b, factor, k):
        first = np.minimum(k, self.seen)
        return -np.expm1(log_failure(a, b, first)
                         + log_failure(a * factor, b + first, k - first))

    def draws(self, k, size, rng, *, population=False):
        """Draws of Pass@k, shape (K, size)."""
        node = rng.choice(self.grid.weights.size, size, p=self.grid.weights.ravel())
        a, b = self.grid.a.ravel()[node], self.grid.b.ravel()[node]
        factor = rng.choice(self.factors, size, p=CHANCES)
        if population:
            return self._new_question(a, b, factor, k[:, None])
        bent = np.where((self.s == 0) & (self.n > 0), factor[:, None], 1.0)
        return mean_pass_at_k(rng.beta(a[:, None] * bent + self.s, b[:, None] + (self.n - self.s)),
                              k)


def mean_pass_at_k(p, k):
    """Mean over questions of 1 - (1 - p)^k, shape (K, size), for p of shape (size, M)."""
    with np.errstate(divide="ignore"):
        log_q = np.log1p(-p)
    return np.stack([-np.expm1(k_i * log_q).mean(axis=1) for k_i in k])

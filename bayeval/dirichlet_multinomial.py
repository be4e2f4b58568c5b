r"""The Dirichlet-multinomial model: categories of outcomes that share a prior to be learned.

Question m has the counts n_m of its categories; its probabilities p_m are a draw from
Dirichlet(alpha), so that

.. math:: P(n_m \mid \alpha) \propto \frac{\Gamma(T)}{\Gamma(T + N_m)}
          \prod_k \frac{\Gamma(\alpha_k + n_{mk})}{\Gamma(\alpha_k)}, \qquad T = \sum_k \alpha_k.

Each log alpha_k has the hyperprior of the binary model, Normal(0, 2), which two categories
reproduce. The posterior of log alpha is integrated over quasi-random nodes, placed by importance
sampling around its mode: no chains, and the same numbers every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from bayeval.betabinomial import HYPERPRIOR
from bayeval.mixture import BetaMixture

# Nodes of each model, and those of each round that looks for the region to put them in.
NODES = 4096
SEARCH = 1024
ROUNDS = 4
# Degrees of freedom of the multivariate t law that proposes nodes: tails heavier than any here.
TAIL = 8
# Runs of this many nodes, sorted by their score, become one component of a mixture.
RUN = 16


@dataclass(frozen=True)
class Nodes:
    """Posterior of alpha of each model as weighted nodes.

    Attributes
    ----------
    alpha : ndarray, shape (L, J, C+1)
        Nodes.
    weights : ndarray, shape (L, J)
        Posterior weights, which sum to 1 for each model.
    counts : ndarray, shape (L, M, C+1)
    """

    alpha: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    @property
    def effective(self):
        """Effective number of nodes of each model, 1 / sum of squared weights."""
        return 1 / (self.weights**2).sum(axis=1)

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
    """Posterior of the Dirichlet-multinomial parameters of each model, as weighted nodes.

    Parameters
    ----------
    counts : array_like of int, shape (L, M, C+1)
    hyperprior : Hyperprior
        Its `sd` is that of each log alpha_k.

    Returns
    -------
    Nodes

    Examples
    --------
    >>> fit = nodes([[[5, 0, 1], [0, 6, 0], [2, 2, 2], [6, 0, 0]]])
    >>> bool(fit.effective[0] > 1000), float(fit.score(np.array([0, 0.5, 1])).mean.round(2)[0])
    (True, 0.3)
    """
    counts = np.asarray(counts)
    found = [_nodes(rows, hyperprior.sd) for rows in counts]
    return Nodes(*(np.stack(x) for x in zip(*found)), counts)


def _nodes(counts, sd):
    """Nodes (J, C+1) and weights (J,) of one model with counts (M, C+1)."""
    tallies = [np.unique(column, return_counts=True) for column in (*counts.T, counts.sum(axis=1))]
    tallies = [(v[v > 0].astype(float), c[v > 0].astype(float)) for v, c in tallies]

    def target(theta):
        alpha = np.exp(theta)
        *parts, total = (
            ((special.gammaln(x[:, None] + v) - special.gammaln(x)[:, None]) @ c)
            for x, (v, c) in zip((*alpha.T, alpha.sum(axis=1)), tallies))
        return sum(parts) - total - (theta**2).sum(axis=1) / (2 * sd**2)

    size = counts.shape[1]
    center, scale = _mode(target, tallies, sd, size)
    # Wide at first; every round sets the center and the scale from the nodes of the last.
    for round_ in range(ROUNDS):
        last = round_ == ROUNDS - 1
        standard, log_proposal = _standard_nodes(size, NODES if last else SEARCH)
        theta = center + standard @ scale.T * (1.0 if round_ else 1.3)
        log_weight = target(theta) - log_proposal
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        if not last:
            center = weight @ theta
            d = theta - center
            scale = np.linalg.cholesky((weight[:, None] * d).T @ d * (TAIL - 2) / TAIL * 1.1
                                       + 1e-9 * np.eye(size))
    return np.exp(theta), weight


def _mode(target, tallies, sd, size):
    """Mode of the posterior of log alpha, and a factor of its inverse curvature there."""
    def slopes(theta):
        alpha = np.exp(theta)
        total = alpha.sum()
        g, h = zip(*((c @ (special.psi(x + v) - special.psi(x)),
                      c @ (special.zeta(2, x + v) - special.zeta(2, x)))
                     for x, (v, c) in zip((*alpha, total), tallies)))
        first = alpha * (np.array(g[:-1]) - g[-1])
        second = np.diag(first + alpha**2 * np.array(h[:-1])) - np.outer(alpha, alpha) * h[-1]
        return -(first - theta / sd**2), -(second - np.eye(size) / sd**2)

    best = scipy.optimize.minimize(lambda x: -target(x[None])[0], np.zeros(size),
                                   jac=lambda x: slopes(x)[0], hess=lambda x: slopes(x)[1],
                                   method="trust-exact")
    value, vector = np.linalg.eigh(slopes(best.x)[1])
    return best.x, vector / np.sqrt(np.maximum(value, 0.1 / sd**2))


def _standard_nodes(size, count):
    """Quasi-random nodes of a standard multivariate t law, and its log-density at them."""
    u = scipy.stats.qmc.Sobol(size + 1, rng=0).random(count)
    z = special.ndtri(np.clip(u[:, 1:], 1e-12, 1 - 1e-12))
    t = z / np.sqrt(2 * special.gammaincinv(TAIL / 2, np.clip(u[:, :1], 1e-12, 1)) / TAIL)
    return t, -(TAIL + size) / 2 * np.log1p((t**2).sum(axis=1) / TAIL)


def draw(nu, rng):
    """Dirichlet draws for parameters on the last axis; tiny ones do not underflow to 0 / 0."""
    # gamma(nu) = gamma(nu + 1) u^(1/nu), whose logarithm stays finite.
    log_g = np.log(rng.standard_gamma(nu + 1)) - rng.standard_exponential(nu.shape) / nu
    g = np.exp(log_g - log_g.max(axis=-1, keepdims=True))
    return g / g.sum(axis=-1, keepdims=True)

r"""The zero-inflated beta-binomial model: some questions are impossible, the rest are a beta.

With chance w a question has p = 0, else p is a draw from Beta(a, b):

.. math:: P(s \mid n) = w [s = 0] + (1 - w) \binom{n}{s} \frac{B(a + s, b + n - s)}{B(a, b)}.

Built on the likelihood, the hyperprior and the grid of `betabinomial`; w is uniform on [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from bayeval import betabinomial as bb
from bayeval._bent import mean_pass_at_k
from bayeval._gammas import log_failure
from bayeval._grid import adaptive_grid
from bayeval._pairs import Pairs

# Where the maximum over (log a, log b) is looked for, and where the first fits are.
LOG_BOX = -14.0, 14.0
START_BOX = 1e-4, 1e4


@dataclass(frozen=True)
class Counts:
    """The distinct counts of one model, split by whether there was a success.

    Attributes
    ----------
    s, f, count : ndarray, shape (U,)
        Successes, failures and number of questions, for questions with a success.
    n0, count0 : ndarray, shape (V,)
        Attempts and number of questions, for questions without.
    """

    s: np.ndarray
    f: np.ndarray
    count: np.ndarray
    n0: np.ndarray
    count0: np.ndarray

    @classmethod
    def of(cls, s, n):
        (s, n), count = np.unique(np.stack([s, n]), axis=1, return_counts=True)
        solved = s > 0
        return cls(s[solved], (n - s)[solved], count[solved], n[~solved], count[~solved])

    @property
    def total(self):
        return self.count.sum() + self.count0.sum()


# -- maximum likelihood ---------------------------------------------------------------------


@dataclass(frozen=True)
class ZeroInflatedFit:
    """Maximum-likelihood fit: share of impossible questions, and the beta of the others."""

    impossible: float
    rest: bb.Fit
    loglik: float

    def pass_at_k(self, k):
        """Pass@k of a new question; `k` a number or an array."""
        return (1 - self.impossible) * self.rest.pass_at_k(k)


def mle(s, n):
    """Maximum-likelihood zero-inflated fit to the counts of one model, shape (M,).

    For given (a, b) the likelihood is concave in w. It is climbed in (log a, log b) from the fit
    without inflation, and from fits with a half and with all of the unsolved questions taken for
    impossible; the best wins. Where inflation gains nothing the fit is that without it.

    Examples
    --------
    >>> fit = mle([0] * 50 + [3, 5, 7, 4, 6, 5, 2, 8, 5, 5], 10)
    >>> round(fit.impossible, 3)
    0.833
    """
    s, n = np.broadcast_arrays(np.asarray(s), np.asarray(n))
    plain = bb.mle(s, n)
    counts = Counts.of(s, n)
    best = ZeroInflatedFit(0.0, plain, plain.loglik)
    if not len(counts.s) or not len(counts.n0):
        return best
    x = np.concatenate([counts.s, 0 * counts.n0]).astype(float)
    y = np.concatenate([counts.f, counts.n0]).astype(float)
    c = np.concatenate([counts.count, counts.count0])
    unsolved = x == 0

    def loss(parameters):
        """Minus the log-likelihood at the best w, and its gradient."""
        a, b = np.exp(parameters)
        log_p = bb.logpmf(x, x + y, a, b)
        z = np.exp(log_p[unsolved])
        w = _best_share(z, counts)
        mixed = w + (1 - w) * z
        value = (c[~unsolved] @ (log_p[~unsolved] + np.log1p(-w)) + counts.count0 @ np.log(mixed))
        # At the best w only the direct dependence on (a, b) is left.
        weight = c.astype(float)
        weight[unsolved] *= (1 - w) * z / mixed
        both = special.psi(a + b + x + y) - special.psi(a + b)
        slope = np.array([a * (weight @ (special.psi(a + x) - special.psi(a) - both)),
                          b * (weight @ (special.psi(b + y) - special.psi(b) - both))])
        return -value, -slope

    for weight in (1.0, 0.5, 0.0):
        start = bb.mle(s, n, weights=np.where(s > 0, 1.0, weight), bounds=START_BOX)
        fit = scipy.optimize.minimize(loss, np.log([start.a, start.b]), jac=True, method="L-BFGS-B",
                                bounds=[LOG_BOX] * 2, options={"ftol": 1e-13, "gtol": 1e-8})
        if -fit.fun > best.loglik + 1e-9:
            a, b = np.exp(fit.x)
            share = _best_share(np.exp(log_failure(a, b, counts.n0.astype(float))), counts)
            loglik = -float(fit.fun)
            best = ZeroInflatedFit(float(share), bb.Fit(float(a / (a + b)), float(a + b), loglik),
                                   loglik)
    return best


def _best_share(z, counts):
    """The w that maximizes the likelihood for given chances z of no success."""
    c, solved = counts.count0, counts.count.sum()

    def slope(w):
        with np.errstate(over="ignore"):  # infinite is as good as huge
            return c @ ((1 - z) / (w + (1 - w) * z)) - solved / (1 - w)

    if z.min() > 0 and slope(0.0) <= 0:
        return 0.0
    if len(z) == 1:
        share = c[0] / (c[0] + solved)
        return (share - z[0]) / (1 - z[0])
    # The slope falls from above 0 to minus infinity.
    return scipy.optimize.brentq(slope, 1e-300, 1 - 1e-12)


# -- the posterior --------------------------------------------------------------------------


@dataclass(frozen=True)
class ZeroInflatedQuadrature:
    """Posterior of (a, b, w) of one model as weighted nodes.

    Attributes
    ----------
    grid : betabinomial.Quadrature
        Nodes and weights of (a, b), with w integrated out; one model.
    share : ndarray, shape (W,)
        Nodes of w.
    share_weights : ndarray, shape (J, I, W)
        Posterior weights of w at every node of (a, b); they sum to 1 over the last axis.
    s, n : ndarray, shape (M,)
        Successes and attempts.
    counts : Counts
        The same.
    plain : float
        Marginal likelihood of the model without inflation, in units of that of this model.
    """

    grid: bb.Quadrature
    share: np.ndarray
    share_weights: np.ndarray
    s: np.ndarray
    n: np.ndarray
    counts: Counts
    plain: float

    def impossible(self):
        """Posterior mean of the share of impossible questions."""
        return float((self.grid.weights[0] * (self.share_weights @ self.share)).sum())

    def pass_at_k(self, k):
        """Pass@k on these questions: `BetaMixture`, shape (K, C)."""
        a, b, c = self.grid.a[0], self.grid.b[0], self.counts
        k = np.asarray(k, dtype=float)[:, None, None]
        mean = var = 0.0
        for s, f, count in zip(c.s, c.f, c.count):
            first, second = _failure(a + s, b + f, k), _failure(a + s, b + f, 2 * k)
            mean = mean + count * (1 - first)
            var = var + count * (second - first * first)
        # Given w the questions are independent; w itself adds the variance of the mean.
        spread = np.zeros(self.share_weights.shape)
        unsolved_mean = unsolved_square = 0.0
        for n, count in zip(c.n0, c.count0):
            zero = np.exp(log_failure(a, b, float(n)))[..., None]
            possible = (1 - self.share) * zero / (self.share + (1 - self.share) * zero)
            first, second = _failure(a, b + n, k), _failure(a, b + n, 2 * k)
            hit, hit2 = 1 - first, 1 - 2 * first + second
            q1, q2 = ((self.share_weights * possible**j).sum(-1) for j in (1, 2))
            mean = mean + count * q1 * hit
            var = var + count * (q1 * hit2 - q2 * hit * hit)
            unsolved_mean = unsolved_mean + count * q1 * hit
            if len(c.n0) == 1:
                unsolved_square = count**2 * q2 * hit * hit
            else:
                spread = spread + count * possible * hit[..., None]
        if len(c.n0) > 1:
            unsolved_square = (self.share_weights * spread**2).sum(-1)
        var = var + np.maximum(unsolved_square - unsolved_mean**2, 0)
        return self._mixture(mean / c.total, np.maximum(var, 0) / c.total**2)

    def population_pass_at_k(self, k):
        """Mean Pass@k of the population."""
        k = np.asarray(k, dtype=float)[:, None, None]
        hit = -np.expm1(log_failure(self.grid.a[0], self.grid.b[0], k))
        q1, q2 = (self.share_weights @ (1 - self.share)**j for j in (1, 2))
        return self._mixture(q1 * hit, np.maximum(q2 - q1 * q1, 0) * hit * hit)

    def _mixture(self, mean, var):
        mixture = self.grid.mixture(mean[:, None], var[:, None])
        return bb.BetaMixture(*(x[0] for x in (mixture.weights, mixture.a, mixture.b)))

    def draws(self, k, size, rng, *, population=False):
        """Draws of Pass@k, shape (K, size)."""
        node = rng.choice(self.grid.weights.size, size, p=self.grid.weights.ravel())
        a, b = self.grid.a.ravel()[node], self.grid.b.ravel()[node]
        edges = np.cumsum(self.share_weights.reshape(-1, len(self.share))[node], axis=1)
        w = self.share[(edges < rng.random((size, 1)) * edges[:, -1:]).sum(axis=1)]
        if population:
            return (1 - w) * -np.expm1(log_failure(a, b, k[:, None]))
        a, b, w = a[:, None], b[:, None], w[:, None]
        p = rng.beta(a + self.s, b + (self.n - self.s))
        unsolved = self.s == 0
        n0, back = np.unique(self.n[unsolved], return_inverse=True)
        zero = (1 - w) * np.exp(log_failure(a, b, n0.astype(float)))[:, back]
        p[:, unsolved] *= rng.random(zero.shape) * (w + zero) < zero
        return mean_pass_at_k(p, k)


def _failure(a, b, k):
    return np.exp(log_failure(a, b, k))


def quadrature(s, n, *, hyperprior=bb.HYPERPRIOR, refine=1):
    """Posterior of (a, b, w) for the counts of one model, shape (M,).

    In w the likelihood is a polynomial of degree M, which Gauss-Legendre nodes as dense as its
    narrowest peak, of width 1/sqrt(M) in the angle, integrate to rounding.

    Returns
    -------
    ZeroInflatedQuadrature

    Examples
    --------
    >>> q = quadrature([0] * 50 + [3, 5, 7, 4, 6, 5, 2, 8, 5, 5], 10)
    >>> round(q.impossible(), 2)
    0.82
    """
    s, n = np.broadcast_arrays(np.asarray(s), np.asarray(n))
    counts = Counts.of(s, n)
    nodes = 12 + int(3.5 * np.sqrt(counts.total)) * refine
    share, weight = special.roots_legendre(nodes)
    share, weight = (share + 1) / 2, weight / 2
    solved = counts.count.sum() * np.log1p(-share)
    pairs = Pairs.of(counts.s, counts.s + counts.f, counts.count) if len(counts.s) else None

    def over_share(a, b):
        """Log-likelihood at every node of w."""
        out = np.broadcast_to(np.log(weight) + solved, (*a.shape, nodes)).copy()
        for n0, count in zip(counts.n0, counts.count0):
            zero = np.exp(log_failure(a, b, float(n0)))[..., None]
            out += count * np.log(share + (1 - share) * zero)
        return out

    def target(eta, lam):
        log_a, log_b = lam + special.log_expit(eta), lam + special.log_expit(-eta)
        a, b = np.exp(log_a), np.exp(log_b)
        solved = pairs.loglik(log_a, log_b, lam) if pairs else 0.0
        return (special.logsumexp(over_share(a, b), axis=-1) + solved
                + hyperprior.logpdf(log_a, log_b))

    eta, lam, weights = adaptive_grid(target, *(np.array(bb.SIZE) * refine + 1))
    grid = bb.Quadrature(eta, lam, weights, Pairs.of(s, n))
    by_share = over_share(grid.a[0], grid.b[0])
    # The model without inflation is the point w = 0 of this one, and w is uniform: the ratio of
    # their evidences is the posterior density at that point (Dickey 1971).
    at_zero = sum(count * log_failure(grid.a[0], grid.b[0], float(n0))
                  for n0, count in zip(counts.n0, counts.count0))
    density = np.exp(at_zero - special.logsumexp(by_share, axis=-1))
    return ZeroInflatedQuadrature(grid, share, special.softmax(by_share, axis=-1), s, n,
                                  counts, float((weights[0] * density).sum()))

r"""The beta-binomial model: likelihood, maximum likelihood and quadrature posterior.

Question m was attempted n_m times with s_m successes. Its success chance p_m is a draw from
Beta(a, b), so that

.. math:: P(s \mid n, a, b) = \binom{n}{s} \frac{B(a + s, b + n - s)}{B(a, b)}.

Everything here works on arrays of counts, shape (M,) for one model or (L, M) for L models, and
computes on the distinct (s, n) pairs with their multiplicities: a million questions cost no
more than the few thousand pairs they fall into.

The posterior of (a, b) is integrated on a grid in the logit mean :math:`\eta = \log(a / b)` and
the log concentration :math:`\lambda = \log(a + b)`. The map from (log a, log b) has Jacobian 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayeval import _validate as check
from bayeval._gammas import deviance, log_choose, log_failure, log_rising, stirling
from bayeval._grid import adaptive_grid
from bayeval._pairs import Pairs
from bayeval.mixture import BetaMixture

# Rows (lambda) and columns (eta) of the final grid, less one.
SIZE = 24, 64
# Components of a mixture lighter than this share of the average one are dropped.
LIGHT = 1e-7


# -- the likelihood -------------------------------------------------------------------------


def logpmf(s, n, a, b):
    r"""Log-probability of s successes in n attempts when p ~ Beta(a, b).

    Written as a sum of four deviances, which are differences that cannot cancel, and of
    Stirling remainders. The error is below 1e-12 max(1, \|logpmf\|) for n to 1e6 and a, b from
    1e-4 to 1e7, where the difference of two log-beta functions loses nine digits.

    Parameters
    ----------
    s, n : array_like of int
        Successes and attempts, 0 <= s <= n.
    a, b : array_like of float
        Parameters, positive and finite. All four are broadcast.

    Returns
    -------
    float or ndarray
        Minus infinity outside s = 0, 1, ..., n.

    Raises
    ------
    ValueError
        If `a` or `b` is not positive and finite, or `s` or `n` is missing.

    Examples
    --------
    >>> round(float(logpmf(2, 4, 1, 1)), 6)     # uniform on 0..4
    -1.609438
    """
    s, n, a, b = (check.reals(name, x) for name, x in zip("snab", (s, n, a, b)))
    for name, x in (("a", a), ("b", b)):
        if not (np.isfinite(x) & (x > 0)).all():
            raise ValueError(f"{name} must be positive and finite; found {x}")
    if np.isnan(s).any() or not (np.isfinite(n) & (n >= 0)).all():
        raise ValueError("s and n must be counts; found NaN, or n negative or infinite")
    f, t = n - s, a + b
    inside = (s >= 0) & (f >= 0) & (s == np.rint(s)) & (n == np.rint(n))
    s, f = np.where(inside, s, 0), np.where(inside, f, 0)
    n = s + f
    # Expected a, b, s, f when both parts share the pooled proportion (a + s) / (t + n).
    gap = (a * f - b * s) / (t + n)
    r, q = (a + s) / (t + n), (b + f) / (t + n)
    loss = (deviance(a, t * r, gap) + deviance(b, t * q, -gap)
            + deviance(s, n * r, -gap) + deviance(f, n * q, gap))
    g = stirling
    remainder = (g(n) - g(s) - g(f)) + (g(a + s) + g(b + f) - g(t + n)) - (g(a) + g(b) - g(t))
    ratio = np.log1p(n / t) - np.log1p(s / a) - np.log1p(f / b)
    out = np.where(inside, remainder - loss + ratio, -np.inf)
    return out[()]


def _numbers_of_attempts(k):
    k = check.reals("k", k)
    if k.ndim > 1 or not (np.isfinite(k) & (k >= 0)).all():
        raise ValueError(f"k must be a number of attempts >= 0, or a list of them; found {k}")
    return k


# -- maximum likelihood ---------------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A maximum-likelihood beta-binomial fit.

    Attributes
    ----------
    mean : float
        a / (a + b).
    concentration : float
        a + b. Infinite if the questions vary less than binomial chance would make them; 0 if
        every question was always right or always wrong. Where the counts say nothing about it
        (no success, no failure, or one attempt each) it is that of the start.
    loglik : float
        Log-likelihood at the fit, or its limit, with the binomial coefficients.
    """

    mean: float
    concentration: float
    loglik: float

    @property
    def a(self):
        return self.mean * self.concentration if self.mean else 0.0

    @property
    def b(self):
        return (1 - self.mean) * self.concentration if self.mean < 1 else 0.0

    def pass_at_k(self, k):
        """Pass@k of a new question, 1 - E(1 - p)^k; `k` a number or an array."""
        k = _numbers_of_attempts(k)
        if self.mean in (0, 1) or self.concentration == 0:
            return np.full(k.shape, self.mean)[()]
        if np.isinf(self.concentration):
            return -np.expm1(k * np.log1p(-self.mean))[()]
        return -np.expm1(log_failure(self.a, self.b, k))[()]


def mle(s, n, *, weights=None, bounds=None, start=(0.5, 3.5)):
    r"""Maximum-likelihood beta-binomial fit to the counts of one model.

    Newton's method in (log a, log b) on the distinct values, with a trust region and, in a box,
    an active set.

    Parameters
    ----------
    s, n : array_like of int, shape (M,)
        Successes and attempts of every question.
    weights : array_like of float, shape (M,), optional
        How often each question counts.
    bounds : (float, float), optional
        Box for both a and b. The published setting is ``(0.01, 100)``. Free by default; the
        likelihood may then have its supremum at a limit: see `Fit`.
    start : (float, float), default (0.5, 3.5)
        First values of (a, b), those of the published setting.

    Returns
    -------
    Fit

    Raises
    ------
    ValueError
        If the counts do not fit each other, or bounds, start or weights are no such.

    Examples
    --------
    >>> fit = mle([0, 1, 4, 0], 4)
    >>> round(fit.a, 3), round(fit.b, 3)
    (0.157, 0.295)
    >>> mle([2, 2, 2, 2], 4).concentration       # less spread than coin flips
    inf
    """
    pairs = Pairs.of(s, n, weights)
    if len(pairs.count) > 1:
        raise ValueError(f"s must have shape (M,): one model; found {len(pairs.count)} models")
    for name, pair in (("bounds", bounds), ("start", start)):
        if pair is not None and not (np.shape(pair) == (2,) and min(pair) > 0
                                     and max(pair) < np.inf):
            raise ValueError(f"{name} must be two positive numbers; found {pair!r}")
    if bounds and not bounds[0] < bounds[1]:
        raise ValueError(f"bounds must be (low, high) with low < high; found {bounds!r}")
    s, n, w = pairs.s.astype(float), pairs.n.astype(float), pairs.count[0]
    limit = None if bounds else _limit(s, n, w, start)
    if limit is not None:
        return Fit(*limit[:2], float(w @ log_choose(s, n - s) + limit[2]))
    low, high = np.log(bounds) if bounds else (-30.0, 40.0)
    a, b = np.exp(_newton(pairs, np.log(start[0]), np.log(start[1]), low, high))
    return Fit(float(a / (a + b)), float(a + b), float(w @ logpmf(s, n, a, b)))


def _limit(s, n, w, start):
    """(mean, concentration, log-likelihood) where no finite (a, b) is best, else None."""
    right, tries, f = w @ s, w @ n, n - s
    mean = right / tries if tries else start[0] / sum(start)
    binomial = float(w @ (special.xlogy(s, mean) + special.xlogy(f, 1 - mean)))
    if right == 0 or right == tries or n.max() <= 1:
        return mean, sum(start), binomial
    if not (s * f).any():
        # As a + b -> 0 a question is right for good with chance a / (a + b).
        seen = w * (n > 0)
        mean = seen @ (s > 0) / seen.sum()
        hits = seen @ (s > 0)
        return mean, 0.0, float(hits * np.log(mean) + (seen.sum() - hits) * np.log1p(-mean))
    # Tarone's score: the slope in 1 / (a + b) at binomial counts. The profile has one mode.
    slope = w @ (s * (s - 1) / mean + f * (f - 1) / (1 - mean) - n * (n - 1))
    return None if slope > 0 else (mean, np.inf, binomial)


def _newton(pairs, u, v, low, high):
    """Maximise the log-likelihood over low <= u = log a, v = log b <= high."""
    parts = [(values, counts[0]) for values, counts in
             (pairs.successes, pairs.failures, pairs.attempts)]

    def value(u, v):
        x = np.exp(u), np.exp(v), np.exp(u) + np.exp(v)
        return sum(sign * (c @ (special.gammaln(y + k) - special.gammaln(y)))
                   for sign, y, (k, c) in zip((1, 1, -1), x, parts))

    u, v = np.clip((u, v), low, high)
    best = value(u, v)
    radius = 2.0
    for _ in range(200):
        a, b = np.exp(u), np.exp(v)
        (a1, a2), (b1, b2), (t1, t2) = (
            (c @ (special.psi(y + k) - special.psi(y)),
             c @ (special.zeta(2, y + k) - special.zeta(2, y)))
            for y, (k, c) in zip((a, b, a + b), parts))
        gu, gv = a * (a1 - t1), b * (b1 - t1)
        huu, hvv, huv = gu + a * a * (a2 - t2), gv + b * b * (b2 - t2), -a * b * t2
        fixed_u = (u <= low and gu < 0) or (u >= high and gu > 0)
        fixed_v = (v <= low and gv < 0) or (v >= high and gv > 0)
        du, dv = _ascent(gu * (not fixed_u), gv * (not fixed_v), huu, hvv,
                         huv * (not (fixed_u or fixed_v)))
        size = np.hypot(du, dv)
        if size < 1e-10:
            break
        shrink = min(1.0, radius / size)
        while True:
            nu, nv = np.clip((u + shrink * du, v + shrink * dv), low, high)
            new = value(nu, nv)
            if new >= best - 1e-13 * abs(best) or shrink < 1e-9:
                break
            shrink /= 4
        moved = np.hypot(nu - u, nv - v)
        u, v, best = nu, nv, max(best, new)
        if moved < 1e-9:
            break
    return u, v


def _ascent(gu, gv, huu, hvv, huv):
    """Newton's step for a maximum; directions of wrong curvature are climbed instead."""
    mid, half = (huu + hvv) / 2, np.hypot((huu - hvv) / 2, huv)
    angle = np.arctan2(2 * huv, huu - hvv) / 2
    c, s = np.cos(angle), np.sin(angle)
    floor = 1e-12 * (abs(mid) + half) + 1e-300
    along = (c * gu + s * gv) / max(abs(mid + half), floor)
    across = (c * gv - s * gu) / max(abs(mid - half), floor)
    return c * along - s * across, s * along + c * across


# -- the hyperprior -------------------------------------------------------------------------


@dataclass(frozen=True)
class Hyperprior:
    """log a and log b are independent Normal(0, sd).

    Parameters
    ----------
    sd : float, default 2
        Standard deviation of either logarithm.
    """

    sd: float = 2.0

    def logpdf(self, log_a, log_b):
        """Log-density of (log a, log b), up to a constant."""
        return (log_a * log_a + log_b * log_b) * (-0.5 / self.sd**2)


#: The hyperprior of every learned prior in the package: scores, rankings and forecasts.
HYPERPRIOR = Hyperprior()


# -- the posterior --------------------------------------------------------------------------


@dataclass(frozen=True)
class Quadrature:
    """Posterior of (a, b) of each model as weighted nodes, and what follows from it.

    Attributes
    ----------
    eta, lam : ndarray, shape (L, J, I) and (L, J)
        Nodes: logit mean and log concentration. Every lambda has its own range of eta.
    weights : ndarray, shape (L, J, I)
        Posterior weights, which sum to 1 for each model.
    single : bool
        One model was given as (M,): results drop the model axis.
    """

    eta: np.ndarray
    lam: np.ndarray
    weights: np.ndarray
    pairs: Pairs
    single: bool = False

    @property
    def a(self):
        return np.exp(self.lam[..., None] + special.log_expit(self.eta))

    @property
    def b(self):
        return np.exp(self.lam[..., None] + special.log_expit(-self.eta))

    def score(self):
        """Mean success chance of these M questions: `BetaMixture`, shape (L, C).

        Given (a, b), a mean over questions has its exact mean and variance and is taken for a
        beta. A 95% interval then holds 93.4% to 95% of the posterior: least for two questions,
        or where most questions are always or never right.
        """
        a, b = self.a, self.b
        t = a + b
        s, f, n, count = self.pairs.s, self.pairs.n - self.pairs.s, self.pairs.n, self.pairs.count
        mean = var = 0.0
        for value in np.unique(n):
            at = n == value
            c = count[:, at]
            m, ss, ff, sf = ((c @ x[at].astype(float))[:, None, None]
                             for x in (np.ones_like(s), s, f, s * f))
            mean = mean + (m * a + ss) / (t + value)
            var = var + (m * a * b + a * ff + b * ss + sf) / ((t + value) ** 2 * (t + value + 1))
        questions = count.sum(1)[:, None, None]
        return self.mixture(mean / questions, var / questions**2)

    def pass_at_k(self, k):
        """Pass@k on these questions: shape (L, C), or (L, K, C) for `k` of shape (K,)."""
        q, q2 = self._failure_moments(k, self.a, self.b, self.pairs.s,
                                      self.pairs.n - self.pairs.s)
        return self.mixture(1 - q, q2)

    def pass_hat_k(self, k):
        """Pass^k on these questions."""
        q, q2 = self._failure_moments(k, self.b, self.a, self.pairs.n - self.pairs.s,
                                      self.pairs.s)
        return self.mixture(q, q2)

    def population(self):
        """Mean success chance of the population that the questions were drawn from."""
        mean = special.expit(self.eta)
        return self.mixture(mean, np.zeros_like(mean))

    def population_pass_at_k(self, k):
        """Mean Pass@k of the population."""
        k = _numbers_of_attempts(k)[..., None, None, None]
        mean = -np.expm1(log_failure(self.a, self.b, k))
        return self.mixture(mean, np.zeros_like(mean))

    def population_pass_hat_k(self, k):
        """Mean Pass^k of the population."""
        k = _numbers_of_attempts(k)[..., None, None, None]
        mean = np.exp(log_failure(self.b, self.a, k))
        return self.mixture(mean, np.zeros_like(mean))

    def _failure_moments(self, k, a, b, s, f):
        """Mean and variance over nodes of the questions' mean (1 - p)^k, (K, L, J, I)."""
        k = _numbers_of_attempts(k)[..., None, None, None]
        mean = var = 0.0
        # Several pairs at once, as long as what is computed stays in the processor's cache.
        step = max(1, (1 << 14) // (k.size * a.size))
        for start in range(0, len(s), step):
            at = slice(start, start + step)
            s_u, f_u = (x[at].reshape(-1, *[1] * (k.ndim or 3)) for x in (s, f))
            top = log_rising(b + f_u, a + s_u)
            first = np.exp(top - log_rising(b + f_u + k, a + s_u))
            second = np.exp(top - log_rising(b + f_u + 2 * k, a + s_u))
            count = self.pairs.count[:, at].T
            mean = mean + np.einsum("ul,u...lji->...lji", count, first)
            var = var + np.einsum("ul,u...lji->...lji", count, second - first * first)
        questions = self.pairs.count.sum(1)[:, None, None]
        return mean / questions, np.maximum(var, 0) / questions**2

    def mixture(self, mean, var):
        """Blend neighboring nodes of one lambda: smooth pieces with exact mean and variance."""
        # Moments are taken about the mean of the row, lest the second one cancel.
        center = ((self.weights * mean).sum(-1, keepdims=True)
                  / self.weights.sum(-1, keepdims=True))
        offset = mean - center
        w = _blend(self.weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            m = _blend(self.weights * offset) / w
            v = _blend(self.weights * (var + offset * offset)) / w - m * m
        live = w > LIGHT / w[0].size
        m, v = np.where(live, m + center, 0.5), np.where(live, v, 0.01)
        w = np.broadcast_to(w * live, m.shape)
        w, m, v = (x.reshape(*x.shape[:-2], -1) for x in (w, m, v))
        w = w / w.sum(-1, keepdims=True)
        if m.ndim == 3:                       # (K, L, C) -> (L, K, C)
            w, m, v = (np.swapaxes(x, 0, 1) for x in (w, m, v))
        if self.single:
            w, m, v = w[0], m[0], v[0]
        return BetaMixture.matching(w, m, v)


def _blend(x):
    """Share every node out among the piece at it and its neighbors: a quadratic B-spline."""
    out = np.zeros((*x.shape[:-1], x.shape[-1] + 2))
    for start, share in ((0, 0.125), (1, 0.75), (2, 0.125)):
        out[..., start:start + x.shape[-1]] += share * x
    return out


def quadrature(s, n, *, hyperprior=HYPERPRIOR, refine=1):
    """Posterior of the beta-binomial parameters of each model by adaptive quadrature.

    A coarse grid, common to all models, finds the region that holds all but about 1e-8 of each
    posterior; the region is narrowed until it is resolved, and then covered by the final grid.

    Parameters
    ----------
    s, n : array_like of int, shape (M,) or (L, M)
        Successes and attempts; `n` is broadcast. Attempts may be unequal, and 0.
    hyperprior : object with ``logpdf(log_a, log_b)``
        Prior of the parameters; the default is that of the whole package.
    refine : int, default 1
        Factor on the number of nodes in each direction, to check the grid against a finer one.

    Returns
    -------
    Quadrature

    Raises
    ------
    ValueError
        If `s` or `n` are no counts, do not fit each other, or s exceeds n somewhere.

    Notes
    -----
    With `refine` = 4 the quantiles of the score and of the population move by 1e-4 at most.
    Those of Pass@k may move by 0.01 where there was one attempt at each question: nothing but
    the hyperprior speaks of a + b there.

    Examples
    --------
    >>> q = quadrature([0, 1, 4, 0, 2], 4)
    >>> score = q.score()
    >>> round(float(score.mean), 3), score.ppf([0.025, 0.975]).round(2)
    (0.352, array([0.2 , 0.52]))
    """
    refine = check.whole("refine", refine)
    pairs = Pairs.of(s, n)
    single = np.ndim(s) < 2 and np.ndim(n) < 2

    def target(eta, lam):
        log_a = lam - np.log1p(np.exp(-eta))
        log_b = log_a - eta
        return pairs.loglik(log_a, log_b, lam) + hyperprior.logpdf(log_a, log_b)

    eta, lam, weights = adaptive_grid(target, *(np.array(SIZE) * refine + 1))
    return Quadrature(eta, lam, weights, pairs, single)

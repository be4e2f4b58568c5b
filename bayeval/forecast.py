"""Pass@k beyond the attempts made: forecasts from counts, and how far to trust them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import special

from bayeval import _baselines, _zeroinflated
from bayeval import _validate as check
from bayeval import betabinomial as bb
from bayeval.distribution import Estimate, Interval, Law

#: The published box of the beta-binomial fit, for both parameters.
BOX = (0.01, 100.0)
# Warn below this many questions with a success, and beyond this multiple of the attempts.
FEW_SOLVED = 5
FAR = 100
# Random values held at once while drawing.
CHUNK = 1 << 22

POSTERIOR_METHODS = ("bayes", "zero-inflated", "averaged")
_POINT_METHODS = {
    "mle": lambda s, n, k: bb.mle(s, n).pass_at_k(k),
    "mle-boxed": lambda s, n, k: bb.mle(s, n, bounds=BOX, start=(0.5, 3.5)).pass_at_k(k),
    "zero-inflated-mle": lambda s, n, k: _zeroinflated.mle(s, n).pass_at_k(k),
    "discretized-beta": _baselines.discretized_beta,
    "discretized-beta-matched":
        lambda s, n, k: _baselines.discretized_beta(s, n, k, matched=True),
    "power-law": _baselines.power_law,
    "plug-in": _baselines.plug_in,
}
METHODS = POSTERIOR_METHODS + tuple(_POINT_METHODS)


class ForecastWarning(UserWarning):
    """The counts say little about the Pass@k that is asked for."""


def forecast(o, k, *, method="bayes"):
    r"""Forecast of Pass@k for any k, also far beyond the attempts made.

    The default takes every question's success chance for a draw from Beta(a, b), gives (a, b) the
    package's hyperprior, and integrates both out by quadrature.

    Parameters
    ----------
    o : Outcomes
        Binary outcomes of L models on M questions; attempts may be unequal, missing, or stopped
        at a success.
    k : int or array_like of int, shape (K,)
        Attempts allowed, up to 1e9.
    method : str, default "bayes"
        With intervals and draws, and telling these questions from new ones:

        - ``"bayes"``: the beta-binomial model;
        - ``"zero-inflated"``: a share of the questions, uniform on [0, 1] a priori, is
          impossible;
        - ``"averaged"``: both models, weighted by their marginal likelihoods.

        Point forecasts:

        - ``"mle"``: maximum-likelihood beta-binomial; ``"zero-inflated-mle"``: the same with
          impossible questions;
        - ``"mle-boxed"``: the published setting, with a and b in [0.01, 100] and the start
          (0.5, 3.5);
        - ``"discretized-beta"``: a scaled beta law fitted to the histogram of s/n on the
          published grid; ``"discretized-beta-matched"``: on a grid that fits n;
        - ``"power-law"``: least squares of -log Pass@j on log j, as published;
        - ``"plug-in"``: 1 - mean (1 - s/n)^k.

    Returns
    -------
    Forecast
        Scalars for a single model and k; else shape (L,), (K,) or (L, K).

    Warns
    -----
    ForecastWarning
        If fewer than 5 questions have a success, or k is beyond 100 times the attempts at the
        questions without one. The numbers are named.

    Raises
    ------
    ValueError
        If `o` is not binary, `k` is not a whole number from 1 to 1e9, `method` is unknown, or
        the method needs more attempts than a question has.

    Notes
    -----
    The fits by maximum likelihood forecast the expectation for a new question,
    :math:`1 - B(a, b + k) / B(a, b)`, and use it for these questions too, as published. So do
    the other point forecasts except the plug-in, which is about these questions only.

    Sampling that stops at a success (best-of-N attacks) leaves the likelihood
    :math:`p^s (1 - p)^{n - s}` as it is, so every beta-binomial forecast holds. The rate s/n is
    biased upwards there, and with it the plug-in and the discretized beta; so are the unbiased
    Pass@j behind the power law.

    References
    ----------
    Kazdan et al. (2025), arXiv:2510.05197, for the beta-binomial fit and its settings.
    Schaeffer et al. (2025), arXiv:2502.17578, for the discretized beta.
    Brown et al. (2024), arXiv:2407.21787, for the power law.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([0, 0, 1, 0, 9, 0, 2, 1, 0, 4], 10)
    >>> f = bv.forecast(o, [10, 100])
    >>> f.mean.round(1)
    array([0.5, 0.7])
    >>> f.interval(0.9).low.round(1)
    array([0.4, 0.5])
    >>> bv.forecast(o, [10, 100], method="mle").mean.round(3)
    array([0.48 , 0.705])
    """
    check.outcomes("o", o)
    s, n = o.successes, o.n_trials
    ks = check.attempts("k", k)
    if ks.max() > 10**9:
        raise ValueError(f"k must be at most 1e9; found {ks.max()}")
    check.choice("method", method, METHODS)
    _warn(o, s, n, ks.max())
    if method in _POINT_METHODS:
        point = _POINT_METHODS[method]
        rows = [point(s_l, n_l, np.atleast_1d(ks).astype(float))
                for s_l, n_l in zip(s, n, strict=True)]
        mean = _shape(o, ks, np.array(rows))
        return Forecast(mean=mean, sd=np.full(np.shape(mean), np.nan)[()], laws=None, sampler=None,
                        models=o.models, k=ks[()], method=method)
    return _from_posterior(o, ks, method, _posteriors(s, n, method))


@dataclass(frozen=True, eq=False)
class Forecast(Estimate):
    """Forecast of Pass@k; made by `forecast`.

    Attributes
    ----------
    mean, sd : float or ndarray
        Scalars for a single model and k; else shape (L,), (K,) or (L, K). `sd` is NaN for a
        point forecast.
    models : tuple
    k : int or ndarray
        As asked for.
    method : str
    """

    k: int | np.ndarray = 1
    method: str = "bayes"
    mixture: bb.BetaMixture | None = field(default=None, repr=False)
    other: callable = field(default=None, repr=False)

    @cached_property
    def population(self):
        """The same forecast for the population of questions these were drawn from.

        A point forecast is its own: it does not tell the two apart.
        """
        return self.other() if self.other else self

    def interval(self, probability=0.95, *, kind="equal-tailed"):
        """Credible interval.

        Parameters
        ----------
        probability : float, default 0.95
        kind : {"equal-tailed", "hdi", "normal"}

        Returns
        -------
        Interval

        Raises
        ------
        ValueError
            If the method makes point forecasts only.

        Examples
        --------
        >>> import bayeval as bv
        >>> f = bv.forecast(bv.Outcomes.from_counts([3, 1, 4, 1, 5], 8), 100)
        >>> i = f.interval(0.9)
        >>> round(i.low, 1), round(i.high, 1), i.kind
        (1.0, 1.0, 'equal-tailed')
        """
        self._needs_posterior("interval")
        probability = check.probability("probability", probability)
        if kind != "equal-tailed":
            return super().interval(probability, kind=kind)
        tail = (1 - probability) / 2
        ends = self.mixture.ppf(np.array([tail, 1 - tail]))
        shape = np.shape(self.mean)
        low, high = (x.reshape(shape) if shape else x.item() for x in (ends[..., 0], ends[..., 1]))
        return Interval(low, high, probability, kind)

    def draws(self, n=1000, *, rng=None):
        """Independent draws; those of different k belong together, so that curves are smooth.

        Parameters
        ----------
        n : int
            Draws.
        rng : optional
            Anything that `numpy.random.default_rng` takes.

        Returns
        -------
        ndarray
            Shape ``mean.shape + (n,)``.

        Raises
        ------
        ValueError
            If the method makes point forecasts only.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_counts([3, 1, 4, 1, 5], 8)
        >>> bv.forecast(o, [10, 100]).draws(500, rng=1).shape
        (2, 500)
        """
        self._needs_posterior("draws")
        return super().draws(n, rng=rng)

    def _needs_posterior(self, what):
        if self.mixture is None:
            raise ValueError(f"method={self.method!r} makes point forecasts without {what}; those "
                             f"with it are {', '.join(map(repr, POSTERIOR_METHODS))}")


# -- the posterior methods ------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """One model of the success chances, fitted to the counts of one language model."""

    probability: float
    fit: bb.Quadrature | _zeroinflated.ZeroInflatedQuadrature
    s: np.ndarray
    n: np.ndarray

    def mixture(self, k, population):
        f = self.fit.population_pass_at_k(k) if population else self.fit.pass_at_k(k)
        return f.weights * self.probability, f.a, f.b

    def draws(self, k, population, size, rng):
        """Draws of Pass@k, shape (K, size)."""
        inflated = isinstance(self.fit, _zeroinflated.ZeroInflatedQuadrature)
        grid = self.fit.grid if inflated else self.fit
        node = rng.choice(grid.weights.size, size, p=grid.weights.ravel())
        a, b = grid.a.ravel()[node], grid.b.ravel()[node]
        impossible = np.zeros(size)
        if inflated:
            edges = np.cumsum(self.fit.share_weights.reshape(-1, len(self.fit.share))[node], axis=1)
            pick = (edges < rng.random((size, 1)) * edges[:, -1:]).sum(axis=1)
            impossible = self.fit.share[pick]
        if population:
            return (1 - impossible) * -np.expm1(bb._log_failure(a, b, k[:, None]))
        p = rng.beta(a[:, None] + self.s, b[:, None] + (self.n - self.s))
        if inflated:
            unsolved = self.s == 0
            n0, back = np.unique(self.n[unsolved], return_inverse=True)
            zero = np.exp(bb._log_failure(a[:, None], b[:, None], n0.astype(float)))[:, back]
            w = impossible[:, None]
            p[:, unsolved] *= rng.random(zero.shape) * (w + (1 - w) * zero) < (1 - w) * zero
        with np.errstate(divide="ignore"):
            log_q = np.log1p(-p)
        return np.stack([-np.expm1(k_i * log_q).mean(axis=1) for k_i in k])


def _posteriors(s, n, method):
    """For every language model the list of its parts."""
    plain = inflated = [None] * len(s)
    if method != "zero-inflated":
        plain = list(_one_by_one(bb.quadrature(s, n), s, n))
    if method != "bayes":
        inflated = [_zeroinflated.quadrature(s_l, n_l) for s_l, n_l in zip(s, n, strict=True)]
    parts = []
    for s_l, n_l, p, z in zip(s, n, plain, inflated, strict=True):
        share = 1.0 if z is None else 0.0 if p is None else z.plain / (1 + z.plain)
        parts.append([_Part(probability, fit, s_l, n_l)
                      for probability, fit in ((share, p), (1 - share, z)) if fit is not None])
    return parts


def _one_by_one(q, s, n):
    """The posterior of several models as one of each, on its own counts."""
    for i in range(len(q.weights)):
        yield bb.Quadrature(q.eta[i:i + 1], q.lam[i:i + 1], q.weights[i:i + 1],
                            bb._Pairs.of(s[i], n[i]))


def _from_posterior(o, k, method, posteriors, population=False):
    ks = np.atleast_1d(k).astype(float)
    rows = []
    for parts in posteriors:
        pieces = [part.mixture(ks, population) for part in parts]
        rows.append([np.concatenate([x.reshape(len(ks), -1) for x in piece], axis=-1)
                     for piece in zip(*pieces, strict=True)])
    mixture = bb.BetaMixture(*(_stack(x, mode) for x, mode in zip(
        zip(*rows, strict=True), ("constant", "edge", "edge"), strict=True)))

    def sampler(size, rng):
        out = np.empty((len(posteriors), len(ks), size))
        step = max(1, CHUNK // o.n_questions)
        for row, parts in zip(out, posteriors, strict=True):
            split = rng.multinomial(size, [part.probability for part in parts])
            blocks = [part.draws(ks, population, min(step, count - start), rng)
                      for part, count in zip(parts, split, strict=True)
                      for start in range(0, count, step)]
            row[:] = rng.permutation(np.concatenate(blocks, axis=1), axis=1)
        return o.per_model(out if k.ndim else out[:, 0])

    def other():
        return _from_posterior(o, k, method, posteriors, population=True)

    return Forecast(mean=_shape(o, k, mixture.mean), sd=_shape(o, k, mixture.sd),
                    laws=lambda: _laws(mixture), sampler=sampler, models=o.models,
                    k=k[()], method=method, mixture=mixture, other=None if population else other)


def _stack(rows, mode):
    """Stack arrays of shape (K, C) with different C, padded at the end."""
    width = max(x.shape[-1] for x in rows)
    return np.stack([np.pad(x, ((0, 0), (0, width - x.shape[-1])), mode=mode) for x in rows])


def _laws(mixture):
    """Each mixture as a `Law` on a grid: dense at the ends too, where Pass@k piles up."""
    ends = mixture.ppf(np.array([1e-5, 1 - 1e-5])).reshape(-1, 2)
    laws = []
    for (low, high), *parts in zip(ends, *(x.reshape(-1, x.shape[-1]) for x in (
            mixture.weights, mixture.a, mixture.b)), strict=True):
        x = special.expit(np.linspace(*special.logit(np.clip([low, high], 1e-300, 1 - 1e-16)),
                                      401))
        cdf = bb.BetaMixture(*(np.broadcast_to(p, (len(x), len(p))) for p in parts)).cdf(x)
        laws.append(Law(np.concatenate([[0.0], x, [1.0]]), np.concatenate([[0.0], cdf, [1.0]])))
    return laws


def _shape(o, k, values):
    """(L, K) values in the shape that the caller asked for."""
    values = values if k.ndim else values[:, 0]
    return o.per_model(values)


# -- warnings -------------------------------------------------------------------------------


def _warn(o, s, n, k):
    solved = (s > 0).sum(axis=1)
    worst = int(solved.argmin())
    if solved[worst] < FEW_SOLVED:
        warnings.warn(
            f"only {solved[worst]} of {s.shape[1]} questions have a success"
            + _of_model(o, worst, (solved < FEW_SOLVED).sum())
            + ": the forecast leans on its prior, or on its fit to almost nothing",
            ForecastWarning, stacklevel=3)
    unsolved = s == 0
    attempts = np.full(len(s), np.inf)
    some = unsolved.any(axis=1)
    attempts[some] = np.maximum((n * unsolved).sum(axis=1)[some] / unsolved.sum(axis=1)[some], 1)
    worst = int(attempts.argmin())
    if k > FAR * attempts[worst]:
        warnings.warn(
            f"k = {k} is {k / attempts[worst]:.3g} times the {attempts[worst]:.3g} attempts made "
            "at a question without success" + _of_model(o, worst, (k > FAR * attempts).sum())
            + ": the forecast rests on the shape of the model near p = 0",
            ForecastWarning, stacklevel=3)


def _of_model(o, worst, number):
    if o.single:
        return ""
    others = f", and {number - 1} models are like it" if number > 1 else ""
    return f" (model {o.models[worst]!r}{others})"

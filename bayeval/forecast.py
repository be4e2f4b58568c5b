"""Pass@k beyond the attempts made: forecasts from counts, and how far to trust them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

from bayeval import _baselines, _bent, _zeroinflated
from bayeval import _validate as check
from bayeval import betabinomial as bb
from bayeval._pairs import Pairs
from bayeval.distribution import Estimate, laws_of_mixtures
from bayeval.mixture import BetaMixture

# Warn below this many questions with a success, and beyond this multiple of the attempts.
FEW_SOLVED = 5
FAR = 100
# Random values held at once while drawing.
CHUNK = 1 << 22

POSTERIOR_METHODS = ("bayes", "zero-inflated", "averaged")
_POINT_METHODS = {
    "mle": lambda s, n, k: bb.mle(s, n).pass_at_k(k),
    "mle-boxed": lambda s, n, k: bb.mle(s, n, bounds=_baselines.BOX).pass_at_k(k),
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


def forecast(o, k, *, method="bayes", allowance=2.0):
    r"""Forecast of Pass@k for any k, also far beyond the attempts made.

    The default takes every question's success chance for a draw from Beta(a, b), gives (a, b) the
    package's hyperprior, integrates both out by quadrature, and allows for a law that is not
    quite a beta where nothing was seen.

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
    allowance : float, default 2
        For the beta-binomial model, also within the average: the exponent a of the questions
        without a success is divided by this factor, kept, or multiplied by it, with chances 1/6,
        2/3 and 1/6. With 1 the forecast is that of
        ``bayeval.posterior(o, prior="learned").pass_at_k(k)``.

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
        If `o` is not binary, `k` is not a whole number from 1 to 1e9, `method` is unknown,
        `allowance` is below 1, or the method needs more attempts than a question has.

    Notes
    -----
    The exponent of the failure probability, which falls like :math:`k^{-a}`, is learned from the
    questions that were solved. What counts beyond the attempts are chances below 1/n, where a
    beta law is a guess. Without the allowance 90% intervals for recorded evaluations hold the
    truth less often than they say, the less the more attempts were made.

    At every node of the quadrature the mean over the questions is taken for a beta variable with
    its exact mean and variance. That is within about one percent of probability from ten
    questions on; with fewer, and with impossible questions, intervals are rough. Draws are exact.

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
    >>> f.mean.round(2)
    array([0.48, 0.73])
    >>> f.interval(0.9).low.round(2)
    array([0.35, 0.51])
    >>> bv.forecast(o, [10, 100], method="mle").mean.round(3)
    array([0.48 , 0.705])
    """
    check.outcomes("o", o)
    s, n = o.successes, o.n_trials
    ks = check.attempts("k", k)
    if ks.max() > 10**9:
        raise ValueError(f"k must be at most 1e9; found {ks.max()}")
    check.choice("method", method, METHODS)
    allowance = check.number("allowance", allowance, low=1)
    _warn(o, s, n, ks.max())
    if method in POSTERIOR_METHODS:
        return _from_posteriors(o, ks, method, _posteriors(s, n, method, allowance))
    point = _POINT_METHODS[method]
    rows = np.array([point(s_l, n_l, np.atleast_1d(ks).astype(float))
                     for s_l, n_l in zip(s, n, strict=True)])
    mean = o.per_model(rows if ks.ndim else rows[:, 0])
    return Forecast(mean=mean, sd=np.full(np.shape(mean), np.nan)[()], laws=None, sampler=None,
                    models=o.models, k=ks[()], method=method)


@dataclass(frozen=True, eq=False)
class Forecast(Estimate):
    """Forecast of Pass@k; made by `forecast`.

    Its ``population`` is the forecast for the population that these questions were drawn from.
    A point forecast does not tell the two apart.

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

    def interval(self, probability=0.95, *, kind="equal-tailed"):
        """Credible interval, as `Estimate.interval`; a point forecast raises a ValueError.

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_counts([0, 0, 1, 0, 9, 0, 2, 1, 0, 4], 10)
        >>> i = bv.forecast(o, 100).interval(0.9)
        >>> round(i.low, 1), round(i.high, 1), i.kind
        (0.5, 0.9, 'equal-tailed')
        """
        self._needs_posterior("interval")
        return super().interval(probability, kind=kind)

    def draws(self, n=1000, *, rng=None):
        """Independent draws, as `Estimate.draws`; a point forecast raises a ValueError.

        Draws of different k belong together, so that curves are smooth.

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
        if self.sampler is None:
            raise ValueError(f"method={self.method!r} makes point forecasts without {what}; those "
                             f"with it are {', '.join(map(repr, POSTERIOR_METHODS))}")


# -- the posterior methods ------------------------------------------------------------------


def _posteriors(s, n, method, allowance):
    """For every language model its models of the success chances, with their probabilities."""
    fits = bb.quadrature(s, n) if method != "zero-inflated" else None
    models = []
    for l, (s_l, n_l) in enumerate(zip(s, n, strict=True)):
        parts = []
        if fits:
            grid = bb.Quadrature(fits.eta[l:l + 1], fits.lam[l:l + 1], fits.weights[l:l + 1],
                                 Pairs.of(s_l, n_l))
            parts.append((1.0, _bent.BentQuadrature(grid, s_l, n_l, allowance)))
        if method != "bayes":
            parts.append((1.0, _zeroinflated.quadrature(s_l, n_l)))
        if method == "averaged":
            plain = parts[1][1].plain
            parts = list(zip((plain / (1 + plain), 1 / (1 + plain)), (p for _, p in parts)))
        models.append(parts)
    return models


def _from_posteriors(o, k, method, models, population=False):
    ks = np.atleast_1d(k).astype(float)

    def mixture_of(parts):
        laws = [(part.population_pass_at_k if population else part.pass_at_k)(ks)
                for _, part in parts]
        weights = [probability * law.weights for (probability, _), law in zip(parts, laws)]
        return [np.concatenate(x, axis=-1)
                for x in (weights, [law.a for law in laws], [law.b for law in laws])]

    mixture = BetaMixture(*map(np.stack, zip(*map(mixture_of, models), strict=True)))

    def shape(x):
        return o.per_model(x if k.ndim else x[:, 0])

    def sampler(size, rng):
        out = np.empty((len(models), len(ks), size))
        step = max(1, CHUNK // o.n_questions)
        for row, parts in zip(out, models, strict=True):
            split = rng.multinomial(size, [probability for probability, _ in parts])
            blocks = [part.draws(ks, min(step, count - start), rng, population=population)
                      for (_, part), count in zip(parts, split, strict=True)
                      for start in range(0, count, step)]
            row[:] = rng.permutation(np.concatenate(blocks, axis=1), axis=1)
        return shape(out)

    return Forecast(mean=shape(mixture.mean), sd=shape(mixture.sd),
                    laws=cache(lambda: laws_of_mixtures(mixture)), sampler=sampler,
                    models=o.models, quantiles=lambda q: shape(mixture.ppf(q)), k=k[()],
                    method=method,
                    other=None if population else
                    cache(lambda: _from_posteriors(o, k, method, models, population=True)))


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
            f"k = {k:,} is {k / attempts[worst]:,.0f} times the {attempts[worst]:,.4g} attempts "
            "made at a question without success" + _of_model(o, worst, (k > FAR * attempts).sum())
            + ": the forecast rests on the shape of the model near p = 0",
            ForecastWarning, stacklevel=3)


def _of_model(o, worst, number):
    if o.single:
        return ""
    others = ""
    if number > 1:
        others = f", and {number - 1} model{'s are' if number > 2 else ' is'} like it"
    return f" (model {o.models[worst]!r}{others})"

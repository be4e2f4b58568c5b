"""The intervals that evaluations usually report: CLT, cluster-robust, Wilson, bootstrap.

They are here to be compared with the posterior on the same counts. What each takes for random
differs: the questions, the attempts, or both as if there were no questions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from scipy import special

from bayeval import _validate as check
from bayeval.distribution import Interval

#: What `summary` knows.
METHODS = ("clt-questions", "clt-attempts", "clt-within", "cluster", "wilson",
           "bootstrap-questions", "bootstrap-attempts")
# Numbers of resampled values held at once.
CHUNK = 1 << 22


@dataclass(frozen=True, eq=False)
class Summary:
    """A score with one of the usual intervals; made by `summary`.

    Attributes
    ----------
    mean : float or ndarray, shape (L,)
        The score: an average over questions, or over all attempts, as the method has it.
    sd : float or ndarray, shape (L,)
        Its standard error.
    method : str
    ends : callable
        ``ends(probability)`` returns the low and the high end.
    """

    mean: float | np.ndarray
    sd: float | np.ndarray
    method: str
    ends: callable

    def interval(self, probability=0.95):
        """Confidence interval; its `kind` is "normal", "wilson" or "percentile".

        Parameters
        ----------
        probability : float, default 0.95

        Returns
        -------
        Interval
            That of the normal kind may leave the possible range.

        Raises
        ------
        ValueError
            If `probability` is not inside (0, 1).

        Examples
        --------
        >>> import bayeval as bv
        >>> o = bv.Outcomes.from_counts([19], 20)
        >>> i = summary(o, "wilson").interval(0.95)
        >>> round(i.low, 3), round(i.high, 3), i.kind
        (0.764, 0.991, 'wilson')
        """
        probability = check.probability("probability", probability)
        kind = {"wilson": "wilson", "bootstrap": "percentile"}.get(self.method.split("-")[0],
                                                                   "normal")
        low, high = self.ends(probability)
        if np.shape(self.mean) == ():
            low, high = float(low), float(high)
        return Interval(low, high, probability, kind)

    @property
    def population(self):
        """The same summary: these intervals are given without a word on the estimand."""
        return self


def summary(o, method="clt-questions", *, weights=None, resamples=1000, rng=None):
    r"""Score of every model with an interval as it is usually reported.

    Question m has :math:`n_m` scored attempts with mean :math:`y_m` and variance
    :math:`s_m^2`; questions without one are left out.

    - ``"clt-questions"``: the mean of the :math:`y_m`, with the standard deviation of the
      :math:`y_m` over :math:`\sqrt M`.
    - ``"clt-attempts"``: the mean of all attempts as if they were independent.
    - ``"cluster"``: the same mean, with the standard error that is robust to clusters of
      attempts by question (with the factor M / (M - 1), under the root). With equal
      :math:`n_m` it is that of "clt-questions".
    - ``"clt-within"``: the mean of the :math:`y_m`, with :math:`\sqrt{\sum s_m^2 / n_m} / M`:
      the questions are fixed.
    - ``"wilson"``: the score interval of Wilson (1927) for all attempts together; binary only.
    - ``"bootstrap-questions"``: quantiles of the mean over questions drawn with replacement.
    - ``"bootstrap-attempts"``: quantiles of the mean over the same questions, each with its
      attempts drawn with replacement.

    Parameters
    ----------
    o : Outcomes
    method : str
        One of `METHODS`.
    weights : array_like, shape (C+1,), optional
        The rubric; (0, 1) for binary outcomes.
    resamples : int, default 1000
        Of the bootstraps.
    rng : optional
        Anything that `numpy.random.default_rng` takes; used by the bootstraps.

    Returns
    -------
    Summary

    Raises
    ------
    ValueError
        If the method is unknown, a model has fewer attempts or questions than it needs, or the
        weights do not fit.

    References
    ----------
    Miller (2024), "Adding error bars to evals", arXiv:2411.00640.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([10] * 15 + [0] * 15, 10)
    >>> for method in ("clt-attempts", "cluster", "clt-within"):
    ...     print(method, round(summary(o, method).sd, 3))
    clt-attempts 0.029
    cluster 0.093
    clt-within 0.0
    """
    check.outcomes("o", o)
    check.choice("method", method, METHODS)
    resamples, rng = check.whole("resamples", resamples, low=2), check.generator(rng)
    w = check.weights(weights, o.n_categories)
    _require(o, method)
    n = o.n_trials
    total = n.sum(axis=1)
    if method == "wilson":
        if weights is not None:
            raise ValueError("weights must be None: Wilson's interval is for binary outcomes; "
                             f"found {weights!r}")
        o.require_binary()
        right = o.successes.sum(axis=1)
        mean = right / total
        return _result(o, method, mean, np.sqrt(mean * (1 - mean) / total),
                       lambda probability: _wilson(right, total, probability))
    if method.startswith("bootstrap"):
        resample = _over_questions if method == "bootstrap-questions" else _over_attempts
        draws = resample(o, w, resamples, rng)
        return _result(o, method, _question_mean(o, w), draws.std(axis=1),
                       lambda p: np.quantile(draws, [(1 - p) / 2, (1 + p) / 2], axis=1))
    mean, se = _normal(o, w, method)

    def ends(probability):
        reach = special.ndtri((1 + probability) / 2) * se
        return np.stack([mean - reach, mean + reach])
    return _result(o, method, mean, se, ends)


def _result(o, method, mean, sd, ends):
    def per_model(probability):
        low, high = ends(probability)
        return o.per_model(low), o.per_model(high)
    return Summary(mean=o.per_model(mean), sd=o.per_model(sd), method=method, ends=per_model)


def _require(o, method):
    """Say which model has too little for the method."""
    seen = o.n_trials > 0
    questions = seen.sum(axis=1)
    if method in ("clt-questions", "cluster", "bootstrap-questions"):
        has, least, what = questions, 2, "questions with a scored attempt"
    elif method == "clt-within":
        has, least, what = np.where(seen, o.n_trials, 2**53).min(axis=1), 2, \
            "scored attempts at every question that was tried"
        has = np.where(questions, has, 0)
    else:
        has, least, what = o.n_trials.sum(axis=1), 1 + (method == "clt-attempts"), \
            "scored attempts"
    if (has < least).any():
        at = int(np.argmax(has < least))
        raise ValueError(f"method={method!r} needs at least {least} {what}; model "
                         f"{o.models[at]!r} has {has[at]}")


def _question_mean(o, w):
    """Mean over the questions that were tried of their mean outcome, shape (L,)."""
    n = o.n_trials
    return (o.counts @ w / np.maximum(n, 1)).sum(axis=1) / (n > 0).sum(axis=1)


def _normal(o, w, method):
    """Mean and standard error of the four methods that rest on the central limit theorem."""
    n, seen = o.n_trials, o.n_trials > 0
    M, total = seen.sum(axis=1), n.sum(axis=1)
    y = o.counts @ w / np.maximum(n, 1)
    if method == "clt-attempts":
        tally = o.counts.sum(axis=1)
        mean = tally @ w / total
        squares = (tally * (w - mean[:, None]) ** 2).sum(axis=1)
        return mean, np.sqrt(squares / (total - 1) / total)
    if method == "clt-within":
        squares = (o.counts * (w - y[..., None]) ** 2).sum(axis=2)
        var = squares / np.maximum((n - 1) * n, 1)
        return _question_mean(o, w), np.sqrt(var.sum(axis=1)) / M
    # Questions weigh by their attempts in "cluster" and alike in "clt-questions".
    weight = n if method == "cluster" else seen
    size = weight.sum(axis=1)
    mean = (weight * y).sum(axis=1) / size
    squares = ((weight * (y - mean[:, None])) ** 2).sum(axis=1)
    return mean, np.sqrt(squares * M / (M - 1)) / size


def _wilson(right, total, probability):
    """Ends, shape (2, L), computed once for each distinct pair of counts."""
    pairs, back = np.unique(np.stack([right, total]), axis=1, return_inverse=True)
    ends = [scipy.stats.binomtest(*pair).proportion_ci(probability, method="wilson")
            for pair in pairs.T.tolist()]
    return np.array(ends).T[:, back.ravel()]


def _over_questions(o, w, resamples, rng):
    """Resampled means over questions, shape (L, resamples)."""
    n = o.n_trials
    y = o.counts @ w / np.maximum(n, 1)
    groups = [y] if (n > 0).all() else [row[tried][None] for row, tried in zip(y, n > 0)]
    return np.concatenate([
        scipy.stats.bootstrap((group,), np.mean, axis=-1, n_resamples=resamples, rng=rng,
                              method="percentile", batch=max(1, CHUNK // group.size)
                              ).bootstrap_distribution for group in groups])


def _over_attempts(o, w, resamples, rng):
    """Resampled means over attempts within questions, shape (L, resamples).

    Questions with equal counts are drawn together: the sum of their resampled counts is that of
    one question with all their attempts.
    """
    draws = np.empty((o.n_models, resamples))
    for l, rows in enumerate(o.counts):
        tried = rows[rows.sum(axis=1) > 0]
        unique, times = np.unique(tried, axis=0, return_counts=True)
        n = unique.sum(axis=1)
        counts = rng.multinomial(times * n, unique / n[:, None], (resamples, len(n)))
        draws[l] = (counts @ w / n).sum(axis=1) / len(tried)
    return draws

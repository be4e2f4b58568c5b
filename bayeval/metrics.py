"""Unbiased point estimates of the Pass@k family, and avg@N."""

from __future__ import annotations

import warnings

import numpy as np

from bayeval import _validate as check
from bayeval._special import hypergeometric_mean, log_beta_ratio


class UndefinedWarning(UserWarning):
    """Some questions have fewer scored attempts than the estimate needs."""


def pass_at_k(o, k, *, per_question=False, undefined="nan"):
    r"""Unbiased estimate of Pass@k: at least one of k attempts is right.

    For n attempts with c right the estimate is :math:`1 - \binom{n-c}{k} / \binom{n}{k}`.
    It does not exist for k > n.

    Parameters
    ----------
    o : Outcomes
        Binary outcomes of L models on M questions.
    k : int or array_like of int, shape (K,)
        Attempts allowed.
    per_question : bool, default False
        Return the estimate of every question instead of the mean over questions.
    undefined : {"nan", "skip"}, default "nan"
        What the mean does with questions that have n < k: it is NaN, or it is taken over the
        others (which are then a different benchmark for every k).

    Returns
    -------
    float or ndarray
        Shape (L,), (L, K), (L, M) or (L, M, K); the model axis is dropped for a single model.

    Warns
    -----
    UndefinedWarning
        With the number of questions that have fewer than k scored attempts.

    Raises
    ------
    ValueError
        If `o` is not binary or `k` is not a whole number >= 1.

    References
    ----------
    Chen et al. (2021), arXiv:2107.03374.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([1], 32)
    >>> bv.pass_at_k(o, [1, 8, 32])
    array([0.03125, 0.25   , 1.     ])
    """
    def estimate(c, n, k):
        return -np.expm1(_log_choose_ratio(n - c, n, k))
    return _estimate(o, k, estimate, per_question, undefined, "pass_at_k")


def pass_hat_k(o, k, *, per_question=False, undefined="nan"):
    r"""Unbiased estimate of Pass^k: all of k attempts are right.

    For n attempts with c right the estimate is :math:`\binom{c}{k} / \binom{n}{k}`.

    Parameters
    ----------
    o, k, per_question, undefined
        As in `pass_at_k`.

    Returns
    -------
    float or ndarray
        As in `pass_at_k`.

    Raises
    ------
    ValueError
        As in `pass_at_k`.

    References
    ----------
    Yao et al. (2024), tau-bench, arXiv:2406.12045.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([8], 10)
    >>> bv.pass_hat_k(o, 2) == 28 / 45
    True
    """
    def estimate(c, n, k):
        return np.exp(_log_choose_ratio(c, n, k))
    return _estimate(o, k, estimate, per_question, undefined, "pass_hat_k")


def g_pass_at_k(o, k, *, tau, per_question=False, undefined="nan"):
    r"""Unbiased estimate of G-Pass@k: at least ceil(tau k) of k attempts are right.

    The estimate is a hypergeometric tail: k of the n attempts, c of which are right, are drawn
    without replacement.

    Parameters
    ----------
    o, k, per_question, undefined
        As in `pass_at_k`.
    tau : float in (0, 1]
        Share of the k attempts that must be right. ``tau=1`` is Pass^k.

    Returns
    -------
    float or ndarray
        As in `pass_at_k`.

    Raises
    ------
    ValueError
        As in `pass_at_k`, or if `tau` lies outside (0, 1].

    References
    ----------
    Liu et al. (2024), arXiv:2412.13147.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([2], 4)
    >>> round(bv.g_pass_at_k(o, 2, tau=0.5), 4)
    0.8333
    """
    tau = check.number("tau", tau, low=0, high=1, open_low=True)

    def estimate(c, n, k):
        return hypergeometric_mean(n, c, np.arange(k + 1.0) >= least_right(k, tau))
    return _estimate(o, k, estimate, per_question, undefined, "g_pass_at_k")


def mg_pass_at_k(o, k, *, form="sum", per_question=False, undefined="nan"):
    r"""Unbiased estimate of mG-Pass@k: G-Pass@k averaged over tau from 1/2 to 1.

    ``form="sum"`` is the published sum
    :math:`\frac{2}{k} \sum_{i=\lceil k/2 \rceil + 1}^{k} \mathrm{G\text{-}Pass@}k_{i/k}`.
    For odd k it falls short of 1 even for a model that is always right: it is 0 at k = 1 and
    2/3 at k = 3. ``form="integral"`` is the integral that it approximates,
    :math:`2 \int_{1/2}^{1} \mathrm{G\text{-}Pass@}k_\tau \, d\tau`, which is 1 for such a model.

    Parameters
    ----------
    o, k, per_question, undefined
        As in `pass_at_k`.
    form : {"sum", "integral"}, default "sum"

    Returns
    -------
    float or ndarray
        As in `pass_at_k`.

    Raises
    ------
    ValueError
        As in `pass_at_k`, or if `form` is unknown.

    References
    ----------
    Liu et al. (2024), arXiv:2412.13147.

    Examples
    --------
    >>> import bayeval as bv
    >>> always = bv.Outcomes.from_counts([8], 8)
    >>> bv.mg_pass_at_k(always, [1, 2, 3, 4]).round(4)
    array([0.    , 1.    , 0.6667, 1.    ])
    >>> bv.mg_pass_at_k(always, [1, 2, 3, 4], form="integral").round(4)
    array([1., 1., 1., 1.])
    """
    check.choice("form", form, ("sum", "integral"))

    def estimate(c, n, k):
        # Both forms are the expectation of a piecewise-linear function of X, the number right
        # among the k drawn (summation by parts), so one sum over X serves all thresholds.
        return hypergeometric_mean(n, c, excess(np.arange(k + 1), k, form))
    return _estimate(o, k, estimate, per_question, undefined, "mg_pass_at_k")


def avg(o, weights=None, *, per_question=False, undefined="nan"):
    """avg@N: the mean over questions of the mean weighted outcome of the scored attempts.

    Every question counts the same, whatever its number of attempts.

    Parameters
    ----------
    o : Outcomes
    weights : array_like, shape (C+1,), optional
        The rubric's weight of each category; (0, 1) for binary outcomes.
    per_question, undefined
        As in `pass_at_k`; a question without attempts is undefined.

    Returns
    -------
    float or ndarray
        Shape (L,) or (L, M); the model axis is dropped for a single model.

    Raises
    ------
    ValueError
        If weights are missing or do not fit the categories.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.avg(bv.Outcomes.from_counts([4, 0], [4, 1]))
    0.5
    """
    check.outcomes("o", o)
    w = check.weights(weights, o.n_categories)
    n = o.n_trials
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = o.counts @ w / n
    return _summarize(o, scores, n < 1, per_question, undefined, "avg needs an attempt")


def least_right(k, tau):
    """ceil(tau k), guarded against the rounding of products such as 0.28 * 25."""
    return max(1, int(np.ceil(np.round(tau * k, 9))))


def excess(x, k, form):
    """The weight of x right among k attempts in mG-Pass@k; see `mg_pass_at_k`."""
    if form == "sum":
        return 2 / k * np.maximum(x - (k + 1) // 2, 0)
    # G-Pass at tau needs x >= ceil(tau k), so the integral over tau in (1/2, 1] is x/k - 1/2.
    return np.maximum(2 * x / k - 1, 0)


def _log_choose_ratio(a, n, k):
    """log of C(a, k) / C(n, k) for a <= n, -inf where a < k."""
    enough = a >= k
    ratio = log_beta_ratio(n - a, np.where(enough, a - k + 1, 1), k)
    return np.where(enough, ratio, -np.inf)


def _estimate(o, k, estimate, per_question, undefined, name):
    """Apply an estimator of (c, n, k) on the unique pairs of each model and question."""
    check.outcomes("o", o)
    c, n = o.successes, o.n_trials
    k = check.attempts("k", k)
    # As complex numbers pairs are sorted several times faster than as columns.
    pairs, back = np.unique(c.ravel() + 1j * n.ravel(), return_inverse=True)
    pairs = np.stack([pairs.real, pairs.imag]).astype(np.int64)
    columns = []
    for k_i in np.atleast_1d(k).tolist():
        defined = pairs[1] >= k_i
        values = np.full(pairs.shape[1], np.nan)
        if defined.any():
            values[defined] = estimate(pairs[0, defined], pairs[1, defined], k_i)
        columns.append(values[back.ravel()].reshape(c.shape))
    values = np.stack(columns, axis=-1)
    short = n < k.max()
    if k.ndim == 0:
        values = values[..., 0]
    return _summarize(o, values, short, per_question, undefined, f"{name} needs k = {k.max()}")


def _summarize(o, values, short, per_question, undefined, needs):
    check.choice("undefined", undefined, ("nan", "skip"))
    if short.any():
        warnings.warn(
            f"{needs} or more scored attempts; {int(short.sum())} of {short.size} "
            "model-question cells have fewer and are undefined. A posterior gives Pass@k for "
            "any k.", UndefinedWarning, stacklevel=4)
    if not per_question:
        if undefined == "skip":
            count = (~np.isnan(values)).sum(axis=1)
            total = np.nansum(values, axis=1)
            values = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        else:
            values = values.mean(axis=1)
    return o.per_model(values)

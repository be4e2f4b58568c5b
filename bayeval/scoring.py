"""How good forecasts were, once the truth is known: lower is better for every score."""

from __future__ import annotations

import numpy as np

from bayeval import _validate as check


def squared_error(mean, truth):
    """Squared error of point forecasts.

    Parameters
    ----------
    mean, truth : array_like
        Broadcast against each other.

    Returns
    -------
    float or ndarray

    Examples
    --------
    >>> squared_error([0.25, 0.75], 0.5)
    array([0.0625, 0.0625])
    """
    mean, truth = np.asarray(mean, dtype=float), np.asarray(truth, dtype=float)
    return (mean - truth) ** 2


def log_error(mean, truth):
    """Squared error of the logarithm, for which being wrong by a factor is what counts.

    Parameters
    ----------
    mean, truth : array_like
        At least 0, broadcast against each other.

    Returns
    -------
    float or ndarray
        Infinite where exactly one of the two is 0, and 0 where both are.

    Raises
    ------
    ValueError
        If a value is negative.

    Examples
    --------
    >>> log_error([0.01, 0.1], 0.01).round(3)
    array([0.   , 5.302])
    """
    mean, truth = np.asarray(mean, dtype=float), np.asarray(truth, dtype=float)
    for name, x in (("mean", mean), ("truth", truth)):
        if (x < 0).any():
            raise ValueError(f"{name} must be at least 0; found {x.min()}")
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (np.log(mean) - np.log(truth)) ** 2
    return np.where(mean == truth, 0.0, error)[()]


def covers(interval, truth):
    """Whether the interval holds the truth, ends included.

    Parameters
    ----------
    interval : Interval
    truth : array_like

    Returns
    -------
    bool or ndarray of bool

    Examples
    --------
    >>> from bayeval.distribution import Interval
    >>> covers(Interval(0.2, 0.4, 0.9, "equal-tailed"), [0.1, 0.3])
    array([False,  True])
    """
    truth = np.asarray(truth, dtype=float)
    return (interval.low <= truth) & (truth <= interval.high)


def interval_score(interval, truth):
    r"""Width plus a fine for missing the truth (Winkler's score).

    For a central interval of probability :math:`1 - \alpha` the fine is :math:`2 / \alpha` times
    the distance to the truth: the true quantiles minimize the expected score.

    Parameters
    ----------
    interval : Interval
    truth : array_like

    Returns
    -------
    float or ndarray

    References
    ----------
    Gneiting and Raftery (2007), Journal of the American Statistical Association 102, section 6.2.

    Examples
    --------
    >>> from bayeval.distribution import Interval
    >>> interval_score(Interval(0.2, 0.4, 0.9, "equal-tailed"), [0.1, 0.3]).round(3)
    array([2.2, 0.2])
    """
    truth = np.asarray(truth, dtype=float)
    outside = np.maximum(interval.low - truth, 0) + np.maximum(truth - interval.high, 0)
    return interval.high - interval.low + 2 / (1 - interval.probability) * outside


def crps(draws, truth):
    r"""Continuous ranked probability score, from draws of the forecast.

    .. math:: E|X - y| - \tfrac12 E|X - X'|,

    with independent X and X': the squared distance of the forecast's distribution function from
    the step at the truth. For a point forecast it is the absolute error.

    Parameters
    ----------
    draws : array_like, shape (..., n)
        At least two draws, as of ``forecast.draws(n)``.
    truth : array_like, shape (...)

    Returns
    -------
    float or ndarray, shape (...)

    References
    ----------
    Gneiting and Raftery (2007), Journal of the American Statistical Association 102, section 4.2.

    Examples
    --------
    >>> float(crps([0.2, 0.4], 0.3).round(3))
    0.0
    >>> float(crps([0.2, 0.4], 0.5).round(3))
    0.1
    """
    draws = np.sort(np.asarray(draws, dtype=float), axis=-1)
    n = check.whole("the last axis of draws", draws.shape[-1] if draws.ndim else 0, low=2)
    distance = np.abs(draws - np.asarray(truth, dtype=float)[..., None]).mean(axis=-1)
    # sum_{i<j} |x_i - x_j| weighs the i-th smallest by 2i - n - 1.
    spread = draws @ (2 * np.arange(1, n + 1) - n - 1) / (n * (n - 1))
    return distance - spread

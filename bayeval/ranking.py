"""Who is better: two models, a leaderboard with rank sets, and orders along a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from scipy import special

from bayeval import _validate as check
from bayeval.distribution import Estimate
from bayeval.posterior import posterior

# Scores that agree to this many digits are equal: sums over questions in another order differ
# in the last ones.
DIGITS = 12
# Numbers of comparisons held at once along tracks.
CHUNK = 1 << 24


@dataclass(frozen=True)
class Comparison:
    """How model a compares with model b; made by `compare`.

    Attributes
    ----------
    difference : float or ndarray
        Posterior mean of the score of a minus that of b.
    sd : float or ndarray
        Posterior standard deviation of the difference.
    z : float or ndarray
        ``|difference| / sd`` of the paper (0 if both are 0).
    rho : float or ndarray
        ``Phi(z)``: the normal approximation to the probability that the model with the higher
        mean is the better one.
    superiority : float or ndarray
        Probability that a's score is above b's, from the two laws; ties count half.
    """

    difference: float | np.ndarray
    sd: float | np.ndarray
    z: float | np.ndarray
    rho: float | np.ndarray
    superiority: float | np.ndarray


def compare(p_a, p_b):
    r"""Compare two models, taking their posteriors as independent.

    .. math:: z = |\mu_a - \mu_b| / \sqrt{\sigma_a^2 + \sigma_b^2}, \qquad \rho = \Phi(z)

    Parameters
    ----------
    p_a, p_b : Posterior or Estimate
        Of one model each, or of equally many models, which are then compared one by one.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If the shapes differ.

    References
    ----------
    Hariri et al. (2026), "Don't Pass@k", arXiv:2510.04265.

    Examples
    --------
    >>> import bayeval as bv
    >>> a = bv.posterior(bv.Outcomes.from_counts([4, 3], 4))
    >>> b = bv.posterior(bv.Outcomes.from_counts([2, 3], 4))
    >>> c = bv.compare(a, b)
    >>> round(c.difference, 4), round(c.rho, 4), round(c.superiority, 4)
    (0.1667, 0.833, 0.8316)
    """
    for name, p in (("p_a", p_a), ("p_b", p_b)):
        if not isinstance(p, Estimate):
            raise ValueError(f"{name} must be a posterior or an estimate; found "
                             f"{type(p).__name__}")
    if np.shape(p_a.mean) != np.shape(p_b.mean):
        raise ValueError("p_a and p_b must have as many entries; found shapes "
                         f"{np.shape(p_a.mean)} and {np.shape(p_b.mean)}")
    difference, sd = p_a.mean - p_b.mean, np.hypot(p_a.sd, p_b.sd)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, np.abs(difference) / sd)
    superiority = np.array([f.superiority(g)
                            for f, g in zip(p_a.laws(), p_b.laws(), strict=True)])
    shape = np.shape(difference)
    as_result = float if shape == () else (lambda x: np.reshape(x, shape))
    return Comparison(difference=as_result(difference), sd=as_result(sd), z=as_result(z),
                      rho=as_result(special.ndtr(z)),
                      superiority=as_result(superiority[0] if shape == () else superiority))


def leaderboard(o, *, weights=None, prior="uniform", probability=0.95, kind="equal-tailed"):
    """Models by posterior score, each with its interval and the ranks it may have.

    A model's rank set runs from one more than the number of models whose interval lies wholly
    above its own to the number of models less those wholly below. Overlap is not transitive, so
    there are rank sets and no tiers.

    Parameters
    ----------
    o : Outcomes
    weights, prior
        As in `posterior`.
    probability : float, default 0.95
        Of each model's credible interval.
    kind : {"equal-tailed", "hdi", "normal"}

    Returns
    -------
    pandas.DataFrame
        Indexed by model, best first. Columns: ``rank`` (equal scores share the best rank),
        ``score`` and ``sd`` (posterior mean and standard deviation), ``low`` and ``high`` (the
        interval), ``rank_low`` and ``rank_high`` (the rank set), ``attempts`` (scored) and
        ``coverage`` (scored over planned). ``.attrs`` holds `probability`, `kind` and `prior`.

    Raises
    ------
    ValueError
        As in `posterior`.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> print(bv.leaderboard(o)[["rank", "rank_low", "rank_high"]].reset_index().to_string())
      model  rank  rank_low  rank_high
    0     A     1         1          2
    1     B     2         1          2
    2     C     3         3          3
    """
    p = posterior(o, weights=weights, prior=prior)
    interval = p.interval(probability, kind=kind)
    score = np.atleast_1d(p.mean)
    low, high = np.atleast_1d(interval.low), np.atleast_1d(interval.high)
    rank_low, rank_high = rank_sets(low, high)
    table = pd.DataFrame({
        "rank": ranks(score), "score": score, "sd": np.atleast_1d(p.sd), "low": low, "high": high,
        "rank_low": rank_low, "rank_high": rank_high, "attempts": o.n_trials.sum(axis=1),
        "coverage": np.atleast_1d(o.coverage)}, index=pd.Index(o.models, name="model"))
    table.attrs = {"probability": probability, "kind": kind, "prior": str(prior)}
    return table.sort_values("rank", kind="stable")


def ranks(scores):
    """Competition ranks along the last axis, best first: equal scores share the best rank.

    Parameters
    ----------
    scores : array_like, shape (..., L)

    Returns
    -------
    ndarray of int, shape (..., L)

    Examples
    --------
    >>> from bayeval.ranking import ranks
    >>> ranks([396, 396, 394])
    array([1, 1, 3])
    """
    scores = _rounded("scores", scores)
    if scores.ndim == 0 or np.isnan(scores).any():
        raise ValueError("scores must have shape (..., L), without NaN; found shape "
                         f"{scores.shape} and {int(np.isnan(scores).sum())} NaN")
    # Through the package: scipy loads scipy.stats, which is slow, only when it is used.
    return scipy.stats.rankdata(-scores, method="min", axis=-1).astype(np.int64)


def rank_sets(low, high):
    """First and last rank that each of L intervals leaves open; see `leaderboard`.

    Parameters
    ----------
    low, high : array_like, shape (L,)
        Ends of the intervals.

    Returns
    -------
    rank_low, rank_high : ndarray of int, shape (L,)

    Examples
    --------
    >>> from bayeval.ranking import rank_sets
    >>> rank_sets([0.7, 0.5, 0.3], [0.9, 0.8, 0.6])
    (array([1, 1, 2]), array([2, 3, 3]))
    """
    low, high = check.reals("low", low), check.reals("high", high)
    if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
        raise ValueError("low and high must have shape (L,), with low <= high everywhere; found "
                         f"shapes {low.shape} and {high.shape}")
    above = np.searchsorted(np.sort(low), high, side="right")  # others with low <= this high
    below = np.searchsorted(np.sort(high), low, side="left")  # others with high < this low
    return len(low) - above + 1, len(low) - below


def kendall_tau(scores, reference):
    """Kendall's tau-b between score vectors and a reference, ties treated as ties.

    Parameters
    ----------
    scores : array_like, shape (..., L)
        Scores of L models; leading axes may be trials and tracks.
    reference : array_like, shape (L,)

    Returns
    -------
    float or ndarray, shape (...)
        NaN where all scores are equal or one is NaN.

    Raises
    ------
    ValueError
        If the numbers of models differ, or are below 2.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.kendall_tau([0.9, 0.5, 0.7], [3, 1, 2])
    1.0
    """
    check.aligned(scores=scores, reference=reference)
    scores, reference = _rounded("scores", scores), _rounded("reference", reference)
    if reference.ndim != 1 or scores.shape[-1:] != reference.shape or len(reference) < 2:
        raise ValueError("scores must end in an axis as long as reference, at least 2; found "
                         f"shapes {scores.shape} and {reference.shape}")
    i, j = np.triu_indices(len(reference), 1)
    wanted = _signs(reference[None], i, j)[0]
    rows = scores.reshape(-1, len(reference))
    out = np.empty(len(rows))
    step = max(1, CHUNK // len(i))
    for start in range(0, len(rows), step):
        block = rows[start:start + step]
        signs = _signs(block, i, j)
        with np.errstate(invalid="ignore", divide="ignore"):
            out[start:start + step] = (signs @ wanted) / np.sqrt(
                (signs**2).sum(axis=1) * (wanted**2).sum())
    return out[0].item() if scores.ndim == 1 else out.reshape(scores.shape[:-1])


def convergence_at_n(tracks, reference=None):
    """First number of trials from which the order of the models stays as in the reference.

    Parameters
    ----------
    tracks : array_like, shape (..., N, L)
        Scores of L models after 1, ..., N trials.
    reference : array_like, shape (L,), optional
        Scores that define the right order, ties included. By default each track's last row.

    Returns
    -------
    float or ndarray, shape (...)
        Between 1 and N; NaN for a track whose last order is not that of the reference.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.convergence_at_n([[0.5, 0.6], [0.7, 0.6], [0.8, 0.6]])
    2.0
    """
    check.aligned(tracks=tracks, reference=reference)
    tracks = _rounded("tracks", tracks)
    if tracks.ndim < 2 or 0 in tracks.shape:
        raise ValueError(f"tracks must have shape (..., N, L); found {tracks.shape}")
    missing = np.isnan(tracks)
    order = ranks(np.where(missing, 0.0, tracks))
    if reference is None:
        wanted = order[..., -1:, :]
    else:
        reference = _rounded("reference", reference)
        if reference.shape != tracks.shape[-1:] or np.isnan(reference).any():
            raise ValueError(f"reference must have shape ({tracks.shape[-1]},), one score for "
                             f"each model; found {reference}")
        wanted = ranks(reference)
    agrees = (order == wanted).all(axis=-1) & ~missing.any(axis=-1)
    # The order stays right from the trial after the last one that disagrees.
    last_wrong = tracks.shape[-2] - np.argmax(~agrees[..., ::-1], axis=-1)
    first = np.where(agrees.all(axis=-1), 1, last_wrong + 1).astype(float)
    first = np.where(agrees[..., -1], first, np.nan)
    return first.item() if first.ndim == 0 else first


def _signs(x, i, j):
    """Which of the columns i and j is larger: 1, 0 or -1, or NaN; infinities may tie."""
    a, b = x[:, i], x[:, j]
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a > b) * 1.0 - (a < b))


def _rounded(name, x):
    """`x` as floats of 12 significant digits."""
    x = check.reals(name, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(x))))
        rounded = np.rint(x * size) / size
    return np.where(np.isfinite(rounded), rounded, x)

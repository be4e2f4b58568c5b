"""Attempts from coins of known truth, and exact subsamples of real counts."""

from __future__ import annotations

import numpy as np

from bayeval import _validate as check
from bayeval.outcomes import Outcomes


def coin_flips(p, n, *, models=None, questions=None, rng=None):
    """Simulate attempts of models whose success probabilities are known.

    Parameters
    ----------
    p : array_like, shape (M,) or (L, M)
        Success probability of each question; one axis means one model.
    n : int or array_like of int
        Attempts, broadcast against `p`.
    models, questions : sequence, optional
        Labels.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    Outcomes

    Raises
    ------
    ValueError
        If `p` leaves [0, 1] or `n` is no count.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.simulate.coin_flips([0.0, 1.0], 5, rng=0).successes
    array([[0, 5]])
    """
    try:
        p = np.asarray(p, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("p must be an array of probabilities") from None
    if p.ndim not in (1, 2) or p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        values = f", values {p.min()} to {p.max()}" if p.size else ""
        raise ValueError("p must hold probabilities in [0, 1], with shape (M,) or (L, M); found "
                         f"shape {p.shape}{values}")
    n = check.counts("n", n)
    try:
        n = np.broadcast_to(n, p.shape)
    except ValueError:
        raise ValueError(f"n of shape {n.shape} does not fit p of shape {p.shape}") from None
    successes = check.generator(rng).binomial(n, p)
    return Outcomes.from_counts(successes, n, models=models, questions=questions)


def subsample(o, n, *, rng=None):
    """Draw n of the scored attempts of every model and question, without replacement.

    Attempts at a question are exchangeable, so the draw of counts is exact: it is what
    keeping n of the attempts at random would give.

    Parameters
    ----------
    o : Outcomes
    n : int
        Attempts to keep; a cell with fewer keeps all of its attempts.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    Outcomes
        With `planned` equal to the attempts kept.

    Raises
    ------
    ValueError
        If `n` is not a whole number >= 1.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([10_000, 0], 10_000)
    >>> bv.simulate.subsample(o, 4, rng=0).successes
    array([[4, 0]])
    """
    check.outcomes("o", o)
    n, rng = check.whole("n", n), check.generator(rng)
    left, rest = np.minimum(o.n_trials, n), o.n_trials
    kept = np.zeros_like(o.counts)
    # Category by category: what is drawn of one is hypergeometric given the ones before it.
    for c in range(o.n_categories - 1, 0, -1):
        rest = rest - o.counts[..., c]
        kept[..., c] = rng.hypergeometric(o.counts[..., c], rest, left)
        left = left - kept[..., c]
    kept[..., 0] = left
    if o.single:
        kept = kept[0]
    return Outcomes.from_category_counts(kept, categories=o.categories, models=o.models,
                                         questions=o.questions)

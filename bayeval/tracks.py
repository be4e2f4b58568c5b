"""Scores along a run: how an order of models settles as the trials come in.

A track is one possible run of an evaluation: the successes of L models on M questions after 1,
2, ..., N trials, an integer array of shape (N, L, M). Only counts are kept. An estimator is
evaluated once for each pair (successes, trials) of a single question; along ten thousand tracks
its scores are then means of looked-up numbers.
"""

from __future__ import annotations

import warnings

import joblib
import numpy as np

from bayeval import _validate as check
from bayeval.metrics import UndefinedWarning
from bayeval.outcomes import Outcomes

# Tracks in a piece of work: small enough for a processor's memory, and the unit of the seeds,
# so that results do not depend on the number of cores.
CHUNK = 100


def flips(p, n, size, *, rng=None):
    """Tracks of independent trials: coins with known success probabilities.

    Parameters
    ----------
    p : array_like, shape (L, M)
        Success probabilities. The rates of recorded attempts give the bootstrap, which draws
        each question's trials anew, with replacement.
    n : int
        Trials N.
    size : int
        Tracks.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray of int, shape (size, N, L, M)
        Successes after each trial.

    Raises
    ------
    ValueError
        If `p` is not a matrix of probabilities.

    Examples
    --------
    >>> flips([[0.5, 0.9], [0.2, 0.4]], 80, 10, rng=1).shape
    (10, 80, 2, 2)
    """
    p = check.probabilities("p", p, ndim=(2,)).astype(np.float32)
    n, size, rng = check.whole("n", n), check.whole("size", size), check.generator(rng)
    right = rng.random((size, n, *p.shape), dtype=np.float32) < p
    return right.cumsum(axis=1, dtype=np.min_scalar_type(-n - 1))


def subsamples(o, n, size, *, rng=None):
    """Tracks through recorded attempts: each keeps `n` of them, in random order, and no repeat.

    Parameters
    ----------
    o : Outcomes
        Binary outcomes of L models on M questions.
    n : int
        Trials N, at most the attempts at every question.
    size : int
        Tracks.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray of int, shape (size, N, L, M)

    Raises
    ------
    ValueError
        If a question has fewer than `n` attempts.

    Examples
    --------
    >>> import bayeval as bv
    >>> t = subsamples(bv.datasets.load("aime_2025"), 4, 3, rng=1)
    >>> bool((t[:, -1] == bv.datasets.load("aime_2025").successes).all())
    True
    """
    check.outcomes("o", o)
    left, right = o.n_trials, o.successes
    n, size, rng = check.whole("n", n), check.whole("size", size), check.generator(rng)
    if n > left.min():
        raise ValueError(f"n must be at most {left.min()}, the fewest attempts at a question; "
                         f"found {n}")
    out = np.empty((size, n, *right.shape), dtype=np.min_scalar_type(-n - 1))
    done = np.zeros((size, *right.shape), dtype=np.int64)
    for i in range(n):
        done += rng.random(done.shape) * (left - i) < right - done
        out[:, i] = done
    return out


def resamples(R, n, size, *, by="question", rng=None):
    """Bootstrap tracks from a matrix of outcomes, with replacement.

    Parameters
    ----------
    R : array_like of 0 and 1, shape (L, M, T)
        Outcomes of T recorded trials.
    n : int
        Trials N of a track.
    size : int
        Tracks.
    by : {"question", "trial"}
        "question" draws the trials of every question on their own (the rows of the paper);
        "trial" draws whole trials, the same for all questions of a model (its columns), and so
        keeps what the questions of one trial have in common.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray of int, shape (size, N, L, M)

    Raises
    ------
    ValueError
        If `R` is not such an array.

    Examples
    --------
    >>> R = [[[0, 1, 1, 0], [1, 1, 0, 1]]]
    >>> resamples(R, 8, 5, by="trial", rng=1).shape
    (5, 8, 1, 2)
    """
    R = check.reals("R", R, "outcomes 0 and 1")
    if R.ndim != 3 or R.size == 0 or not np.isin(R, (0, 1)).all():
        raise ValueError("R must hold 0 and 1 in shape (L, M, T), nothing missing; found shape "
                         f"{R.shape}")
    check.choice("by", by, ("question", "trial"))
    n, size, rng = check.whole("n", n), check.whole("size", size), check.generator(rng)
    L, M, T = R.shape
    pick = rng.integers(T, size=(size, n, L, M if by == "question" else 1))
    right = R[np.arange(L)[:, None], np.arange(M), pick]
    return right.cumsum(axis=1, dtype=np.min_scalar_type(-n - 1))


def scores(estimator, tracks):
    """Scores of the models after each trial of each track.

    Parameters
    ----------
    estimator : callable
        Maps Outcomes of L models to L scores, each the mean over the questions of a function of
        that question's counts, such as ``bv.avg``, ``partial(bv.pass_at_k, k=2)`` or
        ``lambda o: bv.posterior(o).mean``. A prior that is learned from all questions is none.
    tracks : ndarray of int, shape (..., N, L, M)

    Returns
    -------
    ndarray, shape (..., N, L)
        NaN after trials that are too few for the estimator.

    Raises
    ------
    ValueError
        If `tracks` are not successes along 1..N trials.

    Examples
    --------
    >>> import bayeval as bv
    >>> scores(bv.avg, np.array([[[1, 0]], [[1, 1]], [[2, 2]]])).round(3).tolist()
    [[0.5], [0.5], [0.667]]
    """
    if not (isinstance(tracks, np.ndarray) and tracks.dtype.kind in "iu"):
        tracks = check.counts("tracks", tracks)
    if tracks.ndim < 3 or tracks.size == 0:
        raise ValueError(f"tracks must have shape (..., N, L, M); found {tracks.shape}")
    N = tracks.shape[-3]
    if (tracks < 0).any() or (tracks > np.arange(1, N + 1)[:, None, None]).any():
        raise ValueError("tracks must be successes after 1, 2, ..., N trials: from 0 to the "
                         "number of trials")
    out = np.empty(tracks.shape[:-1])
    for n in range(1, N + 1):
        one_each = Outcomes.from_counts(np.arange(n + 1)[:, None], n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # k beyond the first trials
            value = np.asarray(estimator(one_each), dtype=float)
        if value.shape != (n + 1,):
            raise ValueError("estimator must return one score for each model; for "
                             f"{n + 1} models it returned shape {value.shape}")
        out[..., n - 1, :] = value[tracks[..., n - 1, :, :]].mean(axis=-1)
    return out


def over(function, size, *, n_jobs=1, rng=None):
    """Evaluate a function of tracks piece by piece, and put the results together.

    Parameters
    ----------
    function : callable
        ``function(size, generator)`` makes that many tracks and returns a dict of arrays whose
        first axis is the tracks.
    size : int
        Tracks in all.
    n_jobs : int, default 1
        Passed to joblib. Results do not depend on it.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    dict of ndarray

    Examples
    --------
    >>> import bayeval as bv
    >>> def last_order(size, rng):
    ...     s = scores(bv.avg, flips([[0.5, 0.9], [0.2, 0.4]], 40, size, rng=rng))
    ...     return {"right": s[:, -1, 0] > s[:, -1, 1]}
    >>> float(over(last_order, 500, rng=1)["right"].mean())
    1.0
    """
    size = check.whole("size", size)
    sizes = [min(CHUNK, size - start) for start in range(0, size, CHUNK)]
    seeds = check.generator(rng).bit_generator.seed_seq.spawn(len(sizes))
    pieces = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(function)(n, np.random.default_rng(seed)) for n, seed in zip(sizes, seeds))
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

"""Scores along a run: how an order of models settles as the trials come in.

A track is one possible run of an evaluation: the successes of L models on M questions after 1,
2, ..., N trials, an integer array of shape (N, L, M). Only counts are kept. Estimators are
evaluated once for each pair (successes, trials) of a single question; along ten thousand tracks
the scores of all of them are then one sum of rows of that table.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import joblib
import numpy as np
import scipy

from bayeval import _validate as check
from bayeval import betabinomial
from bayeval.metrics import UndefinedWarning
from bayeval.outcomes import Outcomes

# Tracks in a piece of work: small enough for a processor's memory, and the unit of the seeds,
# so that results do not depend on the number of cores.
CHUNK = 100
# Counts looked up at once: few enough for a processor's memory.
BLOCK = 1 << 18


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
    out = np.empty((size, n, *p.shape), dtype=np.min_scalar_type(-n - 1))
    done = np.zeros((size, *p.shape), dtype=out.dtype)
    chance = np.empty(done.shape, dtype=np.float32)
    for i in range(n):
        rng.random(out=chance, dtype=np.float32)
        done += chance < p
        out[:, i] = done
    return out


def twin(o, *, prior="learned", rng=None):
    """Success probabilities drawn from the posterior of recorded counts: a twin of the board.

    Parameters
    ----------
    o : Outcomes
        Binary outcomes of L models on M questions.
    prior : {"learned", "uniform"}, default "learned"
        The learned prior is drawn with its parameters, one pair for each model.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray, shape (L, M)
        A truth that the counts allow. It is not the truth.

    Raises
    ------
    ValueError
        If `o` is not binary.

    Examples
    --------
    >>> import bayeval as bv
    >>> twin(bv.datasets.load("aime_2025"), rng=1).shape
    (16, 30)
    """
    check.outcomes("o", o)
    check.choice("prior", prior, ("learned", "uniform"))
    rng = check.generator(rng)
    right, n = o.successes, o.n_trials
    a = b = np.ones((o.n_models, 1))
    if prior == "learned":
        fits = [betabinomial.quadrature(*counts) for counts in zip(right, n)]
        nodes = [rng.choice(f.weights.size, p=f.weights.ravel() / f.weights.sum()) for f in fits]
        a, b = (np.array([getattr(f, x).ravel()[i] for f, i in zip(fits, nodes)])[:, None]
                for x in "ab")
    return rng.beta(a + right, b + n - right)


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
    right = R.astype(np.int8).ravel()
    first = (T * np.arange(L * M)).reshape(L, M)
    out = np.empty((size, n, L, M), dtype=np.min_scalar_type(-n - 1))
    done = np.zeros((size, L, M), dtype=out.dtype)
    for i in range(n):
        pick = rng.integers(T, size=(size, L, M if by == "question" else 1), dtype=np.int32)
        done += right.take(first + pick)
        out[:, i] = done
    return out


@dataclass(frozen=True, eq=False)
class Table:
    """Scores of a single question for every number of successes and trials; see `tabulate`.

    Attributes
    ----------
    names : tuple of str
        The E estimators.
    n : int
        The most trials.
    values : ndarray, shape (n (n + 3) / 2, E)
        Rows for 0..1 successes in 1 trial, 0..2 in 2 trials, and so on.
    """

    names: tuple
    n: int
    values: np.ndarray


def tabulate(estimators, n):
    """Evaluate estimators on every outcome of up to n trials at one question.

    Parameters
    ----------
    estimators : dict of callable
        Each maps Outcomes of L models to L scores that are means over the questions of a function
        of that question's counts, such as ``bv.avg``, ``partial(bv.pass_at_k, k=2)`` or
        ``lambda o: bv.posterior(o).mean``. A prior that is learned from all questions is none.
    n : int
        The most trials.

    Returns
    -------
    Table
        NaN where the trials are too few for an estimator.

    Raises
    ------
    ValueError
        If an estimator returns something else.

    Examples
    --------
    >>> import bayeval as bv
    >>> tabulate({"avg": bv.avg}, 2).values.ravel().tolist()
    [0.0, 1.0, 0.0, 0.5, 1.0]
    """
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError("estimators must be a dict of names to functions of Outcomes; found "
                         f"{type(estimators).__name__}")
    n = check.whole("n", n)
    trials = np.repeat(np.arange(1, n + 1), np.arange(2, n + 2))
    every_count = Outcomes.from_counts((np.arange(len(trials)) - _start(trials))[:, None],
                                       trials[:, None])
    columns = []
    for estimator in estimators.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # k beyond the first trials
            value = np.asarray(estimator(every_count), dtype=float)
        if value.shape != trials.shape:
            raise ValueError("estimators must return one score for each model; for "
                             f"{len(trials)} models it returned shape {value.shape}")
        columns.append(value)
    return Table(names=tuple(estimators), n=n, values=np.stack(columns, axis=1))


def scores(estimators, tracks):
    """Scores of the models after each trial of each track.

    Parameters
    ----------
    estimators : Table, dict of callable, or callable
        As `tabulate` takes or makes them. For many pieces of work tabulate once.
    tracks : ndarray of int, shape (..., N, L, M)

    Returns
    -------
    dict of ndarray, shape (..., N, L)
        By estimator; for a single callable just the array. NaN after trials that are too few for
        an estimator.

    Raises
    ------
    ValueError
        If `tracks` are not successes along 1..N trials, or longer than the table.

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
    *lead, N, L, M = tracks.shape
    if (tracks < 0).any() or (tracks > np.arange(1, N + 1)[:, None, None]).any():
        raise ValueError("tracks must be successes after 1, 2, ..., N trials: from 0 to the "
                         "number of trials")
    if callable(estimators):
        table = tabulate({"estimator": estimators}, N)
    elif isinstance(estimators, Table):
        table = estimators
    else:
        table = tabulate(estimators, N)
    if table.n < N:
        raise ValueError(f"tracks have {N} trials, more than the {table.n} of the table")
    # The table's rows, summed over a model's questions: a sparse matrix of ones times the table.
    tracks = tracks.reshape(-1, N, L, M)
    start = _start(np.arange(1, N + 1)).astype(np.int32)[:, None, None]
    out = np.empty((len(tracks), N, L, len(table.names)))
    step = max(1, BLOCK // (N * L * M))
    for first in range(0, len(tracks), step):
        row = (tracks[first:first + step] + start).ravel()
        sums = scipy.sparse.csr_array((np.ones(row.size), row, np.arange(0, row.size + 1, M)),
                                shape=(row.size // M, len(table.values))) @ table.values
        out[first:first + step] = sums.reshape(-1, N, L, len(table.names)) / M
    out = np.moveaxis(out.reshape(*lead, N, L, len(table.names)), -1, 0)
    return out[0] if callable(estimators) else dict(zip(table.names, out))


def _start(trials):
    """Row of a table at which the outcomes of that many trials begin."""
    return (trials - 1) * (trials + 2) // 2


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
    key = check.generator(rng).integers(2**63, size=2).tolist()
    seeds = np.random.SeedSequence(key).spawn(len(sizes))
    pieces = joblib.Parallel(n_jobs=n_jobs, prefer="threads")(
        joblib.delayed(function)(n, np.random.default_rng(seed)) for n, seed in zip(sizes, seeds))
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

"""Coins of known truth, exact subsamples of real counts, and coverage studies on both."""

from __future__ import annotations

from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd

from bayeval import _validate as check
from bayeval.metrics import avg
from bayeval.outcomes import Outcomes

# Replicates in one piece of work, each with its own stream: results are the same however the
# pieces are spread over cores or machines.
CHUNK = 250


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
    p = check.probabilities("p", p, ndim=(1, 2))
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


@dataclass(frozen=True)
class Mixture:
    """Law of success probabilities that is a mixture of others, for `coverage`.

    Parameters
    ----------
    weights : sequence of float
        Shares of the parts, with sum 1.
    parts : sequence
        Distributions with ``rvs(size=, random_state=)`` and ``mean()``; a number stands for
        questions that all have this probability.

    Raises
    ------
    ValueError
        If there are not as many weights as parts, or they are no shares.

    Examples
    --------
    >>> from scipy import stats
    >>> half_impossible = Mixture([0.5, 0.5], [0, stats.beta(2, 2)])
    >>> half_impossible.mean()
    0.25
    >>> half_impossible.rvs(size=4, random_state=1).round(2)
    array([0.75, 0.56, 0.  , 0.67])
    """

    weights: tuple
    parts: tuple

    def __post_init__(self):
        w = check.reals("weights", self.weights)
        if w.shape != (len(self.parts),) or not (w >= 0).all() or abs(w.sum() - 1) > 1e-9:
            raise ValueError(f"weights must be {len(self.parts)} shares, one for each part, with "
                             f"sum 1; found {self.weights!r}")

    def mean(self):
        """Mean of the law."""
        return float(sum(w * (part.mean() if hasattr(part, "mean") else part)
                         for w, part in zip(self.weights, self.parts)))

    def rvs(self, size=None, random_state=None):
        """Draws of shape `size`."""
        rng = check.generator(random_state)
        part = rng.choice(len(self.parts), size=size, p=np.asarray(self.weights, dtype=float))
        return np.choose(part, [law.rvs(size=size, random_state=rng) if hasattr(law, "rvs")
                                else np.full(np.shape(part), float(law)) for law in self.parts])


def coverage(estimator, truth, n, *, questions=None, probability=0.95, replicates=1000,
             population=False, n_jobs=None, rng=None):
    """How often an interval holds the truth, how wide it is, and how far its center is off.

    Parameters
    ----------
    estimator : callable
        Maps Outcomes of L models to something with ``.mean`` and ``.interval(probability)``,
        such as ``functools.partial(bv.posterior, prior="uniform")``.
    truth : scipy frozen distribution or Outcomes
        A distribution (anything with ``rvs(size=, random_state=)`` and ``mean()``) from which
        each replicate draws new success probabilities; or real counts, from which each
        replicate keeps `n` attempts at random without replacement, the truth being avg@N over
        all of them.
    n : int or array_like of int, shape (K,)
        Attempts at each question.
    questions : int, optional
        M, the questions of a replicate; needed with a distribution.
    probability : float, default 0.95
        Nominal probability of the interval.
    replicates : int, default 1000
    population : bool, default False
        Judge ``estimator(o).population`` against the mean of the distribution instead of the
        score of the questions that were drawn.
    n_jobs : int, optional
        Passed to joblib. By default it is 1, or what ``joblib.parallel_config`` says, which also
        sets the backend (for instance Dask's); the results are the same.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    pandas.DataFrame
        One row for each n (and model of `truth`): ``n``, ``coverage``, ``mc_error`` (its
        Monte Carlo standard error), ``width`` (mean), ``bias`` and ``rmse`` of the center, and
        ``rmse_avg``, that of avg@N on the same replicates.

    Raises
    ------
    ValueError
        If an argument does not fit.

    Examples
    --------
    >>> import bayeval as bv
    >>> from scipy import stats
    >>> t = bv.simulate.coverage(bv.posterior, stats.beta(1, 1), 8, questions=30,
    ...                          replicates=500, rng=1)
    >>> bool(0.92 < t.coverage[0] < 0.98)
    True
    """
    if not callable(estimator):
        raise ValueError("estimator must be a function of Outcomes; found "
                         f"{type(estimator).__name__}")
    probability = check.probability("probability", probability)
    replicates = check.whole("replicates", replicates)
    if n_jobs is not None:
        n_jobs = check.whole("n_jobs", n_jobs, low=-(2**10), high=2**10)
    n = np.atleast_1d(check.attempts("n", n))
    if isinstance(truth, Outcomes):
        if population:
            raise ValueError("population=True needs a distribution: the population behind real "
                             "questions is not known")
        cells = [truth.select(models=[model]) for model in truth.models]
    elif hasattr(truth, "rvs") and hasattr(truth, "mean"):
        if questions is None:
            raise ValueError("questions is needed when truth is a distribution")
        check.whole("questions", questions)
        cells = [truth]
    else:
        raise ValueError("truth must be a distribution with rvs and mean, or Outcomes; found "
                         f"{type(truth).__name__}")
    sizes = [min(CHUNK, replicates - start) for start in range(0, replicates, CHUNK)]
    work = [(cell, n_i, size) for cell in cells for n_i in n for size in sizes]
    seeds = check.generator(rng).bit_generator.seed_seq.spawn(len(work))
    pieces = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_replicate)(estimator, *item, questions, probability, population, seed)
        for item, seed in zip(work, seeds))
    rows = []
    for i in range(0, len(pieces), len(sizes)):
        cell, n_i, _ = work[i]
        value, center, low, high, plain = np.concatenate(pieces[i:i + len(sizes)], axis=1)
        inside = ((low <= value) & (value <= high)).mean()
        label = {"model": cell.models[0]} if isinstance(cell, Outcomes) else {}
        rows.append(label | {
            "n": n_i, "coverage": inside, "mc_error": np.sqrt(inside * (1 - inside) / replicates),
            "width": (high - low).mean(), "bias": (center - value).mean(),
            "rmse": np.sqrt(((center - value) ** 2).mean()),
            "rmse_avg": np.sqrt(((plain - value) ** 2).mean())})
    return pd.DataFrame(rows)


def _replicate(estimator, truth, n, size, questions, probability, population, seed):
    """Truth, center, low, high and avg@N of `size` replicates, which stand as models."""
    rng = np.random.default_rng(seed)
    if isinstance(truth, Outcomes):
        value = np.full(size, avg(truth)[0])
        many = Outcomes(counts=np.repeat(truth.counts, size, axis=0),
                        planned=np.repeat(truth.planned, size, axis=0), models=tuple(range(size)),
                        questions=truth.questions, categories=truth.categories)
        o = subsample(many, int(n), rng=rng)
    else:
        p = truth.rvs(size=(size, questions), random_state=rng)
        value = np.full(size, truth.mean()) if population else p.mean(axis=1)
        o = coin_flips(p, int(n), rng=rng)
    estimate = estimator(o)
    if population:
        estimate = estimate.population
    interval = estimate.interval(probability)
    return np.stack([value, estimate.mean, interval.low, interval.high, avg(o)])

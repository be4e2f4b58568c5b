"""How many attempts, for which model, on which question: before an evaluation and during it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayeval import _validate as check
from bayeval.sequential import NextTrials, next_trials, probability_best, replay

__all__ = ["NextTrials", "Plan", "next_trials", "plan_trials", "plan_width", "plan_winner",
           "probability_best", "replay", "score_sd"]

MAX_TRIALS = 10**9


@dataclass(frozen=True)
class Plan:
    """Trials that two models need, and what they buy; made by `plan_trials`.

    Attributes
    ----------
    n_trials : int
        Trials per question and model.
    rho : float
        Median of the paper's rho at that many trials: Phi(gap / sd).
    right_order : float
        Probability that the two posterior means come out in the right order, which is the same
        number: both are Phi of the gap in standard deviations.
    power : float
        Probability that rho reaches the level asked for, with the better model ahead.
    gap : float
        Difference of the two scores that the plan is for.
    sd : float
        Standard deviation of the difference of the two scores over repeated evaluations.
    total_runs : int
        Trials x questions x 2 models.
    """

    n_trials: int
    rho: float
    right_order: float
    power: float
    gap: float
    sd: float
    total_runs: int


def plan_trials(p_a, p_b, *, rho=0.95, power=0.5, gap=None):
    r"""Trials per question after which two models are told apart.

    Over repeated evaluations the difference of the two avg@N scores has mean
    :math:`\Delta = \bar p_a - \bar p_b` and variance

    .. math:: \frac{1}{N M^2} \sum_m \left[ p_{am}(1 - p_{am}) + p_{bm}(1 - p_{bm}) \right].

    The paper's z scatters about :math:`\Delta` in standard deviations by about 1. It therefore
    reaches :math:`z_\rho = \Phi^{-1}(\rho)` with probability `power` after
    :math:`N = (z_\rho + z_{\mathrm{power}})^2 \sum_m [\ldots] / (M \Delta)^2` trials. The
    default, power 1/2, puts the median of rho at the level.

    Parameters
    ----------
    p_a, p_b : array_like, shape (M,)
        Success probabilities of the two models on the M questions: guesses, or posterior means
        from a pilot.
    rho : float in (0.5, 1), default 0.95
        Level that rho is to reach.
    power : float in [0.5, 1), default 0.5
        Probability with which it is to reach it.
    gap : float in (0, 1], optional
        Smallest difference of scores worth detecting; then `p_a` and `p_b` say only how noisy
        the attempts are. By default the difference of their means, which after a short pilot
        is mostly noise itself.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        If the shapes differ, a probability leaves [0, 1], or the models are equally good and
        no `gap` is given.

    References
    ----------
    Hariri et al. (2026), "Don't Pass@k", arXiv:2510.04265.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.design.plan_trials([0.7] * 30, [0.6] * 30).n_trials
    5
    >>> bv.design.plan_trials([0.7] * 30, [0.6] * 30, power=0.8, gap=0.05).n_trials
    38
    """
    rho = check.number("rho", rho, low=0.5, high=1, open_low=True, open_high=True)
    power = check.number("power", power, low=0.5, high=1, open_high=True)
    a, b = (check.probabilities(name, p, ndim=(1,)) for name, p in (("p_a", p_a), ("p_b", p_b)))
    if a.shape != b.shape:
        raise ValueError(f"p_a and p_b must be of the same questions; found {len(a)} and "
                         f"{len(b)}")
    if gap is None:
        gap = abs(a.mean() - b.mean())
        if gap < 1e-12:
            raise ValueError("p_a and p_b have the same mean: no number of trials tells equally "
                             "good models apart; give the gap that matters")
    else:
        gap = check.number("gap", gap, low=0, high=1, open_low=True)
    one_trial = (a * (1 - a) + b * (1 - b)).sum() / len(a) ** 2
    level = special.ndtri(rho)
    needed = (level + special.ndtri(power)) ** 2 * one_trial / gap**2
    if needed > MAX_TRIALS:
        raise ValueError(f"the gap {gap:.2g} needs {needed:.2g} trials per question, more than "
                         f"{MAX_TRIALS:.0g}")
    n = max(1, int(np.ceil(needed)))
    sd = float(np.sqrt(one_trial / n))
    z = gap / sd if sd > 0 else np.inf
    right = float(special.ndtr(z))
    return Plan(n_trials=n, rho=right, right_order=right, power=float(special.ndtr(z - level)),
                gap=float(gap), sd=sd, total_runs=2 * n * len(a))


def score_sd(p, n, *, questions=None, population=False):
    r"""Standard deviation of avg@N after N trials at each of M questions.

    About the score of these questions it is
    :math:`\sqrt{\overline{p (1 - p)} / (N M)}`, and more trials take it to 0. About the score of
    the population that the questions are drawn from it is
    :math:`\sqrt{(\overline{p (1 - p)} / N + \mathrm{Var}\, p) / M}`, which only more questions
    take to 0.

    Parameters
    ----------
    p : array_like, shape (..., Q)
        Success probabilities of Q questions, guessed or from a pilot, for one or more models.
    n : int or array_like of int
        Trials N per question.
    questions : int or array_like of int, optional
        M; by default Q. It broadcasts with `n`.
    population : bool, default False
        About the score of the population.

    Returns
    -------
    float or ndarray
        Shape of the models and of the broadcast `n` and `questions`.

    Raises
    ------
    ValueError
        If an argument does not fit.

    Examples
    --------
    >>> p = [0.9, 0.5, 0.1, 0.0]
    >>> score_sd(p, [1, 4, 64]).round(3)
    array([0.164, 0.082, 0.02 ])
    >>> score_sd(p, [1, 4, 64], population=True).round(3)
    array([0.242, 0.196, 0.179])
    """
    p = check.probabilities("p", p, ndim=(1, 2))
    n = check.attempts("n", n)
    M = check.attempts("questions", p.shape[-1] if questions is None else questions)
    n, M = np.broadcast_arrays(n, M)
    noise, spread = (p * (1 - p)).mean(axis=-1), p.var(axis=-1) * bool(population)
    variance = np.divide.outer(noise, n) + np.multiply.outer(spread, np.ones(n.shape))
    return np.sqrt(variance / M)[()]


def plan_width(p, width, *, probability=0.95, questions=None, population=False):
    """Trials per question after which the interval of the score is as narrow as `width`.

    Parameters
    ----------
    p, questions, population
        As in `score_sd`, for one model.
    width : float in (0, 1)
        Of the interval, in the normal approximation.
    probability : float, default 0.95
        Of the interval.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If no number of trials is enough, because the questions are too few; the error says how
        many would do.

    Examples
    --------
    >>> p = [0.9, 0.5, 0.1, 0.0] * 10
    >>> plan_width(p, 0.05)
    17
    >>> plan_width(p, 0.2, questions=200, population=True)
    1
    """
    p = check.probabilities("p", p, ndim=(1,))
    width = check.probability("width", width)
    z = special.ndtri((1 + check.probability("probability", probability)) / 2)
    M = check.whole("questions", len(p) if questions is None else questions)
    noise, spread = (p * (1 - p)).mean(), p.var() * bool(population)
    left = (width / (2 * z)) ** 2 * M - spread
    if left <= 0 or noise / left > MAX_TRIALS:
        raise ValueError(
            f"width {width:g} is out of reach with {M} questions, however many trials: the "
            f"questions alone make it {2 * z * np.sqrt(spread / M):.3g}; take more than "
            f"{int(np.ceil(spread * (2 * z / width) ** 2))} questions, or a larger width")
    return max(1, int(np.ceil(noise / left - 1e-9)))


def plan_winner(p, *, probability=0.95):
    """Trials per question after which the best model leads with the given probability.

    Parameters
    ----------
    p : array_like, shape (L, M)
        Success probabilities of L models on M questions.
    probability : float, default 0.95

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If two models tie for the best, or more than 1e9 trials are needed.

    Examples
    --------
    >>> plan_winner([[0.7] * 30, [0.6] * 30, [0.55] * 30])
    5
    """
    p = check.probabilities("p", p, ndim=(2,))
    probability = check.probability("probability", probability)
    mean = p.mean(axis=1)
    first, second = np.sort(mean)[:-3:-1] if len(p) > 1 else (1.0, 0.0)
    if first - second < 1e-12:
        raise ValueError("p must have one best model: two tie, and no number of trials tells "
                         "them apart")
    best = int(mean.argmax())

    def enough(n):
        return probability_best(mean, score_sd(p, n))[best] >= probability

    high = 1
    while not enough(high):
        high *= 2
        if high > MAX_TRIALS:
            raise ValueError(f"the gap {first - second:.2g} needs more than {MAX_TRIALS:.0g} "
                             "trials per question")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

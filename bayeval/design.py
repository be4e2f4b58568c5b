"""How many attempts: planning before an evaluation is run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayeval import _validate as check

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
    p = []
    for name, x in (("p_a", p_a), ("p_b", p_b)):
        try:
            x = np.asarray(x, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be an array of probabilities") from None
        if x.ndim != 1 or x.size == 0 or not ((x >= 0) & (x <= 1)).all():
            raise ValueError(f"{name} must have shape (M,) and lie in [0, 1]; found shape "
                             f"{x.shape}")
        p.append(x)
    a, b = p
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

"""Scores of models that are alike, drawn toward one another, and compared so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from bayeval import _validate as check

# Spreads of the true scores, as shares of the range of a score; each has the same prior weight.
SPREADS = np.geomspace(0.002, 1, 200)


@dataclass(frozen=True, eq=False)
class Pooled:
    """Scores of L models under a model of the models; made by `pooled`.

    Attributes
    ----------
    mean, sd : ndarray, shape (L,)
        Posterior mean and standard deviation of each model's score.
    spread : float
        Posterior mean of the standard deviation of the true scores.
    superiority : pandas.DataFrame, shape (L, L)
        Probability that the row's model is better than the column's, as `discoveries` takes it.
    """

    mean: np.ndarray
    sd: np.ndarray
    spread: float
    superiority: pd.DataFrame


def pooled(p):
    r"""Pool the scores of several models: these are draws from one normal law.

    Without pooling each model might have any score, and that the others lie close tells nothing.
    Among close models some pairs then look settled by luck. Here the true scores have the law
    :math:`N(\mu, \omega^2)`, where :math:`\mu` has a flat prior and :math:`\log \omega` a uniform
    one, from 0.002 to 1 times the range of a score. What a score is given its model's outcomes is
    taken as normal. Where :math:`\omega` is large against the standard deviations, pooling changes
    nothing.

    Parameters
    ----------
    p : Posterior or Estimate
        Of L >= 3 models: the scores on these questions, or for instance ``p.population``.

    Returns
    -------
    Pooled

    Raises
    ------
    ValueError
        If `p` is of fewer than three models, has more than one entry a model, or a model whose
        score has no uncertainty.

    References
    ----------
    Gelman et al., Bayesian Data Analysis (3rd edition, 2013), section 5.4.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [8, 8], [7, 8]], 10, models=["A", "B", "C"])
    >>> p = bv.posterior(o)
    >>> alone, together = bv.superiority(o, paired=False), bv.pooled(p)
    >>> alone.loc["A", "C"].round(2), together.superiority.loc["A", "C"].round(2)
    (np.float64(0.8), np.float64(0.6))
    """
    check.board("p", p, 3)
    mean, sd = np.asarray(p.mean, dtype=float), np.asarray(p.sd, dtype=float)
    if not (sd > 0).all():
        raise ValueError("p must be uncertain of every model; found a standard deviation of 0 for "
                         f"{p.models[int(np.argmin(sd))]!r}")
    omega = (np.ptp(getattr(p, "weights", (0, 1))) * SPREADS)[:, None]
    # Each step is for all spreads at once, shape (spreads, models). The common mean is integrated
    # out: its law given the spread is normal around `center` with variance `loose`.
    variance = omega**2 + sd**2
    loose = 1 / (1 / variance).sum(axis=1, keepdims=True)
    center = (mean / variance).sum(axis=1, keepdims=True) * loose
    fit = (np.log(variance) + (mean - center) ** 2 / variance).sum(axis=1) - np.log(loose[:, 0])
    weight = special.softmax(-0.5 * fit)
    own = omega**2 / variance  # the share that a model's own outcomes have in its score
    drawn = center + own * (mean - center)
    inner = own * sd**2
    differ = drawn[:, :, None] - drawn[:, None]
    noise = inner[:, :, None] + inner[:, None] + loose[..., None] * (
        own[:, :, None] - own[:, None]) ** 2
    better = np.tensordot(weight, special.ndtr(differ / np.sqrt(noise)), 1)
    labels = pd.Index(p.models, name="model")
    mu = weight @ drawn
    second = weight @ (drawn**2 + inner + loose * (1 - own) ** 2)
    return Pooled(mean=mu, sd=np.sqrt(second - mu**2), spread=float(weight @ omega[:, 0]),
                  superiority=pd.DataFrame((better + 1 - better.T) / 2, index=labels,
                                           columns=labels.rename("than")))

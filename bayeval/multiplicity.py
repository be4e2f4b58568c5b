"""Many models at once: superiority matrix, rank probabilities, false discoveries."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from bayeval import _validate as check
from bayeval.distribution import dirichlet_score_cdf
from bayeval.posterior import posterior

# Cells on which the laws of all models are compared.
CELLS = 512


def superiority(o, *, paired=True, weights=None, prior="uniform"):
    r"""Probability that the row's model is better than the column's, for all pairs.

    Two estimands, chosen by `paired`:

    * ``paired=True``: the mean over the population that the shared questions were drawn from.
      The models answered the same questions, so what counts is the difference
      :math:`d_m` of their scores question by question. The population of questions gets a
      Dirichlet posterior with one count for each question, and one for each corner of the
      two-model table (both best, both worst, one of either); the probability is that of
      :math:`\sum_m W_m d_m > 0`, computed by quadrature. With one attempt at each question this
      is the 2 x 2 table under Dirichlet(1, 1, 1, 1).
    * ``paired=False``: the score on these questions, from the posterior of each model, which
      are independent given the outcomes.

    Parameters
    ----------
    o : Outcomes
        Of at least two models.
    paired : bool, default True
    weights : array_like, shape (C+1,), optional
        The rubric.
    prior : optional
        Of each question, as in `posterior`; only for ``paired=False``.

    Returns
    -------
    pandas.DataFrame, shape (L, L)
        Ties count half, so P(i > j) + P(j > i) = 1; the diagonal is 1/2.

    Raises
    ------
    ValueError
        If there is one model only, or two models share no question.

    References
    ----------
    Imhof (1961), for the probability that a weighted sum of gamma variables is positive.

    Examples
    --------
    >>> import bayeval as bv
    >>> a_right = [1] * 60 + [1] * 2 + [0] * 9 + [0] * 29
    >>> b_right = [1] * 60 + [0] * 2 + [1] * 9 + [0] * 29
    >>> o = bv.Outcomes.from_counts([a_right, b_right], 1, models=["A", "B"])
    >>> float(round(bv.superiority(o).loc["B", "A"] * 4096, 6))
    4017.0
    """
    check.outcomes("o", o)
    if o.n_models < 2:
        raise ValueError("o must hold at least two models to compare; found one")
    i, j = np.triu_indices(o.n_models, 1)
    if paired:
        above = _paired_superiority(o, check.weights(weights, o.n_categories), i, j)
    else:
        mass, below = _on_common_cells(posterior(o, weights=weights, prior=prior).laws())
        above = np.einsum("lgn,kgn->lk", mass, below)[i, j]
    matrix = np.full((o.n_models, o.n_models), 0.5)
    matrix[i, j] = above
    matrix[j, i] = 1 - matrix[i, j]
    labels = pd.Index(o.models, name="model")
    return pd.DataFrame(matrix, index=labels, columns=labels.rename("than"))


def _paired_superiority(o, w, i, j):
    n = o.n_trials
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = np.where(n > 0, o.counts @ w / n, np.nan)
    span = w.max() - w.min()
    corners = np.array([0.0, 0.0, span, -span])
    out = np.empty(len(i))
    for pair, (a, b) in enumerate(zip(i, j)):
        d = scores[a] - scores[b]
        d = d[~np.isnan(d)]
        if not len(d):
            raise ValueError(f"models {o.models[a]!r} and {o.models[b]!r} share no question")
        # Rounded, so that equal differences are one weight whatever their last digits.
        values, nu = np.unique(np.round(np.concatenate([d, corners]), 12), return_counts=True)
        out[pair] = 0.5 if span == 0 else \
            1 - dirichlet_score_cdf(nu.astype(float), values, np.zeros(1))[0]
    return out


def rank_probabilities(p):
    """Probability of each rank for each model, from independent posteriors.

    Given one model's score, the number of models above it is a sum of independent coin flips;
    its law is built one model at a time and averaged over the score. No draws are needed.

    Parameters
    ----------
    p : Posterior or Estimate
        Of L models.

    Returns
    -------
    pandas.DataFrame, shape (L, L)
        Row: model; column: rank 1..L. Rows and columns sum to 1.

    Raises
    ------
    ValueError
        If `p` is of one model, or has more than one entry a model.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> bv.rank_probabilities(bv.posterior(o)).round(3).loc["A"].tolist()
    [0.643, 0.357, 0.0]
    """
    if np.ndim(p.mean) != 1 or len(p.models) < 2:
        raise ValueError("p must be a posterior of at least two models, with one entry a model; "
                         f"found shape {np.shape(p.mean)}")
    mass, below = _on_common_cells(p.laws())
    L = len(mass)
    mass, above = mass.reshape(L, -1), 1 - below.reshape(L, -1)
    # count[r, i, g]: probability that r of the models seen so far, i left out, are above node g.
    count = np.zeros((L + 1, *mass.shape))
    count[0] = 1.0
    for j in range(L):
        q = np.broadcast_to(above[j], mass.shape).copy()
        q[j] = 0.0
        count[1:j + 2] = count[1:j + 2] * (1 - q) + count[:j + 1] * q
        count[0] *= 1 - q
    probability = np.einsum("rlg,lg->lr", count[:L], mass)
    return pd.DataFrame(probability, index=pd.Index(p.models, name="model"),
                        columns=pd.RangeIndex(1, L + 1, name="rank"))


def discoveries(matrix, *, q=0.05):
    """The largest set of claims "i is better than j" whose expected false share is at most q.

    Each pair is claimed in its likelier direction, and is false with the rest of the
    probability; an even pair is never claimed. Claims are taken from the surest on while the
    mean of these stays within q. The bound holds for the set, not for its last claims: sure
    claims make room for doubtful ones.

    Parameters
    ----------
    matrix : pandas.DataFrame, shape (L, L)
        From `superiority`.
    q : float in (0, 1), default 0.05
        Bayesian false discovery rate.

    Returns
    -------
    pandas.DataFrame
        One row a claim, surest first: ``better``, ``worse``, ``probability`` and
        ``false_share``, the expected false share of the claims up to this one.

    Raises
    ------
    ValueError
        If `matrix` is not a superiority matrix.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> bv.discoveries(bv.superiority(o, paired=False))[["better", "worse"]].to_numpy().tolist()
    [['A', 'C'], ['B', 'C']]
    """
    q = check.probability("q", q)
    P = np.asarray(matrix, dtype=float)
    if not isinstance(matrix, pd.DataFrame) or P.ndim != 2 or P.shape[0] != P.shape[1] \
            or not np.allclose(P + P.T, 1):
        raise ValueError("matrix must be a superiority matrix: a square DataFrame in which "
                         "P(i > j) + P(j > i) = 1")
    i, j = np.triu_indices(len(P), 1)
    swap = P[i, j] < 0.5
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    order = np.argsort(-P[i, j], kind="stable")
    i, j = i[order], j[order]
    probability = P[i, j]
    false_share = np.cumsum(1 - probability) / np.arange(1, len(i) + 1)
    keep = false_share <= q  # the running mean of increasing numbers increases
    labels = matrix.index.to_numpy()
    return pd.DataFrame({"better": labels[i], "worse": labels[j], "probability": probability,
                         "false_share": false_share})[keep & (probability > 0.5)]


def _on_common_cells(laws):
    """Mass of each law, and the probability below, at two Gauss nodes in each common cell.

    Inside a cell the laws are taken as uniform. Both arrays have shape (L, cells, 2).
    """
    p = special.ndtr(np.linspace(-5, 5, max(8, CELLS // len(laws))))
    x = np.unique(np.concatenate([law.quantile(p) for law in laws]
                                 + [[law.x[0], law.x[-1]] for law in laws]))
    cdf = np.array([law.probability_below(x) for law in laws])
    mass = np.diff(cdf, axis=1)[..., None]
    node = (1 + np.array([-1, 1]) / np.sqrt(3)) / 2
    return np.broadcast_to(mass / 2, (*mass.shape[:2], 2)), cdf[:, :-1, None] + mass * node

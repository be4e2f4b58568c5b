"""Many models at once: superiority matrix, rank probabilities, false discoveries."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from bayeval import _validate as check
from bayeval.distribution import dirichlet_score_cdf
from bayeval.posterior import posterior
from bayeval.priors import Dirichlet

# Cells on which the laws of all models are compared.
CELLS = 512
# Equal models differ by rounding: a claim needs a probability above one half by more than this.
EVEN = 1e-9


def superiority(o, *, paired=True, weights=None, prior="uniform"):
    r"""Probability that the row's model is better than the column's, for all pairs.

    Two estimands, chosen by `paired`:

    * ``paired=True``: the mean over the population that the shared questions were drawn from.
      The models answered the same questions, so what counts is the difference
      :math:`d_m` of their scores question by question. The population of questions gets a
      Dirichlet posterior with one count for each question, and one for each corner of the
      two-model table (both best, both worst, one of either); the probability is that of
      :math:`\sum_m W_m d_m > 0`, computed by quadrature. With one attempt at each question this
      is the 2 x 2 table under Dirichlet(1, 1, 1, 1). Where two models hardly differ on any
      question, as near the top of the scale, the corners make it cautious; ``Dirichlet(a)``
      gives each of them a count of `a` instead.
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
        For ``paired=False`` that of each question, as in `posterior`; for ``paired=True`` that
        of the corners, "uniform" or ``Dirichlet(a)`` with one number.

    Returns
    -------
    pandas.DataFrame, shape (L, L)
        Ties count half, so P(i > j) + P(j > i) = 1; the diagonal is 1/2.

    Raises
    ------
    ValueError
        If there is one model only, two models share no question, or the prior does not fit.

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
        above = _paired_superiority(o, check.weights(weights, o.n_categories), _corner(prior),
                                    i, j)
    else:
        mass, below = _on_common_cells(posterior(o, weights=weights, prior=prior).laws())
        above = np.einsum("lgn,kgn->lk", mass, below)[i, j]
    matrix = np.full((o.n_models, o.n_models), 0.5)
    matrix[i, j] = above
    matrix[j, i] = 1 - matrix[i, j]
    labels = pd.Index(o.models, name="model")
    return pd.DataFrame(matrix, index=labels, columns=labels.rename("than"))


def _corner(prior):
    """Prior count of each corner of the two-model table."""
    if isinstance(prior, str) and prior == "uniform":
        return 1.0
    if isinstance(prior, Dirichlet) and np.ndim(prior.alpha) == 0:
        return float(prior.alpha)
    raise ValueError('prior must be "uniform" or bayeval.Dirichlet(a), the count of each corner, '
                     f"when paired=True; found {prior!r} (other priors are of a model's "
                     "questions: paired=False)")


def _paired_superiority(o, w, corner, i, j):
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
        values, at = np.unique(np.round(np.concatenate([d, corners]), 12), return_inverse=True)
        nu = np.bincount(at, np.concatenate([np.ones(len(d)), np.full(4, corner)]))
        out[pair] = 0.5 if span == 0 else 1 - dirichlet_score_cdf(nu, values, np.zeros(1))[0]
    return out


def rank_probabilities(p):
    """Probability of each rank for each model, from independent posteriors.

    Given one model's score, the number of models above it is a sum of independent coin flips.
    The law of that number is built flip by flip and averaged over the score; no draws are
    needed.

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
    check.board("p", p, 2)
    mass, below = _on_common_cells(p.laws())
    L = len(mass)
    mass, above = mass.reshape(L, -1), 1 - below.reshape(L, -1)
    # full[r, g]: probability that r of all L models are above node g.
    full = np.zeros((L + 1, mass.shape[1]))
    full[0] = 1.0
    for q in above:
        full[1:] = full[1:] * (1 - q) + full[:-1] * q
        full[0] *= 1 - q
    # Taking one model out again solves full[r] = (1 - q) others[r] + q others[r - 1]: upwards
    # where q is below one half, else downwards, so that no error grows.
    probability = np.zeros((L, L))
    up = above <= 0.5
    for here, q, ranks, shift in ((up, above, range(L), 0), (~up, 1 - above, range(L)[::-1], 1)):
        q, own = np.where(here, q, 0), np.where(here, mass, 0)
        others = 0.0
        for r in ranks:
            others = (full[r + shift] - q * others) / (1 - q)
            probability[:, r] += np.einsum("lg,lg->l", own, others)
    probability = np.maximum(probability, 0)
    return pd.DataFrame(probability, index=pd.Index(p.models, name="model"),
                        columns=pd.RangeIndex(1, L + 1, name="rank"))


def rank_summary(table, *, probability=0.95, top=1):
    """What a table of rank probabilities says of each model, in a few numbers.

    Parameters
    ----------
    table : pandas.DataFrame, shape (L, L)
        From `rank_probabilities`.
    probability : float in (0, 1), default 0.95
        Of each model's credible rank set: the shortest run of ranks that holds at least this
        much. It is a statement about one model; for all at once take
        ``1 - (1 - probability) / L``.
    top : int or sequence of int, default 1
        Numbers of first places, each from 1 to L.

    Returns
    -------
    pandas.DataFrame
        By expected rank, best first: ``expected_rank``, ``rank_low`` and ``rank_high`` (the
        set), and ``top_k``, the probability of one of the first k places, for each k in `top`.

    Raises
    ------
    ValueError
        If `table` holds no rank probabilities, or an option does not fit.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> table = bv.rank_probabilities(bv.posterior(o))
    >>> print(bv.rank_summary(table, top=[1, 2]).round(2).reset_index().to_string())
      model  expected_rank  rank_low  rank_high  top_1  top_2
    0     A           1.36         1          2   0.64    1.0
    1     B           1.64         1          2   0.36    1.0
    2     C           3.00         3          3   0.00    0.0
    """
    probability = check.probability("probability", probability)
    P = check.reals("table", table)
    if not isinstance(table, pd.DataFrame) or P.ndim != 2 or P.shape[0] != P.shape[1] \
            or not (P >= 0).all() or not np.allclose(P.sum(axis=1), 1):
        raise ValueError("table must come from rank_probabilities: a square DataFrame whose rows "
                         f"sum to 1; found {type(table).__name__} of shape {P.shape}")
    L = len(P)
    top = [check.whole("top", k, high=L) for k in np.atleast_1d(top).tolist()]
    up_to = np.cumsum(P, axis=1)
    before = np.concatenate([np.zeros((L, 1)), up_to[:, :-1]], axis=1)
    sets = np.array([_shortest_run(*rows, probability) for rows in zip(before, up_to)])
    summary = pd.DataFrame({"expected_rank": P @ np.arange(1, L + 1),
                            "rank_low": sets[:, 0] + 1, "rank_high": sets[:, 1] + 1},
                           index=table.index)
    for k in top:
        summary[f"top_{k}"] = up_to[:, k - 1]
    return summary.sort_values("expected_rank", kind="stable")


def discoveries(matrix, *, q=0.05, floor=0.5, family=None):
    """The largest set of claims "i is better than j" whose expected false share is at most q.

    Each pair is claimed in its likelier direction, and is false with the rest of the
    probability; an even pair is never claimed. Claims are taken from the surest on while the
    mean of these stays within q.

    The bound holds for the set, not for its last claims: sure claims make room for doubtful
    ones, down to pairs that are nearly even. Two options mend that. `floor` asks something of
    every claim, and `family` leaves out the pairs that nobody doubted.

    Parameters
    ----------
    matrix : pandas.DataFrame, shape (L, L)
        From `superiority`.
    q : float in (0, 1), default 0.05
        Bayesian false discovery rate.
    floor : float in [0.5, 1), default 0.5
        Least probability of each claim: 1 - floor bounds its local false discovery rate.
    family : array_like of bool, shape (L, L), optional
        The pairs that are asked about; an entry on either side of the diagonal is enough. By
        default all of them.

    Returns
    -------
    pandas.DataFrame
        One row a claim, surest first: ``better``, ``worse``, ``probability`` and
        ``false_share``, the expected false share of the claims up to this one.

    Raises
    ------
    ValueError
        If `matrix` is not a superiority matrix, or an option does not fit.

    References
    ----------
    Newton et al. (2004), Biostatistics 5(2), for the rule; Efron et al. (2001), JASA 96(456),
    for the local rate.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[9, 8], [9, 7], [1, 0]], 10, models=["A", "B", "C"])
    >>> matrix = bv.superiority(o, paired=False)
    >>> bv.discoveries(matrix)[["better", "worse"]].to_numpy().tolist()
    [['A', 'C'], ['B', 'C']]
    >>> claims = bv.discoveries(matrix, q=0.2)     # the sure two make room for a third
    >>> claims[["better", "worse", "probability"]].round(2).to_numpy().tolist()
    [['A', 'C', 1.0], ['B', 'C', 1.0], ['A', 'B', 0.64]]
    >>> len(bv.discoveries(matrix, q=0.2, floor=0.9))
    2
    """
    q = check.probability("q", q)
    floor = check.number("floor", floor, low=0.5, high=1, open_high=True)
    P = check.reals("matrix", matrix)
    if not isinstance(matrix, pd.DataFrame) or P.ndim != 2 or P.shape[0] != P.shape[1] \
            or not np.allclose(P + P.T, 1) or (P < -EVEN).any():
        raise ValueError("matrix must be a superiority matrix: a square DataFrame of "
                         "probabilities in which P(i > j) + P(j > i) = 1")
    P = np.clip(P, 0, 1)  # averages of probabilities may exceed 1 by rounding
    asked = np.ones(P.shape, dtype=bool) if family is None else np.asarray(family)
    if asked.shape != P.shape or asked.dtype != bool:
        raise ValueError(f"family must be true or false for each pair, shape {P.shape}; found "
                         f"shape {asked.shape} of type {asked.dtype}")
    i, j = np.nonzero(np.triu(asked | asked.T, 1))
    swap = P[i, j] < 0.5
    i, j = np.where(swap, j, i), np.where(swap, i, j)
    order = np.argsort(-P[i, j], kind="stable")
    i, j = i[order], j[order]
    probability = P[i, j]
    false_share = np.cumsum(1 - probability) / np.arange(1, len(i) + 1)
    # The running mean of increasing numbers increases, so each condition keeps a first part.
    keep = (false_share <= q) & (probability >= floor) & (probability > 0.5 + EVEN)
    labels = matrix.index.to_numpy()
    return pd.DataFrame({"better": labels[i], "worse": labels[j], "probability": probability,
                         "false_share": false_share})[keep]


def _shortest_run(before, up_to, probability):
    """First and last place of the shortest run that holds `probability`; the likeliest of them."""
    last = np.searchsorted(up_to, before + probability - EVEN)
    start = np.flatnonzero(last < len(up_to))
    if not len(start):
        return 0, len(up_to) - 1
    last = last[start]
    held = up_to[last] - before[start]
    best = np.lexsort((-held, last - start))[0]
    return start[best], last[best]


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

"""Which model and which question get the next attempts, and what that saves."""

from __future__ import annotations

from dataclasses import dataclass

import joblib
import numpy as np
import pandas as pd
from scipy import special

from bayeval import _validate as check
from bayeval.outcomes import Outcomes
from bayeval.posterior import posterior
from bayeval.ranking import kendall_tau

RULES = ("uniform", "overlap", "top-two", "information")
GOALS = ("order", "winner")
# A batch is handed out in this many parts, each where it then helps most.
PARTS = 8
# Replays that are advanced together, and the unit of the seeds.
CHUNK = 10
# Edges of cells in standard deviations of a score.
_GRID = np.linspace(-6, 6, 33)


@dataclass(frozen=True)
class NextTrials:
    """Where the next attempts go; made by `next_trials`.

    Attributes
    ----------
    attempts : pandas.DataFrame, shape (L, M)
        Further attempts of each model at each question.
    probability_best : pandas.Series, shape (L,)
        Probability of each model to be the best, before these attempts.
    wrong, wrong_after : float
        Expected number of pairs of models (for the goal "winner": with the leader) that the
        posterior means put in the wrong order: now, and after these attempts.
    """

    attempts: pd.DataFrame
    probability_best: pd.Series
    wrong: float
    wrong_after: float


def next_trials(o, budget, *, rule="information", goal="order", prior="learned", weights=None,
                even=True, probability=0.95, costs=1.0, limits=None):
    r"""Allocate the next batch of attempts over models and questions.

    The posterior means of two models differ by d, with posterior variance :math:`s^2`. Further
    attempts move d by a normal amount of variance :math:`\delta`, what they are expected to take
    off :math:`s^2`. The probability that the pair is in the wrong order is
    :math:`\Phi(-|d| / s)` now, and afterwards, seen from now,

    .. math:: 2\, T\!\left(\frac{|d|}{s}, \sqrt{\frac{s^2 - \delta}{\delta}}\right)

    with Owen's function T.

    Parameters
    ----------
    o : Outcomes
        Outcomes so far of at least two models; a question may have none.
    budget : float
        What the batch may cost; with unit costs, the number of attempts.
    rule : {"information", "top-two", "overlap", "uniform"}
        How models share it. "information": part by part to the model that takes most off the
        expected number of wrong pairs. "top-two": half to each model in proportion to its
        probability of being best, half in proportion to that of being the challenger.
        "overlap": equal shares to models whose intervals overlap another's (the paper's rule);
        none if no intervals overlap. "uniform": equal shares.
    goal : {"order", "winner"}
        All pairs count, or those with the leader only. It steers "information" and "overlap".
    prior, weights
        As in `posterior`. Every outcome of the rubric must have a known range, so a rubric is
        put on the scale from its lowest to its highest weight.
    even : bool, default True
        Spread a model's attempts evenly over its questions. Otherwise they go where they are
        expected to take most off the variance of the score: attempts so far and further ones in
        proportion to the standard deviation of an attempt, which ties them to difficulty loosely
        enough for a learned prior.
    probability : float, default 0.95
        Of the intervals of the overlap rule.
    costs : float or array_like, shape (L,)
        Cost of one attempt of each model.
    limits : int or array_like of int, broadcast to (L, M), optional
        Most further attempts at each question.

    Returns
    -------
    NextTrials
        Its attempts never cost more than the budget. They cost less where the limits bind, where
        the rule finds nothing left to settle, or by less than one attempt.

    Raises
    ------
    ValueError
        If an argument does not fit, or the budget does not pay for one attempt.

    Examples
    --------
    >>> import bayeval as bv
    >>> o = bv.Outcomes.from_counts([[4, 3, 2, 0], [4, 3, 1, 0], [1, 0, 0, 0]], 4,
    ...                             models=["A", "B", "C"])
    >>> n = bv.design.next_trials(o, 40)
    >>> n.attempts.sum(axis=1).to_dict()
    {'A': 20, 'B': 20, 'C': 0}
    >>> bool(n.wrong_after < n.wrong)
    True
    """
    check.outcomes("o", o)
    if o.n_models < 2:
        raise ValueError("o must hold at least two models to tell apart; found one")
    check.choice("rule", rule, RULES)
    check.choice("goal", goal, GOALS)
    probability = check.probability("probability", probability)
    costs = _costs(costs, o.n_models)
    budget = check.number("budget", budget, low=0, open_low=True)
    if budget < costs.min():
        raise ValueError(f"budget must pay for one attempt: at least {costs.min():g}; "
                         f"found {budget:g}")
    shape = o.n_trials.shape
    room = np.full(shape, np.inf) if limits is None else _limits(limits, shape)
    state = _State.of(posterior(o, weights=weights, prior=prior), shape, probability)
    x = _allocate(state, budget, room[None], costs, rule, goal, even)[0]
    models = pd.Index(o.models, name="model")
    gone = state.variance() - state.variance(x[None])
    return NextTrials(
        attempts=pd.DataFrame(x.astype(np.int64), index=models,
                              columns=pd.Index(o.questions, name="question")),
        probability_best=pd.Series(probability_best(state.mean[0], state.sd[0]), index=models),
        wrong=float(_wrong(state, 0 * gone, goal)[0]),
        wrong_after=float(_wrong(state, gone, goal)[0]))


def probability_best(mean, sd):
    """Probability of each model to have the highest score, the scores being normal.

    Parameters
    ----------
    mean, sd : array_like, shape (..., L)
        Of independent scores.

    Returns
    -------
    ndarray, shape (..., L)
        Sums to 1.

    Examples
    --------
    >>> probability_best([0.6, 0.5, 0.5], [0.1, 0.1, 0.1]).round(3)
    array([0.634, 0.183, 0.183])
    """
    mean = np.asarray(mean, dtype=float)[..., None]
    sd = np.maximum(np.asarray(sd, dtype=float)[..., None], 1e-12)
    # Cells that are narrow for every model wherever it has mass, and two Gauss nodes in each.
    edges = np.sort((mean + sd * _GRID).reshape(*mean.shape[:-2], 1, -1), axis=-1)
    half, middle = np.diff(edges) / 2, (edges[..., 1:] + edges[..., :-1]) / 2
    out = 0.0
    for side in (-1, 1):
        z = (middle + side * half / np.sqrt(3) - mean) / sd
        below = special.log_ndtr(z)
        others = below.sum(axis=-2, keepdims=True) - below
        out = out + (half * np.exp(others - z * z / 2)).sum(axis=-1)
    out = out / sd[..., 0]
    return out / out.sum(axis=-1, keepdims=True)


def replay(truth, budget, *, batch, rule="information", goal="order", start=1, prior="learned",
           even=True, probability=0.95, costs=1.0, replicates=100, n_jobs=1, rng=None):
    """Replay a sequential evaluation on recorded attempts, or on coins with known chances.

    Parameters
    ----------
    truth : Outcomes or array_like, shape (L, M)
        Recorded binary attempts, of which each is used once at most, in random order, the truth
        being avg@N over all of them; or success chances.
    budget : float
        Cost at which a run ends.
    batch : float
        Cost of the attempts between two decisions.
    rule, goal, prior, even, probability, costs
        As in `next_trials`.
    start : int, default 1
        Attempts at every question before the first decision.
    replicates : int, default 100
    n_jobs : int, default 1
        Passed to joblib; results do not depend on it.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    pandas.DataFrame
        One row for each ``replicate`` and ``step``: ``spent`` and ``attempts`` so far,
        ``winner`` (the leader is the best model), ``stated`` (its stated probability of that),
        ``tau`` (Kendall's tau-b of the order with the true one), ``wrong`` and
        ``expected_wrong`` (pairs in the wrong order, and their expectation under the posterior)
        and ``covered`` (share of the models whose interval holds the truth).

    Raises
    ------
    ValueError
        If an argument does not fit, or the start costs more than the budget.

    Examples
    --------
    >>> r = replay([[0.9, 0.5, 0.1], [0.8, 0.3, 0.0]], 60, batch=18, start=2, replicates=3, rng=1)
    >>> r[r.replicate == 0].attempts.tolist()
    [12, 30, 48, 60]
    """
    if isinstance(truth, Outcomes):
        truth.require_binary()
        s, n = truth.successes, truth.n_trials
        if (n == 0).any():
            raise ValueError(f"truth must have attempts at every question; {(n == 0).sum()} "
                             "have none")
        pool, p = n.astype(float), s / n
    else:
        p = check.probabilities("truth", truth, ndim=(2,))
        s, pool = None, np.full(p.shape, np.inf)
    if len(p) < 2:
        raise ValueError("truth must hold at least two models; found one")
    check.choice("rule", rule, RULES)
    check.choice("goal", goal, GOALS)
    costs = _costs(costs, len(p))
    budget = check.number("budget", budget, low=0, open_low=True)
    batch = check.number("batch", batch, low=costs.min())
    start, replicates = check.whole("start", start), check.whole("replicates", replicates)
    first = np.minimum(start, pool)
    if (first.sum(axis=1) @ costs) > budget:
        raise ValueError(f"budget must pay for the start, {first.sum(axis=1) @ costs:g}; "
                         f"found {budget:g}")
    sizes = [min(CHUNK, replicates - i) for i in range(0, replicates, CHUNK)]
    seeds = check.generator(rng).bit_generator.seed_seq.spawn(len(sizes))
    pieces = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(_replay)(p, s, pool, first, budget, batch, rule, goal, prior, even,
                                probability, costs, size, np.random.default_rng(seed))
        for size, seed in zip(sizes, seeds))
    shift = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    table = pd.concat([piece.assign(replicate=piece.replicate + by)
                       for piece, by in zip(pieces, shift)])
    return table.sort_values(["replicate", "step"], ignore_index=True)


def _replay(p, s, pool, first, budget, batch, rule, goal, prior, even, probability, costs, size,
            rng):
    shape = (size, *p.shape)
    right, tried = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    truth = p.mean(axis=1)
    best = np.isclose(truth, truth.max(), rtol=0, atol=1e-12)
    i, j = np.triu_indices(len(truth), 1)
    true_sign = np.sign(np.where(np.isclose(truth[i], truth[j], rtol=0, atol=1e-12), 0,
                                 truth[i] - truth[j]))
    x = np.broadcast_to(first, shape).astype(np.int64)
    rows, step = [], 0
    live = np.ones(size, dtype=bool)
    while True:
        if s is None:
            right += rng.binomial(x, p)
        else:
            right += rng.hypergeometric(s - right, (pool - s).astype(np.int64) - tried + right, x)
        tried += x
        o = Outcomes.from_counts(right.reshape(-1, p.shape[1]), tried.reshape(-1, p.shape[1]))
        state = _State.of(posterior(o, prior=prior), shape, probability)
        spent = tried.sum(axis=2) @ costs
        leader = state.mean.argmax(axis=1)
        sign = np.sign(np.round(state.mean[:, i] - state.mean[:, j], 12))
        rows.append(pd.DataFrame({
            "replicate": np.arange(size), "step": step, "spent": spent,
            "attempts": tried.sum(axis=(1, 2)), "winner": best[leader],
            "stated": probability_best(state.mean, state.sd).max(axis=1),
            "tau": kendall_tau(state.mean, truth),
            "wrong": ((sign != true_sign) & (true_sign != 0)).sum(axis=1),
            "expected_wrong": _wrong(state, np.zeros(shape[:2]), "order"),
            "covered": ((state.low <= truth) & (truth <= state.high)).mean(axis=1)})[live])
        left = np.minimum(batch, budget - spent)
        x = np.zeros(shape, dtype=np.int64)
        live = left >= costs.min()
        if live.any():
            x[live] = _allocate(state.take(live), left[live], (pool - tried)[live], costs, rule,
                                goal, even)
        live &= x.sum(axis=(1, 2)) > 0
        if not live.any():
            return pd.concat(rows)
        step += 1


# -- the state, and what attempts do to it ------------------------------------------------------


@dataclass(frozen=True)
class _State:
    """Posterior of B runs at once, every score on the scale from 0 to 1.

    mean, sd, low, high have shape (B, L). A question's part of the score's variance is taken for
    that of a Beta law: after x more attempts it is expected to be noise / (size + x), where noise
    and size have shape (B, L, M). What questions share shrinks in the same proportion.
    """

    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray
    noise: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, p, shape, probability):
        shape = shape if len(shape) == 3 else (1, *shape)
        low, span = p.weights.min(), np.ptp(p.weights) or 1.0
        interval = p.interval(probability)
        mean, left, right = ((np.reshape(x, shape[:2]) - low) / span
                             for x in (p.mean, interval.low, interval.high))
        sd = np.reshape(p.sd, shape[:2]) / span
        m = np.clip((np.asarray(p.question_mean) - low).reshape(shape) / span, 1e-12, 1 - 1e-12)
        v = np.asarray(p.question_sd).reshape(shape) ** 2 / span**2
        most = m * (1 - m)
        size = np.maximum(most / np.maximum(v, 1e-12 * most) - 1, 1e-6)
        noise = most * size / (size + 1)
        # Questions that share a learned law vary together: the score by more than their sum.
        alone = (noise / size).sum(axis=-1) / shape[-1] ** 2
        noise *= (sd**2 / np.maximum(alone, 1e-300))[..., None]
        return cls(mean, sd, left, right, noise, size)

    def take(self, rows):
        return _State(*(x[rows] for x in (self.mean, self.sd, self.low, self.high, self.noise,
                                          self.size)))

    def variance(self, x=0.0):
        """Expected variance of every score after x more attempts."""
        return (self.noise / (self.size + x)).sum(axis=-1) / self.noise.shape[-1] ** 2


def _wrong(state, gone, goal):
    """Expected number of wrong pairs, `gone` being what attempts take off each variance."""
    return _pairs(state, gone, goal).sum(axis=(1, 2)) / (2 if goal == "order" else 1)


def _pairs(state, gone, goal):
    """Probability (B, L, L) that each pair will be in the wrong order; the diagonal is 0."""
    d = np.abs(state.mean[:, :, None] - state.mean[:, None])
    gone = gone[:, :, None] + gone[:, None]
    var = np.maximum(state.sd[:, :, None] ** 2 + state.sd[:, None] ** 2, 1e-24)
    gone = np.minimum(gone, var)
    with np.errstate(divide="ignore"):
        out = 2 * special.owens_t(d / np.sqrt(var), np.sqrt((var - gone) / gone))
    L = d.shape[1]
    out[:, np.arange(L), np.arange(L)] = 0.0
    if goal == "winner":
        leader = state.mean.argmax(axis=1)
        out = np.where(np.arange(L)[:, None] == leader[:, None, None], out, 0.0)
    return out


def _allocate(state, budget, room, costs, rule, goal, even):
    """Whole attempts (B, L, M) within the budget (B,) and the room (B, L, M)."""
    B, L, M = state.noise.shape
    budget = np.broadcast_to(np.asarray(budget, dtype=float), (B,)).copy()
    room = np.broadcast_to(room, (B, L, M))
    space = room.sum(axis=-1)
    given = np.zeros((B, L))
    if rule == "information":
        _give_information(state, budget, given, space, room, costs, goal, even)
    else:
        share = _shares(state, rule, goal) * (space > 0)
        # What one model has no room for goes to the others, in the same proportions.
        for _ in range(L):
            total = share.sum(axis=1, keepdims=True)
            part = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
            new = np.minimum(np.floor(part * budget[:, None] / costs + 1e-9), space - given)
            given += new
            budget -= new @ costs
            share *= space > given
            if not new.any():
                break
        _give_rest(budget, given, np.where(share > 0, space, given), costs, share)
    return _fill(state, given, room, even)


def _shares(state, rule, goal):
    if rule == "uniform":
        return np.ones_like(state.mean)
    if rule == "top-two":
        best = np.clip(probability_best(state.mean, state.sd), 1e-12, 1 - 1e-12)
        odds = best / (1 - best)
        # A challenger is the best of the rest, after another was drawn as the leader.
        rest = (best / (1 - best)).sum(axis=1, keepdims=True) - odds
        return 0.5 * best + 0.5 * best * rest
    low, high = state.low, state.high
    meets = (low[:, :, None] <= high[:, None]) & (low[:, None] <= high[:, :, None])
    L = low.shape[1]
    meets[:, np.arange(L), np.arange(L)] = False
    if goal == "order":
        return meets.any(axis=2).astype(float)
    leader = state.mean.argmax(axis=1)
    rival = meets[np.arange(len(low)), leader]
    share = rival.astype(float)
    share[np.arange(len(low)), leader] = rival.any(axis=1)
    return share


def _give_information(state, budget, given, space, room, costs, goal, even):
    """Hand out the budget part by part to where it takes off most wrong pairs per cost."""
    now = state.variance()
    part = budget / PARTS
    gone = np.zeros_like(given)
    rows = np.arange(len(given))
    for _ in range(PARTS + given.shape[1]):
        size = np.clip(np.minimum(np.floor(np.maximum(part[:, None] / costs, 1)),
                                  np.floor(budget[:, None] / costs + 1e-9)), 0, space - given)
        if not size.any():
            return
        after = now - state.variance(_fill(state, given + size, room, even, whole=False))
        base = _wrong(state, gone, goal)
        gain = np.full(given.shape, -1.0)
        for l in range(given.shape[1]):
            trial = gone.copy()
            trial[:, l] = after[:, l]
            gain[:, l] = base - _wrong(state, trial, goal)
        gain = np.where(size > 0, np.maximum(gain, 0) / np.maximum(size * costs, 1e-300), -1.0)
        # Where nothing is gained any more, what is left goes to the least certain score.
        gain += 1e-15 * now / now.max(axis=1, keepdims=True)
        pick = np.where(gain.max(axis=1) > -0.5, gain.argmax(axis=1), -1)
        act = rows[pick >= 0]
        pick = pick[pick >= 0]
        amount = size[act, pick]
        given[act, pick] += amount
        budget[act] -= amount * costs[pick]
        gone[act, pick] = after[act, pick]
    _give_rest(budget, given, space, costs, now)


def _give_rest(budget, given, space, costs, priority):
    """Single attempts, while the budget pays for one, in order of priority."""
    order = np.argsort(-priority, axis=1, kind="stable")
    rows = np.arange(len(given))
    some = True
    while some:
        some = False
        for column in order.T:
            one = (budget + 1e-9 >= costs[column]) & (given[rows, column] < space[rows, column])
            given[rows, column] += one
            budget -= one * costs[column]
            some |= one.any()


def _fill(state, given, room, even, whole=True):
    """Attempts (B, L, M) that share out `given` (B, L) over the questions, within the room.

    The sum of noise / (size + x) is least where size + x is proportional to the root of noise.
    """
    if even:
        scale, offset = np.ones_like(state.noise), np.zeros_like(state.noise)
    else:
        scale, offset = np.sqrt(state.noise), state.size
    low = np.zeros(given.shape)
    high = ((offset + np.minimum(room, given[..., None])) / np.maximum(scale, 1e-150)).max(axis=-1)
    for _ in range(60):
        middle = (low + high) / 2
        total = np.clip(middle[..., None] * scale - offset, 0, room).sum(axis=-1)
        low, high = np.where(total < given, middle, low), np.where(total < given, high, middle)
    x = np.clip(high[..., None] * scale - offset, 0, room)
    if not whole:
        return x
    floor = np.floor(x + 1e-9)
    rest = given - floor.sum(axis=-1)
    rank = np.argsort(np.argsort(np.where(floor < room, floor - x, 2.0), axis=-1, kind="stable"),
                      axis=-1)
    return floor + (rank < rest[..., None])


def _costs(costs, L):
    try:
        costs = np.broadcast_to(np.asarray(costs, dtype=float), (L,))
    except (TypeError, ValueError):
        raise ValueError(f"costs must be a number, or one for each of {L} models") from None
    if not (np.isfinite(costs) & (costs > 0)).all():
        raise ValueError(f"costs must be finite and > 0; found {costs.tolist()}")
    return costs


def _limits(limits, shape):
    limits = check.counts("limits", limits)
    try:
        return np.broadcast_to(limits, shape).astype(float)
    except ValueError:
        raise ValueError(f"limits must broadcast to {shape}, models by questions; found shape "
                         f"{limits.shape}") from None

"""Which question gets the next attempt: allocations and stopping, replayed on recorded counts.

A replay draws attempts at random, without replacement, from the s successes among the n recorded
attempts at a question. The order of attempts at a question carries no information, so the counts
have exactly the distribution they would have had if the policy had chosen the attempts.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayeval import _validate as check
from bayeval import betabinomial as bb
from bayeval._gammas import log_failure
from bayeval.outcomes import Outcomes


def uniform(o, budget, *, replicates=None, replace=False, rng=None):
    """Replay equal attempts at every question.

    What does not divide goes to questions at random; a question gives at most the attempts that
    are recorded.

    Parameters
    ----------
    o : Outcomes
        Recorded binary counts of L models.
    budget : int
        Attempts in all, for each model.
    replicates : int, optional
        Independent replays of each model, which become models ``"label/1"``, ``"label/2"``, ...
        By default one replay, under the label of the model.
    replace : bool, default False
        Draw with replacement: attempts are coin flips with chance s/n, and there is no limit.
    rng : optional
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    Outcomes
        The counts of the chosen attempts; for every model they add up to the budget.

    Raises
    ------
    ValueError
        If `o` is not binary, or the budget exceeds the attempts recorded.

    Examples
    --------
    >>> import bayeval as bv
    >>> from bayeval import allocation
    >>> o = bv.Outcomes.from_counts([5000, 100, 0], 10_000)
    >>> allocation.uniform(o, 300, rng=0).n_trials
    array([[100, 100, 100]])
    """
    pool = _Pool.of(o, budget, replicates, replace, rng)
    return pool.outcomes(*pool.draw(pool.even(pool.budget)))


def fewest_successes_first(o, budget, *, replicates=None, replace=False, rng=None):
    """Replay sampling that always takes the question with the fewest successes.

    Ties go to the fewest attempts, then to an order of the questions drawn at the start.

    Parameters
    ----------
    o, budget, replicates, replace, rng
        As in `uniform`. A question whose recorded attempts are used up is passed over.

    Returns
    -------
    Outcomes
        As in `uniform`.

    Raises
    ------
    ValueError
        As in `uniform`.

    Notes
    -----
    No attempt is simulated one by one. All questions with c successes are sampled in turn until
    each has c + 1, in order of their attempts; so a question at this level takes exactly the
    attempts up to its success number c + 1, and the waiting time for that is drawn at once. In
    the level in which the budget ends, the attempts rise to a common height.

    References
    ----------
    Kazdan et al. (2025), arXiv:2510.05197.

    Examples
    --------
    >>> import bayeval as bv
    >>> from bayeval import allocation
    >>> o = bv.Outcomes.from_counts([5000, 100, 0], 10_000)
    >>> spent = allocation.fewest_successes_first(o, 300, rng=0)
    >>> int(spent.n_trials.sum()), bool(spent.n_trials[0, 0] < 20)
    (300, True)
    """
    pool = _Pool.of(o, budget, replicates, replace, rng)
    rank = pool.rng.permuted(np.tile(np.arange(pool.s.shape[1]), (len(pool.s), 1)), axis=1)
    tried, right = np.zeros_like(pool.s), np.zeros_like(pool.s)
    rows = np.arange(len(pool.s))
    while rows.size:
        start = tried[rows]
        stop, success = pool.next_success(rows, start, right[rows])
        last = stop.sum(axis=1) >= pool.budget
        end = rows[last]
        tried[rows], right[rows] = stop, right[rows] + success
        if end.size:
            n, reached = _rise(start[last], stop[last], rank[end], pool.budget)
            tried[end] = n
            right[end] -= success[last] & ~reached
        rows = rows[~last]
    return pool.outcomes(right, tried)


def _rise(start, stop, rank, budget):
    """Attempts when all questions between `start` and `stop` rise evenly until the budget ends."""
    low = np.zeros((len(start), 1), dtype=np.int64)
    high = stop.max(axis=1, keepdims=True)
    while (low < high).any():  # the highest common height within the budget
        middle = (low + high + 1) // 2
        fits = np.clip(middle, start, stop).sum(axis=1, keepdims=True) <= budget
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    n = np.clip(low, start, stop)
    rest = budget - n.sum(axis=1, keepdims=True)
    turn = (n == low) & (n < stop)
    place = np.argsort(np.argsort(np.where(turn, rank, rank.shape[1]), axis=1), axis=1)
    n += turn & (place < rest)
    return n, n == stop


def variance_optimal(p, k, budget, *, spent=0, most=None):
    r"""Attempts at each question that minimize the variance of the plug-in Pass@k.

    The variance of the mean over questions of :math:`1 - (1 - s/n)^k` is about

    .. math:: \frac{k^2}{M^2} \sum_i \frac{p_i (1 - p_i)^{2k - 1}}{b_i},

    least for :math:`b_i` proportional to :math:`\sqrt{p_i (1 - p_i)^{2k - 1}}`. Shares are
    rounded to whole numbers by largest remainders.

    Parameters
    ----------
    p : array_like, shape (M,)
        Success chances of the questions: known, or guessed.
    k : int
    budget : int
        Attempts in all.
    spent : array_like of int, shape (M,), default 0
        Attempts made already, which count towards the budget.
    most : array_like of int, shape (M,), optional
        Largest number of attempts at each question.

    Returns
    -------
    ndarray of int, shape (M,)
        Attempts, from `spent` to `most`, adding up to the budget.

    Raises
    ------
    ValueError
        If `p` leaves [0, 1], `spent` exceeds `most` anywhere, or the budget lies outside
        their sums.

    References
    ----------
    Kazdan et al. (2025), arXiv:2510.05197.

    Examples
    --------
    >>> from bayeval.allocation import variance_optimal
    >>> variance_optimal([0.5, 0.1, 0.01, 0.001], k=100, budget=1000)
    array([  0,   0, 562, 438])
    """
    p = check.probabilities("p", p, ndim=(1,))
    k, budget = check.whole("k", k), check.whole("budget", budget)
    spent = _limit("spent", spent, p.shape)
    most = _limit("most", max(budget, int(spent.max())) if most is None else most, p.shape)
    if (spent > most).any():
        i = int(np.argmax(spent > most))
        raise ValueError(
            f"most must be at least `spent` at every question; found {most[i]} "
            f"for {spent[i]} attempts spent"
        )
    # As floats: the sum of many counts may exceed an int64.
    least, largest = spent.sum(dtype=float), most.sum(dtype=float)
    if not least <= budget <= largest:
        raise ValueError(
            f"budget must be from the {least:.0f} attempts spent to the "
            f"{largest:.0f} possible; found {budget}"
        )
    with np.errstate(divide="ignore"):
        log_weight = (np.log(p) + special.xlog1py(2 * k - 1, -p)) / 2
    return _apportion(log_weight[None], budget, spent[None], most[None])[0]


def pilot_then_allocate(o, k, budget, *, pilot, replicates=None, replace=False, rng=None):
    """Replay a pilot of equal attempts, and the rest of the budget by expected variance.

    After the pilot the chances are not known, so the formula of `variance_optimal` takes the
    posterior expectation of p (1 - p)^(2k - 1) under the learned prior: a question without a
    success keeps the share that its chance of being merely hard deserves.

    Parameters
    ----------
    o, budget, replicates, replace, rng
        As in `uniform`.
    k : int
        The Pass@k to be known well.
    pilot : int
        Attempts at every question before allocating.

    Returns
    -------
    Outcomes
        As in `uniform`.

    Raises
    ------
    ValueError
        As in `uniform`, or if the pilot exceeds the budget.

    Examples
    --------
    >>> import bayeval as bv
    >>> from bayeval import allocation
    >>> o = bv.Outcomes.from_counts([9000, 5000, 1000, 100, 20, 0], 10_000)
    >>> n = allocation.pilot_then_allocate(o, 100, 600, pilot=20, rng=0).n_trials[0]
    >>> int(n.sum()), bool(n[0] < n[4])
    (600, True)
    """
    pool = _Pool.of(o, budget, replicates, replace, rng)
    k, pilot = check.whole("k", k), check.whole("pilot", pilot)
    M = pool.s.shape[1]
    if pilot * M > pool.budget:
        raise ValueError(
            f"pilot must be at most budget / questions = {pool.budget / M:.4g}; found {pilot}"
        )
    right, tried = pool.draw(np.minimum(pilot, pool.n))
    log_weight = np.empty(pool.s.shape)
    q = bb.quadrature(right, tried)
    a, b = q.a, q.b
    for s, n in zip(q.pairs.s, q.pairs.n, strict=True):
        later = np.exp(log_failure(a + s, b + n - s, 2.0 * k - 1))
        expected = (q.weights * later * (a + s) / (a + b + n + 2 * k - 1)).sum(axis=(1, 2))
        log_weight = np.where(
            (right == s) & (tried == n), np.log(expected)[:, None] / 2, log_weight
        )
    target = _apportion(log_weight, pool.budget, tried, pool.n)
    return pool.outcomes(*pool.draw(target, right, tried))


def until_success(o, *, batch=1, most, replicates=None, replace=False, rng=None):
    """Replay sampling that stops, question by question, after the first batch with a success.

    So do attacks that try until one works. The number of attempts then depends on the outcomes,
    and s/n is biased upwards; the likelihood of (s, n) is that of a fixed n.

    Parameters
    ----------
    o, replicates, replace, rng
        As in `uniform`.
    batch : int, default 1
        Attempts made at a time.
    most : int
        Batches after which a question without a success is given up.

    Returns
    -------
    Outcomes
        As in `uniform`, but with no common number of attempts.

    Raises
    ------
    ValueError
        If `o` is not binary, or a question has fewer than batch * most attempts recorded.

    Examples
    --------
    >>> import bayeval as bv
    >>> from bayeval import allocation
    >>> o = bv.Outcomes.from_counts([5000, 100, 0], 10_000)
    >>> allocation.until_success(o, batch=60, most=16, rng=0).n_trials
    array([[ 60, 180, 960]])
    """
    check.outcomes("o", o)
    batch, most = check.whole("batch", batch), check.whole("most", most)
    replace, least = _switch("replace", replace), int(o.n_trials.min())
    if batch * most > check.LARGEST:
        raise ValueError(f"most must be such that batch * most is at most 2**53; found {most}")
    if not replace and batch > least:
        raise ValueError(
            f"batch must be at most {least}: a question has {least} attempts recorded "
            f"(or give replace=True); found {batch}"
        )
    if not replace and batch * most > least:
        raise ValueError(
            f"most must be at most {least // batch} batches of {batch}: a question "
            f"has {least} attempts recorded (or give replace=True); found {most}"
        )
    pool = _Pool.of(o, batch * most, replicates, replace, rng)
    stop, success = pool.next_success(np.arange(len(pool.s)), 0, 0)
    success &= stop <= batch * most
    target = np.where(success, -(-stop // batch) * batch, batch * most)
    # The rest of the last batch is made in any case.
    return pool.outcomes(*pool.draw(target, success.astype(int), np.where(success, stop, target)))


# -- drawing from recorded counts -----------------------------------------------------------


class _Pool:
    """The attempts that a replay can draw: s right among n, shape (rows, M)."""

    def __init__(self, s, n, rate, budget, labels, single, questions, rng):
        self.s, self.n, self.rate, self.budget = s, n, rate, budget
        self.labels, self.single, self.questions, self.rng = labels, single, questions, rng

    @classmethod
    def of(cls, o, budget, replicates, replace, rng):
        check.outcomes("o", o)
        s, n, budget = o.successes, o.n_trials, check.whole("budget", budget)
        replace = _switch("replace", replace)
        copies = 1 if replicates is None else check.whole("replicates", replicates)
        labels = (
            o.models
            if replicates is None
            else [f"{model}/{r}" for model in o.models for r in range(1, copies + 1)]
        )
        rate = None
        if replace:
            if (n == 0).any():
                raise ValueError(
                    "o must have an attempt at every question to draw with "
                    f"replacement; {int((n == 0).sum())} have none"
                )
            rate = np.repeat(s / n, copies, axis=0)
            n = np.full_like(n, budget)
        elif budget > n.sum(axis=1).min():
            raise ValueError(
                f"budget must be at most the {n.sum(axis=1).min()} attempts recorded "
                f"(or give replace=True); found {budget}"
            )
        return cls(
            np.repeat(s, copies, axis=0),
            np.repeat(n, copies, axis=0),
            rate,
            budget,
            labels,
            o.single and replicates is None,
            o.questions,
            check.generator(rng),
        )

    def outcomes(self, right, tried):
        if self.single:
            right, tried = right[0], tried[0]
        return Outcomes.from_counts(right, tried, models=self.labels, questions=self.questions)

    def even(self, budget):
        """Equal attempts with the remainder at random, within what is recorded."""
        order = np.argsort(self.rng.random(self.n.shape), axis=1)
        most = np.take_along_axis(self.n, order, axis=1)
        target = np.empty_like(self.n)
        even = _apportion(np.zeros(self.n.shape), budget, np.zeros_like(most), most)
        np.put_along_axis(target, order, even, axis=1)
        return target

    def draw(self, target, right=0, tried=0):
        """Successes and attempts after drawing up to `target` attempts at each question."""
        new = target - tried
        if self.rate is not None:
            more = self.rng.binomial(new, self.rate)
        else:
            left = self.s - right
            more = self.rng.hypergeometric(left, self.n - tried - left, new)
        return right + more, target

    def next_success(self, rows, tried, right):
        """Attempts up to the next success at each question, or the last; and which it is."""
        if self.rate is not None:
            rate = self.rate[rows]
            wait = self.rng.geometric(np.where(rate > 0, rate, 1.0))
            wait = np.where(rate > 0, wait, self.budget + 1)
        else:
            wait = _waiting_time(self.s[rows] - right, self.n[rows] - tried, self.rng)
        success = tried + wait <= self.n[rows]
        return np.where(success, tried + wait, self.n[rows]), success


def _waiting_time(s, n, rng):
    """Draws up to the first success, without replacement from s right among n; n + 1 if s = 0.

    Inverts P(wait > g) = C(n - s, g) / C(n, g) by bisection.
    """
    target = np.log(rng.random(s.shape))
    wrong = n - s
    top = special.gammaln(wrong + 1) - special.gammaln(n + 1)
    low, high = np.ones_like(n), wrong + 1
    while (low < high).any():
        g = np.minimum((low + high) // 2, wrong)
        beyond = top + special.gammaln(n - g + 1) - special.gammaln(wrong - g + 1) > target
        low, high = (
            np.where(beyond & (low < high), g + 1, low),
            np.where(beyond | (low >= high), high, g),
        )
    return low


# -- options and whole numbers ---------------------------------------------------------------


def _switch(name, x):
    if not isinstance(x, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; found {x!r}")
    return bool(x)


def _limit(name, x, shape):
    try:
        return np.broadcast_to(check.counts(name, x), shape)
    except ValueError as error:
        if name in str(error):
            raise
        raise ValueError(
            f"{name} must be a number or have shape {shape}; found {np.shape(x)}"
        ) from None


def _apportion(log_weight, budget, low, high):
    """Whole numbers from `low` to `high` near exp(log_weight), scaled so that rows add up."""
    top = np.maximum(log_weight.max(axis=1, keepdims=True), -1e300)
    # A question of weight 0 gets attempts only where all others are full.
    log_weight = np.maximum(log_weight - top, -40.0)
    left, right = np.full((len(low), 1), -1.0), np.full((len(low), 1), 90.0)
    for _ in range(60):
        scale = (left + right) / 2
        over = np.clip(np.exp(log_weight + scale), low, high).sum(axis=1, keepdims=True) > budget
        left, right = np.where(over, left, scale), np.where(over, scale, right)
    share = np.clip(np.exp(log_weight + left), low, high)
    whole = np.floor(share).astype(np.int64)
    rest = budget - whole.sum(axis=1, keepdims=True)
    order = np.argsort(np.where(whole < high, whole - share, 1.0), axis=1, kind="stable")
    extra = np.empty_like(whole)
    np.put_along_axis(extra, order, np.arange(whole.shape[1])[None] < rest, axis=1)
    return whole + extra

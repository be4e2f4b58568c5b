"""Allocations replayed on counts: budgets, seeds, and laws against one attempt after another."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayeval as bv
from bayeval import allocation
from bayeval.allocation import _apportion, _waiting_time, variance_optimal
from bayeval.plotting import rare as figures

SUCCESSES = [900, 500, 100, 20, 3, 0]
POOL = bv.Outcomes.from_counts(SUCCESSES, 1000)
POLICIES = {
    "uniform": allocation.uniform,
    "fewest": allocation.fewest_successes_first,
    "pilot": lambda o, budget, **options: allocation.pilot_then_allocate(
        o, 50, budget, pilot=min(3, budget // o.n_questions) or 1, **options
    ),
}


@st.composite
def pools(draw):
    M = draw(st.integers(1, 6))
    n = draw(st.lists(st.integers(2, 60), min_size=M, max_size=M))
    s = [draw(st.integers(0, x)) for x in n]
    return s, n, draw(st.integers(M, sum(n)))


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=25, deadline=None)
@given(pool=pools(), seed=st.integers(0, 99))
def test_the_budget_is_spent_and_the_record_is_kept(policy, replace, pool, seed):
    s, n, budget = pool
    o = bv.Outcomes.from_counts(s, n)
    spent = POLICIES[policy](o, budget, replace=replace, rng=seed)
    assert spent.n_trials.sum() == budget
    assert (spent.successes <= spent.n_trials).all()
    if not replace:
        assert (spent.n_trials[0] <= n).all()
        assert (spent.successes[0] <= s).all()
        assert (spent.n_trials[0] - spent.successes[0] <= np.array(n) - s).all()
    again = POLICIES[policy](o, budget, replace=replace, rng=seed)
    np.testing.assert_array_equal(spent.counts, again.counts)


@pytest.mark.parametrize("policy", POLICIES)
def test_replicates_become_models(policy):
    o = bv.Outcomes.from_counts(
        [SUCCESSES, SUCCESSES[::-1]], 1000, models=["A", "B"], questions=list("uvwxyz")
    )
    spent = POLICIES[policy](o, 120, replicates=3, rng=1)
    assert spent.models == ("A/1", "A/2", "A/3", "B/1", "B/2", "B/3")
    assert spent.questions == tuple("uvwxyz")
    assert (spent.n_trials.sum(axis=1) == 120).all()
    assert len({row.tobytes() for row in spent.counts[:3]}) > 1
    assert POLICIES[policy](POOL, 60, rng=1).single
    assert not POLICIES[policy](POOL, 60, replicates=1, rng=1).single


# -- the law of a replay ---------------------------------------------------------------------


def one_by_one(order, s, n, budget, rng):
    """Fewest successes first, one attempt after another, on shuffled records."""
    records = [rng.permutation(np.repeat([1, 0], [s_m, n_m - s_m])) for s_m, n_m in zip(s, n)]
    right, tried = np.zeros(len(s), int), np.zeros(len(s), int)
    for _ in range(budget):
        at = min(
            (m for m in range(len(s)) if tried[m] < n[m]),
            key=lambda m: (right[m], tried[m], order[m]),
        )
        right[at] += records[at][tried[at]]
        tried[at] += 1
    return right, tried


@pytest.mark.parametrize(
    ("s", "n", "budget"),
    [([9, 3, 0], [20, 20, 20], 25), ([5, 1, 2, 0], [8, 4, 30, 6], 33), ([3, 3], [3, 3], 4)],
)
def test_fewest_successes_first_has_the_law_of_one_attempt_after_another(s, n, budget):
    runs, rng = 3000, np.random.default_rng(5)
    slow = [one_by_one(rng.permutation(len(s)), s, n, budget, rng) for _ in range(runs)]
    o = bv.Outcomes.from_counts(s, n)
    fast = allocation.fewest_successes_first(o, budget, replicates=runs, rng=6)
    for ours, theirs in (
        (fast.successes, [r for r, _ in slow]),
        (fast.n_trials, [t for _, t in slow]),
    ):
        theirs = np.array(theirs)
        error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / runs)
        assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 4 * error + 1e-12).all()
        for m in range(len(s)):
            top = max(ours[:, m].max(), theirs[:, m].max()) + 1
            p, q = (np.bincount(x[:, m], minlength=top) / runs for x in (ours, theirs))
            assert np.abs(p.cumsum() - q.cumsum()).max() < 1.95 * np.sqrt(2 / runs)


def test_fewest_successes_first_with_replacement():
    # A question with rate 1/2 and an impossible one: all but a few go to the impossible one.
    o = bv.Outcomes.from_counts([5, 0], 10)
    spent = allocation.fewest_successes_first(o, 100, replicates=4000, replace=True, rng=1)
    first = spent.n_trials[:, 0]
    # The sure one is tried until its first success, and then never again.
    waiting = stats.geom(0.5)
    for j in (1, 2, 5):
        assert (first == j).mean() == pytest.approx(waiting.pmf(j), abs=0.03)
    assert (spent.successes[:, 0] == 1).all()


@pytest.mark.parametrize(("s", "n"), [(0, 5), (1, 6), (3, 6), (6, 6), (2, 50)])
def test_waiting_time_has_its_law(s, n):
    size = 20_000
    wait = _waiting_time(np.full(size, s), np.full(size, n), np.random.default_rng(2))
    if s == 0:
        assert (wait == n + 1).all()
        return
    # P(wait > g) = C(n - s, g) / C(n, g): none of the first g is right.
    for g in range(n - s + 1):
        none = stats.hypergeom(n, s, g).pmf(0)
        assert (wait > g).mean() == pytest.approx(none, abs=4 * np.sqrt(0.25 / size))
    assert wait.min() >= 1
    assert wait.max() <= n - s + 1


def test_uniform_draws_are_hypergeometric_and_even():
    o = bv.Outcomes.from_counts([30, 5, 0], [60, 20, 40])
    spent = allocation.uniform(o, 25, replicates=4000, rng=3)
    assert np.ptp(spent.n_trials, axis=1).max() == 1
    rows = spent.n_trials[:, 0] == 8
    law = stats.hypergeom(60, 30, 8)
    for j in range(9):
        assert (spent.successes[rows, 0] == j).mean() == pytest.approx(law.pmf(j), abs=0.035)
    assert (spent.n_trials == 9).mean(axis=0) == pytest.approx(1 / 3, abs=0.04)
    # What a short record cannot give goes to the others.
    assert allocation.uniform(o, 110, rng=4).n_trials.tolist() == [[50, 20, 40]]


def one_after_another(record, batch, most):
    """Batches of a record until one has a success."""
    for made in range(batch, batch * most + 1, batch):
        if record[:made].any():
            break
    return record[:made].sum(), made


@pytest.mark.parametrize(
    ("s", "n", "batch", "most"),
    [(9, 40, 1, 20), (3, 30, 5, 6), (2, 60, 7, 4), (20, 20, 4, 3), (0, 20, 4, 3)],
)
@pytest.mark.parametrize("replace", [False, True])
def test_stopping_at_a_success_has_the_law_of_batch_after_batch(s, n, batch, most, replace):
    runs, rng = 4000, np.random.default_rng(7)
    record = np.repeat([1, 0], [s, n - s])
    slow = [
        one_after_another(
            rng.random(n) < s / n if replace else rng.permutation(record), batch, most
        )
        for _ in range(runs)
    ]
    fast = allocation.until_success(
        bv.Outcomes.from_counts([s], n),
        batch=batch,
        most=most,
        replicates=runs,
        replace=replace,
        rng=8,
    )
    for ours, theirs in zip((fast.successes[:, 0], fast.n_trials[:, 0]), np.array(slow).T):
        top = max(ours.max(), theirs.max()) + 1
        p, q = (np.bincount(x, minlength=top) / len(x) for x in (ours, theirs))
        assert np.abs(p.cumsum() - q.cumsum()).max() < 1.95 * np.sqrt(1 / runs + 1 / len(theirs))
    assert (fast.n_trials % batch == 0).all()
    unbroken = fast.successes == 0
    assert (fast.n_trials[unbroken] == batch * most).all()


def test_stopping_biases_the_rate_by_the_factor_of_its_theorem():
    p, batch, most = 0.004, 60, 40
    o = bv.Outcomes.from_counts([4], 1000)
    spent = allocation.until_success(
        o, batch=batch, most=most, replicates=60_000, replace=True, rng=9
    )
    rate = (spent.successes / spent.n_trials)[:, 0]
    q, j = 1 - (1 - p) ** batch, np.arange(1, most + 1)
    factor = ((1 - q) ** (j - 1) / j).sum()
    assert factor > 1.6
    assert rate.mean() == pytest.approx(p * factor, abs=4 * rate.std() / np.sqrt(rate.size))
    first = np.where(spent.n_trials == batch, spent.successes / batch, 0.0)[:, 0]
    assert first.mean() == pytest.approx(p, abs=4 * first.std() / np.sqrt(first.size))


# -- optimal shares --------------------------------------------------------------------------


def variance(p, k, b):
    """Of the plug-in Pass@k, to first order; infinite where a share is missing."""
    v = p * (1 - p) ** (2 * k - 1)
    return np.where(v > 0, v / np.maximum(b, 1e-300), 0).sum()


def test_variance_optimal_is_the_best_whole_split():
    p, k, budget = np.array([0.5, 0.2, 0.05]), 4, 24
    best = min(
        (b for b in itertools.product(range(1, budget), repeat=3) if sum(b) == budget),
        key=lambda b: variance(p, k, np.array(b)),
    )
    assert np.abs(variance_optimal(p, k, budget) - best).max() <= 1


def test_variance_optimal_follows_the_formula():
    p = np.array([0.5, 0.1, 0.01, 0.003])
    share = np.sqrt(p * (1 - p) ** (2 * 30 - 1))
    np.testing.assert_allclose(
        variance_optimal(p, 30, 10**6) / 10**6, share / share.sum(), atol=2e-6
    )


def test_variance_optimal_within_limits():
    p = [0.2, 0.1, 0.01]
    b = variance_optimal(p, 20, 100, spent=[30, 0, 0], most=[1000, 20, 1000])
    assert b.sum() == 100
    assert b[0] >= 30
    assert b[1] <= 20
    assert variance_optimal(p, 20, 40, spent=[20, 10, 10]).tolist() == [20, 10, 10]
    # What certainty forbids is spent nonetheless, once nothing else can take it.
    assert variance_optimal([0.0, 0.1], 5, 30, most=[100, 10]).tolist() == [20, 10]
    assert variance_optimal([0.0, 1.0], 5, 10).tolist() == [5, 5]


@settings(max_examples=60, deadline=None)
@given(weights=st.lists(st.floats(-30, 5), min_size=1, max_size=7), data=st.data())
def test_apportioned_numbers_are_near_their_shares(weights, data):
    M = len(weights)
    low = np.array(data.draw(st.lists(st.integers(0, 20), min_size=M, max_size=M)))
    high = low + np.array(data.draw(st.lists(st.integers(0, 50), min_size=M, max_size=M)))
    budget = data.draw(st.integers(int(low.sum()), int(high.sum())))
    b = _apportion(np.array([weights]), budget, low[None], high[None])[0]
    assert b.sum() == budget
    assert ((low <= b) & (b <= high)).all()
    free = (b > low) & (b < high)
    if free.sum() >= 2:  # proportional, up to rounding
        share = np.exp(np.array(weights)[free] - max(weights))
        gap = b[free][:, None] * share[None, :] - b[free][None, :] * share[:, None]
        assert (np.abs(gap) <= share[:, None] + share[None, :] + 1e-6).all()


def test_pilot_gives_hard_questions_more():
    n = allocation.pilot_then_allocate(POOL, 100, 1200, pilot=20, replicates=50, rng=1).n_trials
    mean = n.mean(axis=0)
    assert mean[0] == pytest.approx(20, abs=1)
    assert (np.diff(mean[:4]) >= 0).all()
    assert mean[4:].min() > 3 * mean[0]


def test_pilot_that_takes_the_whole_budget_is_uniform():
    n = allocation.pilot_then_allocate(POOL, 100, 120, pilot=20, rng=1).n_trials
    assert n.tolist() == [[20] * 6]


# -- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: allocation.uniform(POOL, 6001), r"budget must be at most the 6000 .*found 6001"),
        (lambda: allocation.uniform(POOL, 0), "budget must be a whole number"),
        (lambda: allocation.uniform([1], 5), "o must be"),
        (lambda: allocation.uniform(POOL, 5, replicates=0), "replicates must be"),
        (
            lambda: allocation.uniform(bv.Outcomes.from_counts([0, 1], [0, 2]), 2, replace=True),
            "1 have none",
        ),
        (
            lambda: allocation.pilot_then_allocate(POOL, 10, 60, pilot=11),
            "pilot must be at most .* 10",
        ),
        (
            lambda: allocation.until_success(POOL, batch=60, most=17),
            "most must be at most 16 .* 17",
        ),
        (lambda: allocation.until_success(POOL, batch=0, most=17), "batch must be a whole number"),
        (lambda: allocation.until_success([1], most=17), "o must be"),
        (lambda: variance_optimal([0.2, 1.2], 5, 10), r"p must .*\[0, 1\]"),
        (lambda: allocation.until_success(POOL, batch=2000, most=1), "batch must be at most 1000"),
        (
            lambda: allocation.until_success(POOL, batch=2**30, most=2**30, replace=True),
            r"most must .* 2\*\*53",
        ),
        (lambda: allocation.until_success(POOL, most=2, replace="no"), "replace must .*'no'"),
        (lambda: allocation.uniform(POOL, 5, replace=None), "replace must be True or False"),
        (lambda: variance_optimal("x", 5, 10), "p must be an array"),
        (lambda: variance_optimal(["0.5", "0.2"], 5, 10), "p must be an array"),
        (lambda: variance_optimal([0.2, np.nan], 5, 10), r"p must .*\[0, 1\].* nan"),
        (
            lambda: variance_optimal(np.ma.array([0.2, 0.3], mask=[0, 1]), 5, 10),
            "p must .* nan",
        ),
        (lambda: variance_optimal([0.2, 0.3], 5, 10, spent=[6, 0], most=5), "most must .* 5 for 6"),
        (
            lambda: variance_optimal([0.2] * 2000, 5, 10, spent=2**53),
            "budget must be from the 18014398509481984000 attempts",
        ),
        (lambda: variance_optimal([0.2, 0.3], 5, 10, spent=[20, 0]), "budget must be from the 20"),
        (lambda: variance_optimal([0.2, 0.3], 5, 10, most=[2, 3]), "to the 5 possible"),
        (
            lambda: variance_optimal([0.2, 0.3], 5, 10, spent=[1, 2, 3]),
            r"spent must .*shape \(2,\)",
        ),
    ],
)
def test_bad_input_is_named(call, match):
    with pytest.raises(ValueError, match=match):
        call()


# -- the study and the figures of the chapter ---------------------------------------------------


@pytest.fixture(scope="module")
def study():
    path = Path(__file__).parent.parent / "studies" / "allocation.py"
    spec = importlib.util.spec_from_file_location("allocation_study", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stored_study_says_when_fewest_successes_first_pays(study):
    table = pd.read_csv(study.PATH)
    index = ["data", "sampling", "attempts", "policy", "method", "k"]
    assert len(table) == len(table.drop_duplicates(index)) == 2 * 2 * 4 * 4 * 3 * 2
    error = table.set_index(index)["squared_error"].unstack("policy")
    over = (error["fewest"] / error["uniform"]).xs("recorded", level="sampling")
    few = over.xs(10, level="attempts").drop("plug-in", level="method")
    assert (few > 1.1).all()
    assert (over.loc["codecontests", [100, 300], "bayes"] < 0.9).all()
    # Attempts chosen by results leave the intervals as they are.
    bayes = table[(table["method"] == "bayes") & (table["policy"] != "oracle")]
    assert (bayes["coverage"] > 0.85).all()


def test_the_study_at_reduced_size(study):
    options = {"data": study.DATA[:1], "sampling": ("recorded",), "attempts": (30,)}
    table = study.study(**options, replicates=2)
    assert set(table["policy"]) == set(study.POLICIES)
    assert len(table) == 4 * 3 * 2
    again = study.study(**options, replicates=2, policies=("pilot",))
    stored = table[table["policy"] == "pilot"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, stored)
    total = table["squared_bias"] + table["variance"]
    np.testing.assert_allclose(total, table["squared_error"])
    plug = table[table["method"] == "plug-in"]
    assert (plug["squared_bias"] > 10 * plug["variance"]).all()


def test_figures_show_what_they_are_given():
    plt = pytest.importorskip("matplotlib.pyplot")
    k = np.array([1, 10, 100])
    ax = figures.broken(k, ([10, 20], [0.1, 0.2]), {"a": [0.1, 0.2, 0.3]}, 20)
    assert [line.get_label() for line in ax.lines] == ["a", "broken within k, as recorded"]
    ax = figures.stopped(k / 1000, {"cap": [3, 2, 1]}, ([0.01], [2.0]))
    assert list(ax.lines[-1].get_ydata()) == [3, 2, 1]
    left, right = figures.where([0, 0.1, 0.5], {"one": [3, 2, 1], "two": [1, 2, 3]})
    assert list(right.lines[0].get_ydata()) == [1, 2, 3]
    assert left.lines[0].get_xdata()[0] > 0
    line = pd.DataFrame({"ratio": [2.0, 1.0], "se": [0.1, 0.1]}, index=[10, 30])
    axs = figures.ratios({"A": {"x": line, "y": line}, "B": {"x": line, "y": line}})
    assert [len(ax.containers) for ax in axs.flat] == [2, 2]
    shares = pd.DataFrame(
        {"low": 0.1, "mean": 0.2, "high": 0.3, "unsolved": 0.5, "hidden": 0.1}, index=[10, 100]
    )
    axs = figures.impossible({"A": shares, "B": shares})
    assert [len(ax.lines) for ax in axs] == [3, 3]
    risk = {"mean": [0.1, 0.2, 0.3], "limit": [0.2, 0.3, 0.4], "share": ([10], [0.2])}
    axs = figures.risks(k, dict.fromkeys("ABCD", risk), 10)
    assert axs.shape == (2, 3)
    assert list(axs[0, 0].lines[1].get_ydata()) == risk["limit"]
    assert not axs[1, 2].axison
    plt.close("all")

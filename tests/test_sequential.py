"""Allocation of the next attempts: within the budget, where they help, and replayed fairly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import bayeval as bv
from bayeval import sequential
from bayeval.design import next_trials, plan_width, plan_winner, probability_best, replay, score_sd


@st.composite
def situations(draw):
    """Outcomes, costs, limits and a budget that pays for one attempt at least."""
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    shape = draw(st.integers(2, 5)), draw(st.integers(1, 6))
    n = rng.integers(0, 9, shape)
    o = bv.Outcomes.from_counts(rng.binomial(n, rng.random(shape)), n)
    costs = rng.choice([0.5, 1.0, 3.0, 7.3], shape[0])
    limits = rng.integers(0, 30, shape)
    return o, costs, limits, draw(st.floats(costs.min(), 300))


@given(situations(), st.sampled_from(sequential.RULES), st.sampled_from(sequential.GOALS),
       st.booleans())
@settings(max_examples=50, deadline=None)
def test_the_budget_is_kept_and_spent(situation, rule, goal, even):
    o, costs, limits, budget = situation
    options = {"rule": rule, "goal": goal, "even": even, "costs": costs, "limits": limits}
    found = next_trials(o, budget, **options)
    x = found.attempts.to_numpy()
    spent = x.sum(axis=1) @ costs
    assert (x >= 0).all()
    assert (x <= limits).all()
    assert spent <= budget + 1e-9
    assert found.wrong_after <= found.wrong + 1e-12
    assert found.probability_best.sum() == pytest.approx(1)
    if rule != "overlap":  # what is left pays for no attempt that has room
        room = (x < limits).any(axis=1)
        assert not (costs[room] <= budget - spent - 1e-6).any()
    again = next_trials(o, budget, **options)
    assert again.attempts.equals(found.attempts)


@given(st.integers(0, 2**32), st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_attempts_inside_a_model_minimize_the_expected_variance(seed, given_):
    rng = np.random.default_rng(seed)
    M = 4
    state = sequential._State(*np.zeros((4, 1, 1)), rng.gamma(1, 1, (1, 1, M)),
                              rng.gamma(2, 3, (1, 1, M)))
    room = rng.integers(1, 100, (1, 1, M)).astype(float)
    total = np.full((1, 1), float(min(given_, room.sum())))
    x = sequential._fill(state, total, room, even=False, whole=False)
    assert x.sum() == pytest.approx(total.item(), abs=1e-6)
    best = optimize.minimize(
        lambda y: state.variance(y.reshape(1, 1, M)).item(), (room * total / room.sum()).ravel(),
        bounds=[(0, r) for r in room.ravel()], method="SLSQP", tol=1e-14,
        constraints={"type": "eq", "fun": lambda y: y.sum() - total.item()})
    assert state.variance(x).item() <= best.fun + 1e-7
    whole = sequential._fill(state, total, room, even=False)
    assert whole.sum() == total.item()
    assert (np.abs(whole - x) <= 1).all()


def test_the_expected_number_of_wrong_pairs_is_that_of_a_simulation():
    rng = np.random.default_rng(1)
    mean, sd, gone = np.array([0.5, 0.45, 0.3]), np.array([0.1, 0.08, 0.2]), np.array(
        [0.006, 0.0, 0.03])
    state = sequential._State(mean[None], sd[None], *np.zeros((4, 1, 3)))
    later = mean + np.sqrt(gone) * rng.standard_normal((400_000, 3))
    truth = later + np.sqrt(sd**2 - gone) * rng.standard_normal(later.shape)
    for goal, pairs in (("order", [(0, 1), (0, 2), (1, 2)]), ("winner", [(0, 1), (0, 2)])):
        wrong = sum((np.sign(later[:, i] - later[:, j]) != np.sign(truth[:, i] - truth[:, j]))
                    .mean() for i, j in pairs)
        assert sequential._wrong(state, gone[None], goal)[0] == pytest.approx(wrong, abs=0.004)


def test_probability_best_is_the_share_of_draws():
    mean = np.array([[0.5, 0.4, 0.45], [0.9, 0.9, 0.1]])
    sd = np.array([[0.1, 0.2, 0.02], [0.1, 0.1, 0.1]])
    draws = stats.norm(mean, sd).rvs((300_000, 2, 3), random_state=2)
    share = np.stack([(draws.argmax(axis=-1) == i).mean(axis=0) for i in range(3)], axis=-1)
    np.testing.assert_allclose(probability_best(mean, sd), share, atol=0.004)


def test_settled_models_get_nothing_from_the_overlap_rule():
    o = bv.Outcomes.from_counts([[20, 19, 20], [19, 19, 18], [1, 0, 2]], 20)
    share = next_trials(o, 60, rule="overlap").attempts.sum(axis=1).tolist()
    assert share == [30, 30, 0]
    apart = o.select(models=[o.models[0], o.models[2]])
    assert next_trials(apart, 60, rule="overlap").attempts.to_numpy().sum() == 0


def test_a_model_without_attempts_is_not_starved():
    o = bv.Outcomes.from_counts([[9, 8], [7, 9], [0, 0]], [[10, 10], [10, 10], [0, 0]])
    for rule in ("information", "overlap", "top-two"):
        assert next_trials(o, 12, rule=rule).attempts.iloc[2].sum() > 0, rule
    # Many questions: each is a small part of what is not known of the score.
    c = np.zeros((3, 128), dtype=int)
    c[:2, :6] = 1
    o = bv.Outcomes.from_counts(c, np.repeat([[2], [2], [0]], 128, axis=1))
    assert next_trials(o, 300).attempts.iloc[2].sum() > 0


def test_the_variance_of_the_state_is_that_of_the_posterior():
    o = bv.Outcomes.from_counts([[1, 0, 0, 2], [0, 0, 0, 0], [0, 0, 0, 0]],
                                np.repeat([[2], [2], [0]], 4, axis=1))
    for prior in ("learned", "uniform"):
        p = bv.posterior(o, prior=prior)
        state = sequential._State.of(p, (3, 4), 0.95)
        np.testing.assert_allclose(state.variance()[0], p.sd**2)
        assert (state.variance(1.0) < state.variance()).all()
        assert (state.variance(1e9) < 1e-6).all()


def test_a_rubric_of_another_scale_changes_nothing():
    o = bv.Outcomes.from_category_counts([[[1, 2, 3], [4, 0, 2]], [[2, 2, 2], [3, 2, 1]]])
    one = next_trials(o, 30, weights=[0, 0.5, 1])
    other = next_trials(o, 30, weights=[-10, 0, 10])
    assert one.attempts.equals(other.attempts)
    assert one.wrong == pytest.approx(other.wrong)


def test_a_replay_uses_each_recorded_attempt_once():
    o = bv.Outcomes.from_counts([[3, 0, 4], [1, 2, 2]], 4)
    r = replay(o, 1000, batch=5, replicates=4, rng=3)
    last = r.groupby("replicate").last()
    assert (last.attempts == 24).all()  # all there are
    assert last.winner.all()
    assert (last.tau == 1).all()
    assert (last.wrong == 0).all()


def test_replays_do_not_depend_on_the_number_of_cores():
    p = np.random.default_rng(4).random((3, 6))
    one, two = (replay(p, 72, batch=54, replicates=11, n_jobs=jobs, rng=5) for jobs in (1, 2))
    assert one.equals(two)


def test_replays_state_what_they_get_wrong():
    """With chances drawn from the prior, errors and coverage are those stated, on average."""
    rng = np.random.default_rng(6)
    rows = [replay(rng.random((4, 12)), 240, batch=96, replicates=3, prior="uniform", rng=rng)
            for _ in range(60)]
    ends = [r[r.step == r.step.max()] for r in rows]
    realized, expected, covered = (np.array([r[name].mean() for r in ends])
                                   for name in ("wrong", "expected_wrong", "covered"))
    for excess in (realized - expected, covered - 0.95):
        assert abs(excess.mean()) < 3 * excess.std() / np.sqrt(len(rows))
    assert realized.mean() > 0.1  # there is something to state


def test_learned_intervals_survive_a_sequential_design():
    rng = np.random.default_rng(8)
    rows = [replay(rng.beta(1, 2, (4, 20)), 400, batch=160, replicates=4, rng=rng)
            for _ in range(5)]
    covered = np.array([r[r.step == r.step.max()].covered.mean() for r in rows])
    assert 0.85 < covered.mean() <= 1


def test_plans_against_simulation():
    rng = np.random.default_rng(7)
    p = rng.beta(1, 1, 30)
    scores = rng.binomial(8, p, (50_000, 30)).mean(axis=1) / 8
    assert score_sd(p, 8) == pytest.approx(scores.std(), rel=0.02)
    other = rng.choice(p, (50_000, 30))  # other questions of the same kind
    scores = rng.binomial(8, other).mean(axis=1) / 8
    assert score_sd(p, 8, population=True) == pytest.approx(scores.std(), rel=0.02)
    n = plan_width(p, 0.05)
    z = stats.norm.ppf(0.975)
    assert 2 * z * score_sd(p, n) <= 0.05 < 2 * z * score_sd(p, n - 1)
    three = np.clip(np.stack([p, p - 0.05, p - 0.1]), 0, 1)
    n = plan_winner(three, probability=0.9)
    wins = [(rng.binomial(k, three, (20_000, 3, 30)).sum(axis=2).argmax(axis=1) == 0).mean()
            for k in (n, max(n // 2, 1))]
    assert wins[0] > 0.88
    assert wins[1] < 0.9
    assert score_sd(three, [1, 2], questions=[30, 60]).shape == (3, 2)


def test_bad_input_is_named():
    o = bv.Outcomes.from_counts([[1, 2], [0, 1]], 3)
    for call, name in (
        (lambda: next_trials(o.select(models=[o.models[0]]), 5), "at least two models"),
        (lambda: next_trials([[1]], 5), "o must"),
        (lambda: next_trials(o, 0), "budget must"),
        (lambda: next_trials(o, 1, costs=2), "budget must pay for one attempt: at least 2"),
        (lambda: next_trials(o, 5, costs=[1, 2, 3]), "costs must"),
        (lambda: next_trials(o, 5, costs=[1, -2]), "costs must"),
        (lambda: next_trials(o, 5, limits=-1), "limits must"),
        (lambda: next_trials(o, 5, limits=[1, 2, 3]), "limits must broadcast"),
        (lambda: next_trials(o, 5, rule="thompson"), "rule must"),
        (lambda: next_trials(o, 5, goal="best"), "goal must"),
        (lambda: next_trials(o, 5, probability=1), "probability must"),
        (lambda: replay(o, 3, batch=1), "budget must pay for the start, 4"),
        (lambda: replay(o, 30, batch=0), "batch must"),
        (lambda: replay([[0.5, 1.5]], 30, batch=4), "truth must"),
        (lambda: replay([[0.5, 0.5]], 30, batch=4), "at least two models"),
        (lambda: replay(bv.Outcomes.from_counts([[1, 0], [1, 1]], [[1, 0], [1, 1]]), 9, batch=2),
         "truth must have attempts at every question; 1"),
        (lambda: plan_width([0.5] * 10, 1.5), "width must"),
        (lambda: plan_width([0.1, 0.9], 0.1, population=True), "more than 246 questions"),
        (lambda: plan_winner([[0.5], [0.5]]), "two tie"),
        (lambda: score_sd([0.5], 0), "n must"),
    ):
        with pytest.raises(ValueError, match=name):
            call()

"""Comparison, leaderboard, rank sets, Kendall's tau and convergence@n against plain loops."""

import numpy as np
import oracles
import pandas as pd
import pytest
from scipy import special, stats

import bayeval as bv
from bayeval.ranking import rank_sets, ranks


@pytest.fixture
def board():
    return bv.Outcomes.from_counts([[9, 8, 5], [9, 7, 5], [1, 0, 0], [9, 8, 5]], 10,
                                   models=["A", "B", "C", "D"], questions=["x", "y", "z"])


# -- two models ------------------------------------------------------------------------------


def test_comparison_is_z_and_rho_of_the_paper(board):
    a, b = (bv.posterior(board.select(models=m)) for m in "AB")
    c = bv.compare(a, b)
    assert c.difference == a.mean - b.mean > 0
    assert c.sd == pytest.approx(np.hypot(a.sd, b.sd), rel=1e-15)
    assert c.z == pytest.approx(abs(c.difference) / c.sd, rel=1e-15)
    assert c.rho == pytest.approx(special.ndtr(c.z), rel=1e-15)
    back = bv.compare(b, a)
    assert (back.z, back.rho, back.difference) == (c.z, c.rho, -c.difference)
    assert back.superiority == pytest.approx(1 - c.superiority, abs=1e-12)
    assert all(isinstance(x, float) for x in (c.difference, c.sd, c.z, c.rho, c.superiority))


def test_z_of_1_645_is_rho_of_95_percent():
    assert special.ndtr(1.645) == pytest.approx(0.95, abs=2e-5)
    p = bv.posterior(bv.Outcomes.from_counts([[30] * 40, [20] * 40], 60))
    a, b = (bv.posterior(p.outcomes.select(models=m)) for m in p.models)
    assert bv.compare(a, b).rho == pytest.approx(bv.compare(a, b).superiority, abs=1e-6)


def test_superiority_is_the_share_of_draws(board):
    for m in "BC":
        a, b = (bv.posterior(board.select(models=x)) for x in ("A", m))
        share = (a.draws(200_000, rng=1) > b.draws(200_000, rng=2)).mean()
        assert bv.compare(a, b).superiority == pytest.approx(share, abs=0.005)


def test_equal_models_are_even(board):
    a, d = (bv.posterior(board.select(models=m)) for m in "AD")
    c = bv.compare(a, d)
    assert (c.difference, c.z, c.rho) == (0, 0, 0.5)
    assert c.superiority == pytest.approx(0.5, abs=1e-9)
    constant = bv.posterior(board.select(models="A"), weights=[1, 1])
    assert bv.compare(constant, constant).z == 0


def test_many_models_are_compared_one_by_one(board):
    p, q = bv.posterior(board), bv.posterior(board, prior=bv.Dirichlet(0.5))
    c = bv.compare(p, q)
    assert c.z.shape == c.superiority.shape == (4,)
    single = bv.compare(*(bv.posterior(board.select(models="B"), prior=prior)
                          for prior in ("uniform", bv.Dirichlet(0.5))))
    assert c.z[1] == pytest.approx(single.z, rel=1e-12)
    assert c.superiority[1] == pytest.approx(single.superiority, abs=1e-9)


def test_the_family_can_be_compared_too(board):
    p = bv.posterior(board)
    c = bv.compare(p.pass_at_k([1, 4]), p.pass_hat_k([1, 4]))
    assert c.difference.shape == (4, 2)
    assert np.allclose(c.difference[:, 0], 0, atol=1e-15)
    assert (c.difference[:, 1] > 0).all()


@pytest.mark.parametrize(("left", "right", "message"), [
    ("A", "board", "as many entries"), ("A", 0.5, "p_b must be a posterior"),
    (None, "A", "p_a must be a posterior")])
def test_only_posteriors_of_one_shape_are_compared(board, left, right, message):
    p = {"A": bv.posterior(board.select(models="A")), "board": bv.posterior(board)}
    with pytest.raises(ValueError, match=message):
        bv.compare(p.get(left, left), p.get(right, right))


# -- leaderboard -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["equal-tailed", "hdi", "normal"])
def test_leaderboard_is_the_table_of_the_posterior(board, kind):
    table = bv.leaderboard(board, probability=0.9, kind=kind)
    p = bv.posterior(board)
    i = p.interval(0.9, kind=kind)
    assert list(table.index[:2]) == ["A", "D"]
    assert table["rank"].tolist() == [1, 1, 3, 4]
    by_model = table.loc[list(board.models)]
    assert np.array_equal(by_model.score, p.mean)
    assert np.array_equal(by_model.sd, p.sd)
    assert np.array_equal(by_model[["low", "high"]], np.stack([i.low, i.high], axis=1))
    low, high = oracles.rank_sets(i.low, i.high)
    assert by_model.rank_low.tolist() == low
    assert by_model.rank_high.tolist() == high
    assert (by_model.attempts == 30).all()
    assert (by_model.coverage == 1).all()
    assert (table.attrs["probability"], table.attrs["kind"]) == (0.9, kind)


def test_leaderboard_of_rubrics_missing_attempts_and_one_model():
    o = bv.Outcomes.from_matrix([[[0, 1, 2, None]], [[2, 2, None, None]]], categories=3)
    table = bv.leaderboard(o, weights=[0, 0.5, 1])
    assert table.index.tolist() == ["m2", "m1"]
    assert table.coverage.tolist() == [0.5, 0.75]
    assert table.attempts.tolist() == [2, 3]
    one = bv.leaderboard(o.select(models="m1"), weights=[0, 0.5, 1])
    assert (one.rank_low.item(), one.rank_high.item(), one["rank"].item()) == (1, 1, 1)


def test_the_uniform_prior_keeps_the_order_of_avg_on_real_results():
    o = bv.datasets.load("aime_2025")
    table = bv.leaderboard(o)
    avg = pd.Series(bv.avg(o), index=o.models)[table.index]
    assert (np.diff(avg) <= 1e-12).all()
    assert table["rank"].tolist() == oracles.competition_ranks([round(x, 12) for x in avg])
    assert ((table.rank_low <= table["rank"]) & (table["rank"] <= table.rank_high)).all()


# -- ranks -----------------------------------------------------------------------------------


def test_equal_scores_share_the_best_rank():
    assert ranks([396, 396, 394]).tolist() == [1, 1, 3]
    assert ranks([[0.1, 0.2, 0.2], [3, 2, 1]]).tolist() == [[3, 1, 1], [1, 2, 3]]
    rng = np.random.default_rng(1)
    for _ in range(50):
        scores = rng.integers(0, 5, 8) / 7
        assert ranks(scores).tolist() == oracles.competition_ranks(scores)


def test_the_last_digits_of_a_sum_make_no_order():
    x = np.random.default_rng(2).random(30)
    assert ranks([x.sum(), x[::-1].sum(), sum(x.tolist())]).tolist() == [1, 1, 1]
    assert ranks([1e-9, 1.001e-9, 0]).tolist() == [2, 1, 3]
    assert ranks([np.inf, 1, -np.inf]).tolist() == [1, 2, 3]


def test_rank_sets_count_the_intervals_wholly_above_and_below():
    rng = np.random.default_rng(3)
    for size in (1, 2, 5, 40):
        low = rng.integers(0, 20, size) / 20
        high = low + rng.integers(0, 8, size) / 20
        got = rank_sets(low, high)
        assert [x.tolist() for x in got] == list(oracles.rank_sets(low, high))


# -- Kendall's tau ---------------------------------------------------------------------------


def test_tau_b_is_that_of_scipy_with_and_without_ties():
    rng = np.random.default_rng(4)
    for spread in (3, 10, 10**6):
        scores, reference = rng.integers(0, spread, (20, 12)), rng.integers(0, spread, 12)
        expected = [stats.kendalltau(row, reference).statistic for row in scores]
        assert np.allclose(bv.kendall_tau(scores, reference), expected, atol=1e-14)
    assert bv.kendall_tau(scores.reshape(4, 5, 12), reference).shape == (4, 5)
    assert isinstance(bv.kendall_tau(scores[0], reference), float)


def test_tau_of_no_order_is_nan_and_infinite_scores_may_tie():
    assert np.isnan(bv.kendall_tau([1, 1, 1], [1, 2, 3]))
    with_gap = bv.kendall_tau([[1, np.nan, 2], [1, 2, 3]], [1, 2, 3])
    assert np.array_equal(with_gap, [np.nan, 1], equal_nan=True)
    assert bv.kendall_tau([-np.inf, -np.inf, 1], [1, 2, 3]) == pytest.approx(
        stats.kendalltau([0, 0, 1], [1, 2, 3]).statistic)


def test_boards_in_another_order_are_not_paired_by_position(board):
    first = bv.leaderboard(board).score
    second = bv.leaderboard(board, prior=bv.Dirichlet(0.5)).score
    assert bv.kendall_tau(first, second[first.index]) == 1
    with pytest.raises(ValueError, match="scores and reference must have equal labels"):
        bv.kendall_tau(first, second.sort_index(ascending=False))


@pytest.mark.parametrize(("scores", "reference", "message"), [
    ([1, 2], [1, 2, 3], "scores must end in an axis as long"), ([1], [1], "at least 2"),
    ([[1, 2]], [[1, 2]], "scores must end in"), (["a", "b"], [1, 2], "scores must be numbers"),
    ([1, 2], ["a", "b"], "reference must be numbers"), ([1 + 1j, 2], [1, 2], "scores must be")])
def test_tau_of_what_does_not_fit(scores, reference, message):
    with pytest.raises(ValueError, match=message):
        bv.kendall_tau(scores, reference)


# -- convergence@n -----------------------------------------------------------------------------


def test_convergence_is_that_of_a_loop():
    rng = np.random.default_rng(5)
    tracks = rng.integers(0, 3, (60, 9, 3)).astype(float)
    tracks[::2, 4:] = [3, 2, 1]
    for reference in (None, [3, 2, 1], [1, 1, 0]):
        expected = [oracles.convergence_at_n(t, reference) for t in tracks]
        got = bv.convergence_at_n(tracks, reference)
        assert np.array_equal(got, expected, equal_nan=True)
    assert bv.convergence_at_n(tracks.reshape(6, 10, 9, 3)).shape == (6, 10)
    assert np.isfinite(bv.convergence_at_n(tracks)).all()


def test_trials_without_a_score_do_not_agree():
    track = [[np.nan, 1], [2, 1], [2, 1]]
    assert bv.convergence_at_n(track) == 2
    assert np.isnan(bv.convergence_at_n(track[::-1]))
    assert bv.convergence_at_n([[2, 1], [np.nan, np.nan], [2, 1]]) == 3


@pytest.mark.parametrize(("tracks", "reference", "message"), [
    ([1, 2], None, r"tracks must have shape \(..., N, L\)"), ([[]], None, "tracks must have"),
    ([[1, 2]], [1, 2, 3], r"reference must have shape \(2,\)"), ([[1, 2]], 3, "reference must"),
    ([[1, 2]], [1, np.nan], "reference must have shape"), ([["a", "b"]], None, "tracks must be")])
def test_convergence_of_what_does_not_fit(tracks, reference, message):
    with pytest.raises(ValueError, match=message):
        bv.convergence_at_n(tracks, reference)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: ranks(3), "scores must have shape"), (lambda: ranks([1, np.nan]), "1 NaN"),
    (lambda: ranks(["a"]), "scores must be numbers"),
    (lambda: rank_sets([1, 2], [1]), "low and high must have shape"),
    (lambda: rank_sets([2], [1]), "low <= high"), (lambda: rank_sets([np.nan], [1]), "low <= high"),
    (lambda: rank_sets(["a"], [1]), "low must be numbers")])
def test_ranks_of_what_is_no_score(call, message):
    with pytest.raises(ValueError, match=message):
        call()

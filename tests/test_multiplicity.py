"""Superiority, rank probabilities and false discoveries against draws, tables and simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayeval as bv


@pytest.fixture(scope="module")
def aime():
    return bv.datasets.load("aime_2025")


def two_by_two(both, a_only, b_only, neither):
    a = [1] * both + [1] * a_only + [0] * (b_only + neither)
    b = [1] * both + [0] * a_only + [1] * b_only + [0] * neither
    return bv.Outcomes.from_counts([a, b], 1, models=["A", "B"])


@pytest.mark.parametrize("table", [(60, 2, 9, 29), (0, 0, 1, 0), (5, 4, 4, 5), (0, 7, 0, 0)])
def test_paired_superiority_is_the_beta_tail_of_the_two_by_two_table(table):
    # Given Dirichlet(1, 1, 1, 1), the share of "B only" among the discordant is a beta variable.
    _, a_only, b_only, _ = table
    exact = stats.beta(b_only + 1, a_only + 1).sf(0.5)
    assert bv.superiority(two_by_two(*table)).loc["B", "A"] == pytest.approx(exact, abs=1e-9)


def test_paired_superiority_of_the_published_table():
    assert bv.superiority(two_by_two(60, 2, 9, 29)).loc["B", "A"] == pytest.approx(
        4017 / 4096, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.5, 3])
def test_corners_of_the_two_model_table_count_as_asked(alpha):
    exact = stats.beta(9 + alpha, 2 + alpha).sf(0.5)
    found = bv.superiority(two_by_two(60, 2, 9, 29), prior=bv.Dirichlet(alpha)).loc["B", "A"]
    assert found == pytest.approx(exact, abs=1e-9)


def test_paired_superiority_is_the_share_of_weighted_question_draws(aime):
    o = aime.select(models=list(aime.models[3:6]))
    scores = np.concatenate([o.successes / o.n_trials, [[0, 1, 0, 1]] * 3], axis=1)
    scores[1, -2:], scores[0, -2:], scores[2, -2:] = [1, 0], [0, 1], [0, 1]
    weights = np.random.default_rng(1).dirichlet(np.ones(scores.shape[1]), 400_000)
    corners = scores[:, -4:].copy()
    # Only the pair (0, 1) has all four corners in this table: (0,0), (1,1), (0,1), (1,0).
    assert {tuple(c) for c in corners[:2].T} == {(0, 0), (1, 1), (0, 1), (1, 0)}
    d = (weights @ scores[0]) - (weights @ scores[1])
    drawn = (d > 1e-12).mean() + (np.abs(d) <= 1e-12).mean() / 2
    assert bv.superiority(o).iloc[0, 1] == pytest.approx(drawn, abs=0.004)


def test_independent_superiority_is_the_share_of_draws(aime):
    p = bv.posterior(aime)
    d = p.draws(40_000, rng=2)
    drawn = (d[:, None, :] > d[None, :, :]).mean(axis=2)
    matrix = bv.superiority(aime, paired=False).to_numpy()
    off = ~np.eye(len(d), dtype=bool)
    assert np.abs(matrix - drawn)[off].max() < 0.012
    pair = bv.compare(bv.posterior(aime.select(models=aime.models[0])),
                      bv.posterior(aime.select(models=aime.models[1])))
    assert matrix[0, 1] == pytest.approx(pair.superiority, abs=1e-3)


@pytest.mark.parametrize("paired", [True, False])
def test_superiority_of_pairs_adds_to_one_and_does_not_depend_on_order(aime, paired):
    matrix = bv.superiority(aime, paired=paired)
    assert np.array_equal(matrix + matrix.T, np.ones_like(matrix))
    order = list(reversed(aime.models))
    again = bv.superiority(aime.select(models=order), paired=paired)
    assert np.allclose(again.loc[list(aime.models), list(aime.models)], matrix, atol=1e-9)


def test_rubric_weights_reach_both_kinds():
    o = bv.Outcomes.from_category_counts([[[0, 4, 1]] * 6, [[3, 0, 2]] * 6])
    for paired in (True, False):
        lenient = bv.superiority(o, paired=paired, weights=[0, 1, 1]).iloc[0, 1]
        strict = bv.superiority(o, paired=paired, weights=[0, 0, 1]).iloc[0, 1]
        assert lenient > 0.9 > 0.5 > strict


def test_unshared_questions_are_left_out_and_none_shared_is_an_error():
    o = bv.Outcomes.from_counts([[1, 1, 0], [0, 0, 1]], [[1, 1, 0], [1, 1, 1]])
    shared = bv.Outcomes.from_counts([[1, 1], [0, 0]], 1)
    assert bv.superiority(o).iloc[0, 1] == bv.superiority(shared).iloc[0, 1]
    apart = bv.Outcomes.from_counts([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    with pytest.raises(ValueError, match="share no question"):
        bv.superiority(apart)


def test_rank_probabilities_match_draws(aime):
    p = bv.posterior(aime)
    table = bv.rank_probabilities(p)
    n = 40_000
    ranks = (-p.draws(n, rng=3)).argsort(axis=0).argsort(axis=0)
    drawn = np.array([np.bincount(r, minlength=len(ranks)) for r in ranks]) / n
    assert np.abs(table.to_numpy() - drawn).max() < 0.012
    assert np.allclose(table.sum(axis=1), 1)
    assert np.allclose(table.sum(axis=0), 1, atol=1e-3)


def test_rank_probabilities_of_identical_models_are_even():
    table = bv.rank_probabilities(bv.posterior(bv.Outcomes.from_counts([[2, 3]] * 5, 4)))
    assert np.allclose(table, 0.2, atol=1e-3)


def test_discoveries_are_the_largest_set_within_q(aime):
    matrix = bv.superiority(aime)
    claims = bv.discoveries(matrix, q=0.01)
    i, j = np.triu_indices(len(matrix), 1)
    errors = np.sort(np.minimum(matrix.to_numpy()[i, j], matrix.to_numpy()[j, i]))
    assert errors[:len(claims)].mean() <= 0.01 < errors[:len(claims) + 1].mean()
    assert all(matrix.loc[c.better, c.worse] == c.probability >= 0.5 for c in claims.itertuples())


def test_the_realized_share_of_false_claims_is_the_stated_one():
    # Under the prior that the posterior assumes, the expected false share is right on average.
    rng = np.random.default_rng(5)
    realized, stated = [], []
    for _ in range(60):
        p = rng.random((12, 30))
        o = bv.simulate.coin_flips(p, 4, rng=rng)
        claims = bv.discoveries(bv.superiority(o, paired=False), q=0.05)
        score = pd.Series(p.mean(axis=1), index=o.models)
        realized.append(np.mean(score[claims.better].to_numpy() < score[claims.worse].to_numpy()))
        stated.append(claims.false_share.iloc[-1])
    error = np.std(realized, ddof=1) / np.sqrt(len(realized))
    assert abs(np.mean(realized) - np.mean(stated)) < 3 * error + 1e-3
    assert np.mean(stated) > 0.03  # the bar was used, not just met by silence


def test_an_even_pair_is_never_claimed():
    o = bv.Outcomes.from_counts([[4] * 9, [4] * 9, [0] * 9], 4)
    claims = bv.discoveries(bv.superiority(o, paired=False), q=0.9)
    assert set(claims.worse) == {"m3"}


def test_discoveries_with_a_floor_and_a_family(aime):
    matrix = bv.superiority(aime)
    claims = bv.discoveries(matrix, q=0.2)
    floored = bv.discoveries(matrix, q=0.2, floor=0.9)
    assert claims.probability.min() < 0.9  # the floor has something to do
    pd.testing.assert_frame_equal(floored, claims[claims.probability >= 0.9])
    top = list(aime.models[:6])
    family = np.zeros(matrix.shape, dtype=bool)
    family[:6, :6] = True
    inside = bv.discoveries(matrix, q=0.2, family=family)
    pd.testing.assert_frame_equal(inside, bv.discoveries(matrix.loc[top, top], q=0.2))
    one_side = bv.discoveries(matrix, q=0.2, family=np.tril(family))
    pd.testing.assert_frame_equal(inside, one_side)
    assert len(bv.discoveries(matrix, family=np.zeros(matrix.shape, dtype=bool))) == 0


def test_sure_claims_make_room_for_doubtful_ones():
    # Four nearly even pairs beside 45 sure ones: an expected false share of 4 x 0.49 / 49.
    labels = [f"m{i}" for i in range(50)]
    P = np.full((50, 50), 0.5)
    for i in range(45):
        P[0, i + 1], P[i + 1, 0] = 1, 0
    for i in range(46, 50):
        P[45, i], P[i, 45] = 0.51, 0.49
    claims = bv.discoveries(pd.DataFrame(P, labels, labels), q=0.05)
    assert (claims.probability > 0.9).sum() == 45
    assert (claims.probability < 0.6).sum() == 4


def test_equal_models_are_never_claimed_under_a_learned_prior():
    # The same counts in another order: the two posteriors differ by rounding only.
    o = bv.Outcomes.from_counts([[4, 0, 1, 3, 2], [2, 3, 1, 0, 4], [0, 0, 0, 0, 1]], 4)
    claims = bv.discoveries(bv.superiority(o, paired=False, prior="learned"), q=0.3)
    assert set(claims.worse) == {"m3"}


@pytest.mark.parametrize("prior", ["uniform", "learned"])
def test_rank_probabilities_of_a_long_board(prior):
    p = bv.posterior(bv.datasets.load("hmmt_feb_2025"), prior=prior)
    table = bv.rank_probabilities(p)
    ranks = (-p.draws(4000, rng=3)).argsort(axis=0).argsort(axis=0)
    drawn = np.array([np.bincount(r, minlength=len(ranks)) for r in ranks]) / 4000
    assert np.abs(table.to_numpy() - drawn).max() < 0.03
    assert np.allclose(table.sum(axis=1), 1)
    # The mean rank is one more than the number of models expected above.
    above = bv.superiority(p.outcomes, paired=False, prior=prior).sum() - 0.5
    expected = bv.rank_summary(table)["expected_rank"]
    assert np.allclose(expected[list(p.models)], 1 + above, atol=2e-3)


def test_rank_summary_by_hand():
    table = pd.DataFrame([[0.60, 0.30, 0.08, 0.02], [0.30, 0.40, 0.25, 0.05],
                          [0.10, 0.28, 0.52, 0.10], [0.00, 0.02, 0.15, 0.83]],
                         index=list("abcd"))
    s = bv.rank_summary(table, probability=0.9, top=[1, 3])
    assert s.expected_rank.tolist() == pytest.approx([1.52, 2.05, 2.62, 3.81])
    assert s[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 3], [1, 3], [3, 4]]
    assert s.top_1.tolist() == [0.6, 0.3, 0.1, 0.0]
    assert s.top_3.tolist() == pytest.approx([0.98, 0.95, 0.9, 0.17])
    wide = bv.rank_summary(table, probability=0.999)
    assert wide.loc["a", ["rank_low", "rank_high"]].tolist() == [1, 4]


def test_credible_rank_sets_hold_as_often_as_they_say():
    # Truth from the prior that the posterior assumes; discrete sets hold at least as often.
    rng = np.random.default_rng(8)
    held, widths = [], []
    for _ in range(40):
        p = rng.random((8, 10))
        o = bv.simulate.coin_flips(p, 3, rng=rng)
        s = bv.rank_summary(bv.rank_probabilities(bv.posterior(o)), probability=0.8)
        true = pd.Series((-p.mean(axis=1)).argsort().argsort() + 1, index=o.models)[s.index]
        held.append(((s.rank_low <= true) & (true <= s.rank_high)).mean())
        widths.append((s.rank_high - s.rank_low + 1).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert 0.8 - 3 * error < np.mean(held) < 0.95
    assert np.mean(widths) < 6


@pytest.mark.parametrize(("call", "message"), [
    (lambda: bv.superiority(bv.Outcomes.from_counts([1, 0], 2)), "at least two models"),
    (lambda: bv.superiority([1, 2]), "o must be bayeval.Outcomes"),
    (lambda: bv.superiority(two_by_two(1, 1, 1, 1), prior="learned"), "when paired=True"),
    (lambda: bv.superiority(two_by_two(1, 1, 1, 1), prior=bv.Dirichlet([1, 2])), "prior must"),
    (lambda: bv.rank_probabilities(bv.posterior(bv.Outcomes.from_counts([1, 0], 2))), "p must"),
    (lambda: bv.discoveries(np.eye(2)), "matrix must"),
    (lambda: bv.discoveries(pd.DataFrame(np.eye(2))), "matrix must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5]]), q=1), "q must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5]]), floor=0.3), "floor must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5]]), floor=1), "floor must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5]]), family=[[1]]), "family must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5]]), family=[True]), "family must"),
    (lambda: bv.discoveries(pd.DataFrame([[0.5, 1.5], [-0.5, 0.5]])), "matrix must"),
    (lambda: bv.rank_summary(np.eye(2)), "table must"),
    (lambda: bv.rank_summary(pd.DataFrame([[0.5, 0.6], [0.5, 0.4]])), "table must"),
    (lambda: bv.rank_summary(pd.DataFrame(np.eye(2)), probability=1), "probability must"),
    (lambda: bv.rank_summary(pd.DataFrame(np.eye(2)), top=3), "top must"),
    (lambda: bv.rank_summary(pd.DataFrame(np.eye(2)), top=[1, 0]), "top must"),
])
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()

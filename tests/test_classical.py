"""The usual intervals against loops and formulas, the cases of bug reports, and their claims."""

import numpy as np
import pytest
from scipy import stats

import bayeval as bv
from bayeval import classical
from bayeval.classical import METHODS, summary

Z = stats.norm.ppf(0.975)


def ragged(seed=0, L=3, M=8, K=3):
    """Counts of L models at M questions; some questions were tried once or not at all."""
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 7, (L, M))
    n[:, :2] = 5
    return bv.Outcomes.from_category_counts(rng.multinomial(n, [1 / K] * K), categories=K)


def attempts_of(o, model, w):
    """The attempts themselves: one array of values for each question that was tried."""
    return [np.repeat(w, row) for row in o.counts[model] if row.sum()]


def by_loops(rows, method):
    """Mean and standard error from the attempts, as a textbook has them."""
    means = np.array([r.mean() for r in rows])
    M, pooled = len(rows), np.concatenate(rows)
    if method == "clt-questions":
        return means.mean(), means.std(ddof=1) / np.sqrt(M)
    if method == "clt-attempts":
        return pooled.mean(), pooled.std(ddof=1) / np.sqrt(len(pooled))
    if method == "clt-within":
        return means.mean(), np.sqrt(sum(r.var(ddof=1) / len(r) for r in rows)) / M
    meat = sum(sum(x - pooled.mean() for x in r) ** 2 for r in rows)
    return pooled.mean(), np.sqrt(meat * M / (M - 1)) / len(pooled)


@pytest.mark.parametrize("method", ["clt-questions", "clt-attempts", "clt-within", "cluster"])
@pytest.mark.parametrize("seed", range(3))
def test_normal_intervals_are_those_of_the_attempts(method, seed):
    o, w = ragged(seed), np.array([-1.0, 0.5, 2.0])
    if method == "clt-within":
        at_least_two = np.where(o.n_trials[..., None] == 1, 2 * o.counts, o.counts)
        o = bv.Outcomes.from_category_counts(at_least_two, categories=3)
    s = summary(o, method, weights=w)
    i = s.interval(0.95)
    for model in range(o.n_models):
        mean, se = by_loops(attempts_of(o, model, w), method)
        assert s.mean[model] == pytest.approx(mean, rel=1e-12)
        assert s.sd[model] == pytest.approx(se, rel=1e-12)
        assert (i.low[model], i.high[model]) == pytest.approx((mean - Z * se, mean + Z * se))
    assert (i.kind, i.probability) == ("normal", 0.95)


def test_repeats_are_not_items():
    # 10 repeats of 30 items are not 300 items (a case from a bug report).
    o = bv.Outcomes.from_counts([10] * 15 + [0] * 15, 10)
    assert summary(o, "clt-attempts").mean == 0.5
    assert summary(o, "clt-attempts").sd == pytest.approx(0.02891574659831201, rel=1e-12)
    assert summary(o, "cluster").sd == pytest.approx(0.09284766908852593, rel=1e-12)
    assert bv.posterior(o).sd == pytest.approx(0.013995318712660526, rel=1e-12)


def test_nineteen_of_twenty_stays_below_one():
    # The t interval ends above 1 (a case from a bug report).
    o = bv.Outcomes.from_counts([19], 20)
    i = summary(o, "wilson").interval(0.95)
    assert (i.low, i.high) == pytest.approx((0.763868806553258, 0.9911185511992046), rel=1e-9)
    assert i.kind == "wilson"
    for alpha, ends in ((1, (0.761840090063179, 0.9882506821155542)),
                        (0.5, (0.7891813637507349, 0.9945509674185734))):
        i = bv.posterior(o, prior=bv.Dirichlet(alpha)).interval(0.95)
        assert (i.low, i.high) == pytest.approx(ends, abs=2e-4)
    assert summary(o, "clt-attempts").interval(0.95).high > 1


def test_cluster_is_clt_over_questions_if_attempts_are_equal():
    o = bv.simulate.coin_flips(np.random.default_rng(1).random((5, 12)), 7, rng=2)
    a, b = summary(o, "cluster"), summary(o, "clt-questions")
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-13)
    np.testing.assert_allclose(a.sd, b.sd, rtol=1e-13)


def test_squared_standard_errors_are_what_the_book_says():
    law, M, n = stats.beta(0.8, 1.7), 40, 5
    rng = np.random.default_rng(3)
    p = law.rvs((20_000, M), random_state=rng)
    o = bv.simulate.coin_flips(p, n, rng=rng)
    V, q = law.var(), law.mean() - law.moment(2)
    found = {m: (summary(o, m).sd ** 2).mean() for m in METHODS[:3]}
    assert found["clt-within"] == pytest.approx(q / (n * M), rel=0.01)
    assert found["clt-questions"] == pytest.approx(V / M + q / (n * M), rel=0.01)
    assert found["clt-attempts"] == pytest.approx((V + q) / (n * M), rel=0.03)
    # And the errors that they are to estimate.
    error = bv.avg(o) - p.mean(axis=1)
    assert (error**2).mean() == pytest.approx(q / (n * M), rel=0.04)
    assert ((bv.avg(o) - law.mean()) ** 2).mean() == pytest.approx(V / M + q / (n * M), rel=0.04)


def test_bootstraps_have_the_spread_of_their_plug_in_laws():
    o, w = ragged(4, L=2), np.array([0, 0.5, 2])
    for model in range(2):
        rows = attempts_of(o, model, w)
        means = np.array([r.mean() for r in rows])
        plug_in = {"bootstrap-questions": means.std() / np.sqrt(len(rows)),
                   "bootstrap-attempts": np.sqrt(sum(r.var() / len(r) for r in rows)) / len(rows)}
        for method, sd in plug_in.items():
            s = summary(o, method, weights=w, resamples=20_000, rng=5)
            assert s.mean[model] == pytest.approx(means.mean())
            assert s.sd[model] == pytest.approx(sd, rel=0.03)
            i = s.interval(0.9)
            assert i.kind == "percentile"
            reach = stats.norm.ppf(0.95) * sd
            assert (i.low[model], i.high[model]) == pytest.approx(
                (means.mean() - reach, means.mean() + reach), abs=0.25 * reach)


def test_bootstrap_draws_follow_the_seed_only():
    o = bv.Outcomes.from_counts([[3, 1, 4, 1], [0, 0, 2, 4]], 4)
    for method in METHODS[-2:]:
        one, two, other = (summary(o, method, rng=rng).sd for rng in (1, 1, 2))
        np.testing.assert_array_equal(one, two)
        assert (one != other).all()


@pytest.mark.parametrize("method", METHODS)
def test_one_model_gives_scalars_and_nothing_right_gives_zero(method):
    o = bv.Outcomes.from_counts([0, 0, 0], 4)
    s = summary(o, method, rng=0)
    i = s.interval(0.9)
    assert isinstance(s.mean, float)
    assert isinstance(i.low, float)
    assert s.mean == 0
    if method == "wilson":
        assert i.low == pytest.approx(0, abs=1e-15)
        assert i.high > 0.1
    else:
        assert (i.low, i.high) == (0, 0)
    assert s.population is s


@pytest.mark.parametrize(("successes", "trials", "options", "message"), [
    ([3, 1], 4, {"method": "t"}, "method must be one of .* found 't'"),
    ([3], 4, {"method": "cluster"}, "at least 2 questions .* model 'm1' has 1"),
    ([3, 0], [4, 0], {"method": "bootstrap-questions"}, "at least 2 questions .* has 1"),
    ([1, 0], 1, {"method": "clt-within"}, "at least 2 scored attempts at every .* has 1"),
    ([0, 0], 0, {"method": "clt-within"}, "'clt-within' needs .* has 0"),
    ([0, 0], 0, {"method": "wilson"}, "at least 1 scored attempts; model 'm1' has 0"),
    ([1, 0], [1, 0], {"method": "clt-attempts"}, "at least 2 scored attempts; .* has 1"),
    ([3, 1], 4, {"method": "wilson", "weights": [0, 2]}, "weights must be None"),
    ([3, 1], 4, {"weights": [0, 1, 2]}, r"weights must have shape \(2,\)"),
    ([3, 1], 4, {"resamples": 1}, "resamples must be a whole number from 2"),
])
def test_bad_input_is_named(successes, trials, options, message):
    o = bv.Outcomes.from_counts(successes, trials)
    with pytest.raises(ValueError, match=message):
        classical.summary(o, **options)


def test_wilson_and_probabilities_are_checked():
    rubric = bv.Outcomes.from_category_counts([[1, 2, 3], [1, 0, 0]])
    with pytest.raises(ValueError, match=r"weights are needed|binary"):
        summary(rubric, "wilson")
    with pytest.raises(ValueError, match="probability"):
        summary(bv.Outcomes.from_counts([1, 2], 4)).interval(95)
    with pytest.raises(ValueError, match=r"o must be bayeval\.Outcomes"):
        summary([1, 2, 3])

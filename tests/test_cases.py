"""Cases from public bug reports on evaluation tools, each with its right value.

`cases.json` holds them as data: where each was reported, what went wrong, the input, and the
value in exact arithmetic. One function below checks each, by its id.
"""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import bayeval as bv
from bayeval.classical import summary

CASES = {case["id"]: case for case in json.loads(
    (Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))}


def value(entry):
    """A number of the file, as the fraction that it states if it does."""
    return float(Fraction(entry["exact"])) if isinstance(entry, dict) else entry


def counts(case):
    return bv.Outcomes.from_counts(case["c"], case["n"])


def undefined(o, k, message="1 of 1"):
    """The unbiased estimate is NaN, and the warning counts the questions."""
    with pytest.warns(bv.UndefinedWarning, match=message):
        return np.isnan(bv.pass_at_k(o, k))


def passk_k_gt_n_no_success(given, right):
    o = counts(given)
    assert undefined(o, given["k"])
    assert bv.posterior(o).pass_at_k(given["k"]).mean == pytest.approx(
        value(right["posterior_predictive_uniform_prior"]), rel=1e-14)


def passk_99_fails_k100(given, right):
    passk_k_gt_n_no_success(given, right)


def nan_trials_shrink_n(given, right):
    o = bv.Outcomes.from_matrix(given["results"])
    assert (o.n_trials[0].tolist(), o.successes[0].tolist()) == (right["n_scored"], right["c"])
    assert undefined(o, given["k"])
    assert bv.posterior(o).pass_at_k(given["k"]).mean == pytest.approx(
        value(right["posterior_predictive_uniform_prior"]), rel=1e-14)


def infra_error_gives_100pct(given, right):
    task, = given["tasks"]
    o = bv.Outcomes.from_counts([task["c"]], [task["n"]], planned=[task["planned"]])
    assert bv.pass_hat_k(o, given["k"]) == right["point_scored_only"]
    assert o.coverage == float(Fraction(right["coverage"]))
    assert bv.pass_hat_k(o.missing_as("wrong"), given["k"]) == pytest.approx(
        value(right["as_failures"]), rel=1e-14)
    p = bv.posterior(o)
    assert p.mean == pytest.approx(value(right["posterior_uniform_mean"]), rel=1e-14)
    i = p.interval(0.95)
    assert (i.low, i.high) == pytest.approx(right["posterior_95"], abs=1e-4)


def unequal_n_micro_vs_macro(given, right):
    o = counts(given)
    assert bv.avg(o) == value(right["macro_mean"])
    assert summary(o, "clt-attempts").mean == pytest.approx(value(right["micro_mean"]), rel=1e-14)
    p = bv.posterior(o)
    assert p.mean == pytest.approx(value(right["bayes_mean_uniform"]), rel=1e-14)
    assert p.sd == pytest.approx(right["bayes_sigma"], rel=1e-12)


def probability_used_as_bool(given, right):
    assert bv.pass_at_k(counts(given), given["k"]) == pytest.approx(
        value(right["unbiased"]), rel=1e-14)


def problem_count_in_sample_slot(given, right):
    R = np.zeros(given["results_shape"], dtype=int)
    R[:given["solved"]] = 1
    o = bv.Outcomes.from_matrix(R)
    assert (o.n_questions, o.n_trials.max()) == tuple(given["results_shape"])
    assert bv.pass_at_k(o, 1) == pytest.approx(value(right["pass@1"]), rel=1e-14)
    assert undefined(o, given["k"], "164 of 164")
    as_attempts = bv.Outcomes.from_counts([given["solved"]], given["results_shape"][0])
    assert bv.pass_at_k(as_attempts, given["k"]) == pytest.approx(right["wrong_value_seen"])


def passhat_three_definitions(given, right):
    trials, ks = given["trials"], given["k"]
    o = bv.Outcomes.from_matrix([trials])
    assert np.allclose(bv.pass_hat_k(o, ks), [value(x) for x in right["unbiased"]], rtol=1e-14)
    assert np.allclose(bv.posterior(o).pass_hat_k(ks).mean,
                       [value(x) for x in right["posterior_predictive_uniform"]], rtol=1e-13)
    # The two others, which are not offered: one is biased, one depends on the order of trials.
    assert np.allclose(np.mean(trials) ** np.array(ks), [value(x) for x in right["plug_in"]])
    windows = [np.lib.stride_tricks.sliding_window_view(trials, k).all(axis=1).mean() for k in ks]
    assert np.allclose(windows, [value(x) for x in right["sliding_window"]])


def failed_runs_dropped_from_denominator(given, right):
    o = bv.Outcomes.from_counts([given["successes"]], [given["scored"]],
                                planned=[given["planned"]])
    assert bv.avg(o) == pytest.approx(value(right["scored_only"]), rel=1e-14)
    worst, best = (bv.avg(o.missing_as(c)) for c in ("wrong", "right"))
    assert worst == pytest.approx(value(right["as_failures"]), rel=1e-14)
    assert (worst, best) == pytest.approx(right["worst_best_bounds"], rel=1e-14)
    assert o.coverage == given["scored"] / given["planned"]


def all_k_le_n_from_one_run(given, right):
    assert np.allclose(bv.pass_at_k(counts(given), given["k"]),
                       [value(x) for x in right["unbiased"]], rtol=1e-14)


def ci_above_one(given, right):
    o, level = bv.Outcomes.from_counts([given["c"]], given["n"]), given["level"]
    intervals = {
        "wilson": summary(o, "wilson").interval(level),
        "beta_uniform_equal_tailed": bv.posterior(o).interval(level),
        "beta_jeffreys_equal_tailed": bv.posterior(o, prior=bv.Dirichlet(0.5)).interval(level)}
    for name, interval in intervals.items():
        assert (interval.low, interval.high) == pytest.approx(right[name], abs=5e-5)
        assert interval.high < 1


def stderr_zero_inside(given, right):
    o = bv.Outcomes.from_counts([given["c"]], given["n"])
    s = summary(o, "clt-attempts")
    assert s.mean == bv.avg(o) == pytest.approx(value(right["mean"]), rel=1e-14)
    assert s.sd == pytest.approx(right["sample_stderr"], rel=1e-12)
    assert bv.posterior(o).sd == pytest.approx(s.sd, rel=0.01)


def group_stderr_mismatch(given, right):
    n = [part["n"] for part in given["subtasks"]]
    both = bv.Outcomes.from_counts([round(p["p"] * p["n"]) for p in given["subtasks"]], n)
    errors = [summary(both.select(questions=[q]), "clt-attempts").sd for q in both.questions]
    assert errors == pytest.approx(right["subtask_stderr"], rel=1e-12)
    s = summary(both, "clt-within")  # one vote for each part, whatever its size
    assert s.mean == 0.5
    assert s.sd == pytest.approx(right["stderr_unweighted_mean"], rel=1e-12)
    assert bv.posterior(both).sd > 4 * right["wrong_value_seen"]


def paired_vs_unpaired(given, right):
    a_only, b_only = given["A_only"], given["B_only"]
    a = [1] * (given["both_right"] + a_only) + [0] * (b_only + given["both_wrong"])
    b = [1] * given["both_right"] + [0] * a_only + [1] * b_only + [0] * given["both_wrong"]
    o = bv.Outcomes.from_counts([a, b], 1, models=["A", "B"])
    assert bv.superiority(o).loc["B", "A"] == pytest.approx(
        value(right["P(B>A)_dirichlet_1111"]), abs=1e-9)
    unpaired = bv.superiority(o, paired=False).loc["B", "A"]
    assert unpaired < 0.9 < bv.superiority(o).loc["B", "A"]
    # The other numbers of the file, from the same table.
    exact = stats.binomtest(a_only, a_only + b_only).pvalue
    assert exact == pytest.approx(value(right["mcnemar_exact_two_sided_p"]), rel=1e-12)
    s = summary(o, "wilson")
    z = (s.mean[1] - s.mean[0]) / np.hypot(*s.sd)
    assert 2 * stats.norm.sf(z) == pytest.approx(right["unpaired_z_p"], rel=1e-9)
    middle = exact - stats.binom(a_only + b_only, 0.5).pmf(a_only)
    assert middle == pytest.approx(value(right["mid_p"]), rel=1e-12)


def exact_tie_ranked_by_display_order(given, right):
    solved = given["solved_of_500"]
    o = bv.Outcomes.from_counts([[1] * s + [0] * (500 - s) for s in solved], 1)
    table = bv.leaderboard(o)
    assert table["rank"][list(o.models)].tolist() == right["competition_ranks"]
    # The same number solved, on other questions: as many for the one as for the other.
    row = [1] * 396 + [0] * 104
    tie = bv.Outcomes.from_counts([row, row[::-1]], 1)
    assert bv.superiority(tie).iloc[0, 1] == pytest.approx(
        right["P(1st>2nd)_given_equal_discordance"], abs=1e-9)


def repeats_are_not_items(given, right):
    o = bv.Outcomes.from_counts(given["per_question_successes"], given["trials"])
    assert o.n_questions == given["questions"]
    assert bv.avg(o) == right["mean"]
    assert bv.posterior(o).sd == pytest.approx(right["bayesN_sigma_fixed_items"], rel=1e-12)
    assert summary(o, "clt-attempts").sd == pytest.approx(right["naive_se_300_rows"], rel=1e-12)
    for method in ("cluster", "clt-questions"):
        assert summary(o, method).sd == pytest.approx(right["item_clustered_se"], rel=1e-12)
    # Both estimands are offered, each with its own error.
    assert bv.posterior(o).population.sd > 0.8 * right["item_clustered_se"]


def mgpass_odd_k(given, right):
    o, k = counts(given), given["k"]
    assert np.allclose(bv.mg_pass_at_k(o, k), right["published_sum"], rtol=0, atol=1e-15)
    assert np.allclose(bv.mg_pass_at_k(o, k, form="integral"), right["integral_2*int_.5^1"],
                       rtol=0, atol=1e-15)


def uniform_prior_floor(given, right):
    o = bv.Outcomes.from_counts([0] * given["M"], given["N"])
    assert bv.pass_at_k(o, given["k"]) == right["unbiased"]
    uniform = bv.posterior(o).pass_at_k(given["k"])
    assert uniform.mean == pytest.approx(value(right["bayes_uniform_mean"]), rel=1e-14)
    # The prior that is learned from the questions themselves has no such floor.
    learned = bv.posterior(o, prior="learned").pass_at_k(given["k"])
    assert learned.mean < 0.02
    with pytest.warns(bv.ForecastWarning):
        assert bv.forecast(o, given["k"]).mean < 0.02


CHECKS = {f.__name__: f for f in (
    passk_k_gt_n_no_success, passk_99_fails_k100, nan_trials_shrink_n, infra_error_gives_100pct,
    unequal_n_micro_vs_macro, probability_used_as_bool, problem_count_in_sample_slot,
    passhat_three_definitions, failed_runs_dropped_from_denominator, all_k_le_n_from_one_run,
    ci_above_one, stderr_zero_inside, group_stderr_mismatch, paired_vs_unpaired,
    exact_tie_ranked_by_display_order, repeats_are_not_items, mgpass_odd_k, uniform_prior_floor)}


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    assert name in CHECKS, f"no check is written for the case {name!r}"
    CHECKS[name](CASES[name]["input"], CASES[name]["expected"])

"""Hostile input: every argument of every core function refuses nonsense in words that name it."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayeval as bv
from bayeval import design, ranking, simulate

ONE = bv.Outcomes.from_counts([3, 0], 4)
TWO = bv.Outcomes.from_counts([[3, 0], [1, 2]], 4)
RUBRIC = bv.Outcomes.from_category_counts([[[1, 2, 1], [2, 2, 0]], [[0, 0, 4], [4, 0, 0]]])
P = bv.posterior(ONE)
FRAME = pd.DataFrame({"m": ["A", "A"], "q": [1, 2], "y": [1, 0], "s": [1, 0], "n": [2, 2]})
LAW = stats.beta(1, 1)

# Never right, whatever the argument.
NONSENSE = {
    "object": object(), "bytes": b"xy", "dict": {"a": 1}, "set": {1, 2}, "function": len,
    "complex": 1 + 2j, "complex array": np.array([1 + 2j, 0]), "NaT": pd.NaT,
    "dates": np.array(["2025-01-01", "2025-01-02"], dtype="datetime64[D]"),
    "spans": np.array([1, 2], dtype="timedelta64[D]"), "no shape": np.array(None),
    "record": np.array([(1, 2)], dtype=[("a", int), ("b", int)]), "sets": [{1}, {2}],
    "mixed depth": [1, [0, 1]], "NaN": np.nan, "infinity": np.inf, "pandas NA": pd.NA,
    "masked": np.ma.masked, "empty frame": pd.DataFrame(), "nested objects": [[object()]],
}
TEXT = {"text": "abc", "no text": "", "list of text": ["a", "b"], "digits": ["1", "2"],
        "frame of text": pd.DataFrame({"a": ["x"]})}
# Not a single number.
MANY = {"list": [1, 2], "matrix": np.eye(2), "empty": [], "true": True, "numpy true": np.True_,
        "series": pd.Series([1, 2], index=[5, 5]), "None in it": [1, None]}
# No finite numbers, or not of a proper shape.
SHAPES = {"empty": [], "empty row": [[]], "4 axes": np.ones((1, 1, 2, 2)), "NaN in it": [1, np.nan],
          "infinity in it": [1, np.inf], "None in it": [1, None], "NA in it": [1, pd.NA],
          "mask in it": np.ma.array([1, 2], mask=[0, 1]),
          "nullable": pd.array([1, None], dtype="Int64"), "ragged": [[1, 0], [1]]}
NO_COUNT = {"negative": [1, -1], "fraction": [0.5, 1], "huge": [10**30, 1],
            "decimal fraction": [Decimal("0.5"), Decimal(1)],
            "unsigned": np.array([2**64 - 1, 1], dtype=np.uint64)}
NO_ATTEMPTS = {"zero": 0, "minus one": -1, "half": 1.5, "true": True, "booleans": [True, True],
               "zero in it": [1, 0], "huge": 10**30, "matrix": np.ones((2, 2), int), "empty": [],
               "NaN in it": [1, np.nan], "mask in it": np.ma.array([1, 2], mask=[0, 1])}
NO_LABELS = {"a number": 7, "nested": [[1], [2]], "missing": ["a", None], "NaN": ["a", np.nan],
             "twice": ["a", "a"], "one": ["a"], "three": list("abc"), "set": {"a", "b"},
             "frame": pd.DataFrame([[1, 2]])}
NO_PROBABILITY = {"zero": 0, "one": 1, "percent": 95, "minus": -0.1, "huge": 10**400}
NOT_01 = {"above": [1.5, 0], "below": [-0.1, 0], "matrix of three": np.ones((1, 1, 1))}

ARRAY = NONSENSE | TEXT | SHAPES
NUMBER = NONSENSE | TEXT | MANY
SCALARS = ("NaN", "infinity", "pandas NA", "NaT", "masked", "no shape")


def without(values, *names):
    return {name: value for name, value in values.items() if name not in names}


# (name of the argument, call with that argument, what it must refuse)
ARGUMENTS = [
    ("successes", lambda x: bv.Outcomes.from_counts(x, 4), ARRAY | NO_COUNT),
    ("trials", lambda x: bv.Outcomes.from_counts([1, 0], x), without(ARRAY, "spans") | NO_COUNT),
    ("planned", lambda x: bv.Outcomes.from_counts([1, 0], 1, planned=x), ARRAY | NO_COUNT),
    ("models", lambda x: bv.Outcomes.from_counts([[1, 0]] * 2, 2, models=x), NO_LABELS),
    ("questions", lambda x: bv.Outcomes.from_counts([1, 0], 2, questions=x), NO_LABELS),
    ("counts", bv.Outcomes.from_category_counts, ARRAY | NO_COUNT | {"flat": [1, 2]}),
    ("categories", lambda x: bv.Outcomes.from_category_counts([[1, 2]], categories=x),
     NO_LABELS | {"three": 3, "true": True}),
    ("R", bv.Outcomes.from_matrix,
     without(ARRAY, "ragged") | {"flat": [1, 0], "flat text": np.array(["a", "b"])}),
    ("R", lambda x: bv.Outcomes.from_matrix([x]), {
        "negative": [1, -1], "fraction": [0.5, 1], "huge": [10**30, 1], "text": ["1", "0"],
        "complex": [1j, 0], "infinity": [np.inf, 1], "object": [object(), 1]}),
    ("categories", lambda x: bv.Outcomes.from_matrix([[1, 0]], categories=x),
     without(NO_LABELS, "three", "a number") | {"true": True, "one category": 1, "huge": 10**30,
                                    "turned": [1, 0], "float": 2.0, "text": "ab"}),
    ("df", lambda x: bv.Outcomes.from_frame(x, question="q", outcome="y"), NONSENSE | SHAPES),
    ("question", lambda x: bv.Outcomes.from_frame(FRAME, question=x, outcome="y"),
     NONSENSE | TEXT | SHAPES),
    ("model", lambda x: bv.Outcomes.from_frame(FRAME, question="q", model=x, outcome="y"),
     NONSENSE | TEXT | SHAPES),
    ("outcome", lambda x: bv.Outcomes.from_frame(FRAME, question="q", outcome=x),
     NONSENSE | TEXT | SHAPES),
    ("successes", lambda x: bv.Outcomes.from_frame(FRAME, question="q", successes=x, trials="n"),
     NONSENSE | TEXT | SHAPES),
    ("trials", lambda x: bv.Outcomes.from_frame(FRAME, question="q", successes="s", trials=x),
     NONSENSE | TEXT | SHAPES),
    ("models", lambda x: TWO.select(models=x), NONSENSE | TEXT | SHAPES),
    ("questions", lambda x: TWO.select(questions=x), NONSENSE | TEXT | SHAPES),
    ("other", TWO.merge, NONSENSE | TEXT | SHAPES),
    ("success", lambda x: RUBRIC.binary(success=x), NONSENSE | TEXT | SHAPES),
    ("category", RUBRIC.missing_as, NONSENSE | TEXT | SHAPES),
    ("o", lambda x: bv.pass_at_k(x, 1), NONSENSE | TEXT | SHAPES),
    ("o", bv.avg, NONSENSE | TEXT | SHAPES),
    ("o", bv.posterior, NONSENSE | TEXT | SHAPES),
    ("o", bv.leaderboard, NONSENSE | TEXT | SHAPES),
    ("o", lambda x: simulate.subsample(x, 1), NONSENSE | TEXT | SHAPES),
    ("k", lambda x: bv.pass_at_k(TWO, x), NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", lambda x: bv.pass_hat_k(TWO, x), NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", lambda x: bv.g_pass_at_k(TWO, x, tau=0.5), NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", lambda x: bv.mg_pass_at_k(TWO, x), NONSENSE | TEXT | NO_ATTEMPTS),
    ("tau", lambda x: bv.g_pass_at_k(TWO, 2, tau=x), NUMBER | without(NO_PROBABILITY, "one")),
    ("form", lambda x: bv.mg_pass_at_k(TWO, 2, form=x), NUMBER),
    ("undefined", lambda x: bv.pass_at_k(TWO, 2, undefined=x), NUMBER),
    ("weights", lambda x: bv.avg(TWO, x), ARRAY | {"three": [0, 1, 2], "number": 1}),
    ("weights", lambda x: bv.posterior(TWO, x),
     ARRAY | {"three": [0, 1, 2], "number": 1, "tiny": [0, 1e-300], "huge": [0, 1e300]}),
    ("prior", lambda x: bv.posterior(TWO, prior=x), without(NUMBER, "empty")),
    ("alpha", bv.Dirichlet, ARRAY | {
        "true": True, "zero": 0, "minus": -1, "huge": 1e300, "zero in it": [1, 0]}),
    ("o", bv.Past, NONSENSE | TEXT | SHAPES),
    ("discount", lambda x: bv.Past(TWO, discount=x), NUMBER | {"more": 1.5, "less": -0.5}),
    ("probability", P.interval, NUMBER | NO_PROBABILITY),
    ("kind", lambda x: P.interval(kind=x), NUMBER),
    ("n", P.draws, NUMBER | {"zero": 0, "half": 0.5, "minus": -1, "huge": 10**30}),
    ("rng", lambda x: P.draws(2, rng=x), without(NONSENSE, "empty frame") | TEXT
     | {"minus": -1, "half": 0.5, "true": True, "matrix of halves": np.eye(2) / 2}),
    ("k", P.pass_at_k, NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", P.pass_hat_k, NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", lambda x: P.g_pass_at_k(x, tau=0.5), NONSENSE | TEXT | NO_ATTEMPTS),
    ("k", P.mg_pass_at_k, NONSENSE | TEXT | NO_ATTEMPTS),
    ("tau", lambda x: P.g_pass_at_k(2, tau=x), NUMBER | without(NO_PROBABILITY, "one")),
    ("form", lambda x: P.mg_pass_at_k(2, form=x), NUMBER),
    ("p_a", lambda x: bv.compare(x, P), NONSENSE | TEXT | SHAPES),
    ("p_b", lambda x: bv.compare(P, x), NONSENSE | TEXT | SHAPES),
    ("probability", lambda x: bv.leaderboard(TWO, probability=x), NUMBER | NO_PROBABILITY),
    ("kind", lambda x: bv.leaderboard(TWO, kind=x), NUMBER),
    ("prior", lambda x: bv.leaderboard(TWO, prior=x), NUMBER),
    ("weights", lambda x: bv.leaderboard(TWO, weights=x), ARRAY),
    ("scores", lambda x: bv.kendall_tau(x, [1, 2]), without(NONSENSE, *SCALARS) | TEXT),
    ("reference", lambda x: bv.kendall_tau([1, 2], x), NONSENSE | TEXT),
    ("tracks", bv.convergence_at_n, NONSENSE | TEXT | {"flat": [1, 2], "empty": [[]]}),
    ("reference", lambda x: bv.convergence_at_n([[1, 2], [1, 2]], x),
     NONSENSE | TEXT | without(SHAPES, "infinity in it") | {"three": [1, 2, 3]}),
    ("scores", ranking.ranks, without(NONSENSE, "empty frame") | TEXT | {"NaN in it": [1, np.nan]}),
    ("low", lambda x: ranking.rank_sets(x, [1, 2]), NONSENSE | TEXT | SHAPES),
    ("high", lambda x: ranking.rank_sets([0, 1], x), without(NONSENSE | TEXT | SHAPES,
                                                            "infinity in it")),
    ("p", lambda x: simulate.coin_flips(x, 3), ARRAY | NOT_01),
    ("n", lambda x: simulate.coin_flips([0.5, 0.5], x), ARRAY | NO_COUNT),
    ("rng", lambda x: simulate.coin_flips([0.5], 2, rng=x),
     {"text": "x", "half": 0.5, "true": True}),
    ("n", lambda x: simulate.subsample(TWO, x), NUMBER | {"zero": 0, "half": 0.5, "huge": 2**63}),
    ("estimator", lambda x: simulate.coverage(x, LAW, 2, questions=2, replicates=2),
     without(NONSENSE, "function") | TEXT),
    ("truth", lambda x: simulate.coverage(bv.posterior, x, 2, questions=2, replicates=2),
     NONSENSE | TEXT),
    ("n", lambda x: simulate.coverage(bv.posterior, LAW, x, questions=2, replicates=2),
     NONSENSE | TEXT | NO_ATTEMPTS),
    ("questions", lambda x: simulate.coverage(bv.posterior, LAW, 2, questions=x, replicates=2),
     NUMBER | {"zero": 0, "half": 0.5}),
    ("replicates", lambda x: simulate.coverage(bv.posterior, LAW, 2, questions=2, replicates=x),
     NUMBER | {"zero": 0, "half": 0.5}),
    ("probability", lambda x: simulate.coverage(bv.posterior, LAW, 2, questions=2, replicates=2,
                                                probability=x), NUMBER | NO_PROBABILITY),
    ("p_a", lambda x: design.plan_trials(x, [0.5, 0.2]), ARRAY | NOT_01),
    ("p_b", lambda x: design.plan_trials([0.5, 0.2], x), ARRAY | NOT_01),
    ("rho", lambda x: design.plan_trials([0.5], [0.2], rho=x), NUMBER | NO_PROBABILITY),
    ("power", lambda x: design.plan_trials([0.5], [0.2], power=x), NUMBER | NO_PROBABILITY),
    ("gap", lambda x: design.plan_trials([0.5], [0.2], gap=x),
     NUMBER | without(NO_PROBABILITY, "one")),
]


@pytest.mark.parametrize(("name", "call", "values"), ARGUMENTS,
                         ids=[f"{i} {name}" for i, (name, _, _) in enumerate(ARGUMENTS)])
def test_nonsense_is_refused_by_name(name, call, values):
    failures = []
    for what, value in values.items():
        try:
            result = call(value)
        except ValueError as error:
            if name not in str(error):
                failures.append(f"{what}: does not name {name}: {error}")
        except Exception as error:
            failures.append(f"{what}: {type(error).__name__}: {error}")
        else:
            failures.append(f"{what}: accepted, {type(result).__name__}")
    assert not failures, "\n".join(failures)


def test_an_error_says_what_was_found_and_what_is_right():
    with pytest.raises(ValueError, match=r"successes must be whole numbers; found 0\.25 \(a pro"):
        bv.Outcomes.from_counts([0.25], 4)
    with pytest.raises(ValueError, match=r"k must be a whole number from 1 to .*; found -3"):
        bv.pass_at_k(ONE, -3)
    with pytest.raises(ValueError, match=r"tau must be a finite number in \(0, 1\]; found 0"):
        bv.g_pass_at_k(ONE, 2, tau=0)
    with pytest.raises(ValueError, match="kind must be one of 'equal-tailed', 'hdi', 'normal'; "):
        P.interval(kind="HDI")

"""Outcomes: every constructor, every way to say "missing", labels, and new outcomes from old."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import bayeval as bv

# -- from a matrix ------------------------------------------------------------------------------

HOLES = {
    "NaN": np.array([[1, 0, np.nan], [np.nan, 1, 1]]),
    "None": [[1, 0, None], [None, 1, 1]],
    "pandas NA": [[1, 0, pd.NA], [pd.NA, 1, 1]],
    "all of them": [[1, 0, np.nan], [None, 1, 1]],
    "object array": np.array([[True, 0, None], [np.nan, 1.0, np.int8(1)]], dtype=object),
    "short floats": np.array([[1, 0, np.nan], [np.nan, 1, 1]], dtype=np.float16),
    "mask": np.ma.array([[1, 0, 1], [7, 1, 1]], mask=[[0, 0, 1], [1, 0, 0]]),
    "mask over small integers": np.ma.array(np.array([[1, 0, 1], [7, 1, 1]], dtype=np.int8),
                                            mask=[[0, 0, 1], [1, 0, 0]]),
    "mask over booleans": np.ma.array([[True, False, True], [True, True, True]],
                                      mask=[[0, 0, 1], [1, 0, 0]]),
    "frame": pd.DataFrame([[1, 0, None], [None, 1, 1]], index=[7, 7]),
    "frame of Int64": pd.DataFrame([[1, 0, None], [None, 1, 1]], dtype="Int64"),
    "frame of boolean": pd.DataFrame([[True, False, None], [None, True, True]], dtype="boolean"),
}


@pytest.mark.parametrize("R", HOLES.values(), ids=HOLES)
def test_missing_attempts_may_be_written_in_any_way(R):
    o = bv.Outcomes.from_matrix(R)
    assert o.counts.tolist() == [[[1, 1], [0, 2]]]
    assert o.planned.tolist() == [[3, 3]]
    assert o.coverage == 4 / 6
    assert o.n_trials.tolist() == [[2, 2]]
    assert bv.avg(o) == 0.75
    assert bv.posterior(o).mean == 0.625


TEXT_HOLES = {
    "None": [["no", "yes", None], [None, "yes", "yes"]],
    "NaN": [["no", "yes", np.nan], [np.nan, "yes", "yes"]],
    "mask": np.ma.array([["no", "yes", "?"], ["?", "yes", "yes"]], mask=[[0, 0, 1], [1, 0, 0]]),
    "frame": pd.DataFrame([["no", "yes", None], [pd.NA, "yes", "yes"]]),
}


@pytest.mark.parametrize("R", TEXT_HOLES.values(), ids=TEXT_HOLES)
def test_labels_as_text_may_be_missing_too(R):
    o = bv.Outcomes.from_matrix(R, categories=["no", "yes"])
    assert o.counts.tolist() == [[[1, 1], [0, 2]]]
    assert (o.categories, o.coverage) == (("no", "yes"), 4 / 6)


def test_ragged_lists_are_unequal_attempts_and_none_in_them_is_missing():
    o = bv.Outcomes.from_matrix([[1, 0, None, 1], [1], []])
    assert o.n_trials.tolist() == [[3, 1, 0]]
    assert o.planned.tolist() == [[4, 1, 0]]
    assert o.coverage == 0.8
    two = bv.Outcomes.from_matrix([[[1, 0], [1]], [[], [0, 0, 0]]])
    assert two.n_trials.tolist() == [[2, 1], [0, 3]]
    assert two.coverage.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int64, np.float16, float, object])
def test_long_rows_are_counted_exactly_in_any_type(dtype):
    right = np.ones((2, 3001))
    right[1, 17] = 0
    assert bv.Outcomes.from_matrix(right.astype(dtype)).successes.tolist() == [[3001, 3000]]


def test_a_model_axis_makes_results_arrays():
    R = np.array([[[0, 1], [1, 1], [0, 0]]])
    one, many = bv.Outcomes.from_matrix(R[0]), bv.Outcomes.from_matrix(R)
    assert isinstance(bv.avg(one), float)
    assert bv.avg(many).tolist() == [0.5]
    assert np.array_equal(one.counts, many.counts)
    assert (one.single, many.single) == (True, False)


def test_the_number_of_categories_comes_from_the_codes_or_is_given():
    assert bv.Outcomes.from_matrix([[0, 0]]).categories == ("wrong", "right")
    assert bv.Outcomes.from_matrix([[0, 3]]).categories == (0, 1, 2, 3)
    assert bv.Outcomes.from_matrix([[0, 1]], categories=3).categories == (0, 1, 2)
    assert bv.Outcomes.from_matrix([[0, 1]], categories=["a", "b", "c"]).counts.tolist() == [
        [[1, 1, 0]]]
    assert bv.Outcomes.from_matrix([["b", "a"]], categories=iter("ab")).counts.tolist() == [
        [[1, 1]]]
    assert bv.Outcomes.from_matrix([[None, None]]).n_trials.tolist() == [[0]]


@pytest.mark.parametrize(("R", "options", "message"), [
    ([[0, 0.5]], {}, "R must hold whole category codes; found 0.5"),
    ([[0, -1]], {}, r"codes 0\.\.1; found -1 \(mark missing attempts as NaN"),
    ([[0, 2]], {"categories": 2}, r"codes 0\.\.1; found 2"),
    ([[0, np.inf]], {}, "R must hold category codes"),
    ([[0, np.inf]], {"categories": 2}, "R must hold category codes"),
    ([[0, 1000]], {}, r"R must hold category codes 0\.\.C; found 1000"),
    ([["a", "b"]], {}, "R holds text such as 'a': give `categories`"),
    ([["a", "b"]], {"categories": 2}, "R holds text"),
    ([["a", "c"]], {"categories": ["a", "b"]}, r"R holds \['c'\], not in categories"),
    ([1, 0], {}, r"R must have shape \(M, N\)"),
    (np.zeros((1, 1, 1, 2)), {}, r"R must have shape \(M, N\)"),
    ([[]], {}, "R must have shape .* empty axis"),
    ([[], []], {}, "R must have shape .* empty axis"),
    ([[[1], [0]], [[1]]], {}, "R is ragged over questions"),
    ([1, [0, 1]], {}, "R must be nested to the same depth"),
    ([[1 + 2j, 0]], {}, "R must hold category codes"),
    (np.array([["2025-01-01"]], dtype="datetime64[D]"), {}, "R must hold category codes"),
    ([[object(), 1]], {}, "R must hold category codes or labels; found object"),
    ([[0, 1]], {"categories": 1}, "categories must be a whole number from 2"),
    ([[0, 1]], {"categories": 2.0}, "categories must be a list of labels"),
    ([[0, 1]], {"categories": [1, 0]}, r"categories must be text, or the codes 0\.\.C in order"),
    ([[0, 1]], {"categories": [0, 0.5, 1]}, "categories must be text, or the codes"),
    ([["a", "b"]], {"categories": ["a", "a"]}, "categories must be distinct; 'a'"),
    ([["a", "b"]], {"categories": {"a", "b"}}, "categories must be a list of labels; found set"),
    ([[0, 1]], {"questions": ["x", "y"]}, "questions must have 1 labels; found 2"),
])
def test_bad_matrices_are_errors_by_name(R, options, message):
    with pytest.raises(ValueError, match=message):
        bv.Outcomes.from_matrix(R, **options)


# -- from counts --------------------------------------------------------------------------------


def test_successes_and_trials_broadcast():
    o = bv.Outcomes.from_counts([[4, 1], [2, 0]], [4, 3], models=["A", "B"])
    assert o.n_trials.tolist() == [[4, 3], [4, 3]]
    assert o.successes.tolist() == [[4, 1], [2, 0]]
    assert (o.models, o.questions) == (("A", "B"), ("q1", "q2"))
    assert o.coverage.tolist() == [1, 1]


def test_planned_attempts_give_the_coverage():
    o = bv.Outcomes.from_counts([1, 0], [1, 0], planned=[4, 0])
    assert o.coverage == 0.25
    assert "3 of 4 attempts not scored" in repr(o)
    assert "not scored" not in repr(bv.Outcomes.from_counts([1, 0], [1, 0]))
    assert np.isnan(bv.Outcomes.from_counts([0], 0).coverage)


def test_whole_floats_and_decimals_are_counts():
    from decimal import Decimal
    for successes in ([2.0, 1.0], [Decimal(2), Decimal(1)], pd.Series([2, 1]), (2, 1),
                      np.array([2, 1], dtype=object), pd.array([2, 1], dtype="Int64")):
        assert bv.Outcomes.from_counts(successes, 4).successes.tolist() == [[2, 1]]


@pytest.mark.parametrize(("successes", "trials", "options", "message"), [
    ([3, 5], 4, {}, r"successes must not exceed trials; found 5 of 4 at index \(1,\)"),
    ([0.5, 1], 4, {}, "successes must be whole numbers; found 0.5"),
    ([1, np.nan], 4, {}, "successes must be counts; found NaN"),
    ([1, None], 4, {}, "successes must be counts; found NaN"),
    (np.ma.array([1, 2], mask=[0, 1]), 4, {}, "successes must be counts; found NaN"),
    ([1, -1], 4, {}, "successes must be counts from 0"),
    ([1, 10**30], 4, {}, "successes must be counts from 0"),
    (["1", "2"], 4, {}, "successes must be counts"),
    ([[1], [1, 2]], 4, {}, "successes must be a rectangular array"),
    (3, 4, {}, r"successes must have shape \(M,\)"),
    ([], 4, {}, r"successes must have shape \(M,\)"),
    ([1, 2], [4, 4, 4], {}, "trials of shape"),
    ([1, 2], -4, {}, "trials must be counts from 0"),
    ([1, 2], 4, {"planned": 3}, "planned must be at least the scored attempts; found 3"),
    ([1, 2], 4, {"planned": [4, 4, 4]}, "planned must have shape"),
    ([1, 2], 4, {"questions": ["x"]}, "questions must have 2 labels"),
    ([1, 2], 4, {"questions": ["x", "x"]}, "questions must be distinct; 'x'"),
    ([1, 2], 4, {"questions": [1, True]}, "questions must be distinct"),
    ([1, 2], 4, {"questions": ["x", None]}, "questions must not be missing"),
    ([1, 2], 4, {"questions": ["x", np.nan]}, "questions must not be missing"),
    ([1, 2], 4, {"questions": [["x"], ["y"]]}, "questions must be text, numbers or tuples"),
    ([1, 2], 4, {"questions": {"x", "y"}}, "questions must be a list of labels; found set"),
    ([1, 2], 4, {"questions": 2}, "questions must be a list of labels"),
    ([1, 2], 4, {"models": ["x", "y"]}, "models must have 1 labels"),
])
def test_bad_counts_are_errors_by_name(successes, trials, options, message):
    with pytest.raises(ValueError, match=message):
        bv.Outcomes.from_counts(successes, trials, **options)


def test_pandas_columns_in_another_order_are_not_paired_by_position():
    right = pd.Series([3, 1], index=["x", "y"])
    assert bv.Outcomes.from_counts(right, pd.Series([4, 2], index=["x", "y"])).coverage == 1
    with pytest.raises(ValueError, match="successes and trials must have equal labels"):
        bv.Outcomes.from_counts(right, pd.Series([4, 2], index=["y", "x"]))
    table = pd.DataFrame([[3, 1], [2, 2]], index=["A", "B"], columns=["x", "y"])
    with pytest.raises(ValueError, match="successes and trials must have equal labels"):
        bv.Outcomes.from_counts(table, pd.Series([4, 4], index=["y", "x"]))


@pytest.mark.parametrize(("counts", "message"), [
    ([[1], [2]], "at least two categories"), ([1, 2], "counts must have shape"),
    (np.zeros((2, 0)), "counts must have shape"), ([[1, -2]], "counts must be counts from 0"),
    ([[1, 0.5]], "counts must be whole numbers"), ([["a", "b"]], "counts must be counts"),
])
def test_bad_category_counts_are_errors_by_name(counts, message):
    with pytest.raises(ValueError, match=message):
        bv.Outcomes.from_category_counts(counts)


# -- from a frame -------------------------------------------------------------------------------


@pytest.fixture
def runs():
    """Attempts in no order, on an index that repeats itself."""
    return pd.DataFrame({
        "model": ["B", "A", "A", "B", "A"], "set": ["s", "s", "s", "t", "t"],
        "task": [1, 1, 1, 1, 1], "ok": [1, 0, 1, None, 1]}, index=[3, 3, 0, -1, 0])


def test_a_frame_of_attempts(runs):
    o = bv.Outcomes.from_frame(runs, model="model", question=["set", "task"], outcome="ok")
    assert (o.models, o.questions) == (("B", "A"), ("s/1", "t/1"))
    assert o.n_trials.tolist() == [[1, 0], [2, 1]]
    assert o.planned.tolist() == [[1, 1], [2, 1]]
    assert o.successes.tolist() == [[1, 0], [1, 1]]


def test_a_frame_of_text_and_of_categoricals():
    df = pd.DataFrame({"q": ["x", "x", "y"], "verdict": ["no", "yes", None]})
    for column in (df.verdict, df.verdict.astype("category"), df.verdict.astype("string")):
        o = bv.Outcomes.from_frame(df.assign(verdict=column), question="q", outcome="verdict",
                                   categories=["no", "yes"])
        assert o.counts.tolist() == [[[1, 1], [0, 0]]]
        assert o.single


def test_a_frame_of_counts_equals_the_frame_of_its_attempts():
    rng = np.random.default_rng(1)
    long = pd.DataFrame({"m": rng.integers(3, size=200), "q": rng.integers(5, size=200),
                         "y": rng.integers(2, size=200)})
    cells = long.groupby(["m", "q"], sort=False).y.agg(["sum", "size"]).reset_index()
    a = bv.Outcomes.from_frame(long, model="m", question="q", outcome="y")
    b = bv.Outcomes.from_frame(cells, model="m", question="q", successes="sum", trials="size")
    b = b.select(models=list(a.models), questions=list(a.questions))
    assert np.array_equal(a.counts, b.counts)
    assert np.array_equal(bv.Outcomes.from_frame(
        a.to_frame(), model="model", question="question", successes="right", trials="scored"
    ).counts, a.counts)


def test_a_cell_without_rows_has_no_attempts():
    df = pd.DataFrame({"m": ["A", "B"], "q": ["x", "y"], "s": [1, 2], "n": [2, 2]})
    o = bv.Outcomes.from_frame(df, model="m", question="q", successes="s", trials="n")
    assert o.n_trials.tolist() == [[2, 0], [0, 2]]


@pytest.mark.parametrize(("change", "options", "message"), [
    ({}, {"question": "nope", "outcome": "ok"}, "question='nope' is not a column"),
    ({}, {"question": "task"}, "give either `outcome`, or both"),
    ({}, {"question": "task", "successes": "ok"}, "give either `outcome`, or both"),
    ({}, {"question": "task", "outcome": "ok", "successes": "ok", "trials": "ok"}, "give either"),
    ({}, {"question": [], "outcome": "ok"}, "question must name at least one column"),
    ({}, {"question": "task", "model": {"model"}, "outcome": "ok"}, "model={'model'} is not"),
    ({"task": [1, None, 1, 1, 1]}, {"question": "task", "outcome": "ok"}, "1 missing labels"),
    ({"task": [[1]] * 5}, {"question": "task", "outcome": "ok"}, "'task' must hold labels"),
    ({"ok": [0.5] * 5}, {"question": "task", "outcome": "ok"}, "whole category codes; found 0.5"),
    ({"s": 3, "n": 2}, {"question": "task", "successes": "s", "trials": "n"},
     "s must not exceed n; found 3 of 2 in row 0"),
    ({"s": 1, "n": 2}, {"question": "task", "model": "model", "successes": "s", "trials": "n"},
     "more than one row for question 1 of model 'A'"),
    ({"s": [1, 1, 1, 1, None], "n": 2}, {"question": "task", "successes": "s", "trials": "n"},
     "s must be counts; found NaN"),
])
def test_bad_frames_are_errors_by_name(runs, change, options, message):
    with pytest.raises(ValueError, match=message):
        bv.Outcomes.from_frame(runs.assign(**change), **options)


def test_joined_labels_must_stay_apart():
    df = pd.DataFrame({"a": ["x/y", "x"], "b": ["z", "y/z"], "ok": [1, 0]})
    with pytest.raises(ValueError, match="gives one label to different rows, such as 'x/y/z'"):
        bv.Outcomes.from_frame(df, question=["a", "b"], outcome="ok")


@pytest.mark.parametrize("df", [None, [1], {"q": [1]}, pd.DataFrame()])
def test_only_frames_with_rows(df):
    with pytest.raises(ValueError, match="df must"):
        bv.Outcomes.from_frame(df, question="q", outcome="ok")


# -- new outcomes from old -----------------------------------------------------------------------


@pytest.fixture
def o():
    return bv.Outcomes.from_category_counts(
        [[[1, 2, 1], [4, 0, 0]], [[0, 0, 3], [2, 1, 1]]], categories=["no", "part", "yes"],
        models=["A", "B"], questions=[("set", 1), ("set", 2)], planned=[[5, 4], [4, 4]])


def test_selecting_keeps_the_order_given(o):
    s = o.select(models=["B", "A"], questions=[("set", 2)])
    assert s.counts.tolist() == [[[2, 1, 1]], [[4, 0, 0]]]
    assert (s.models, s.questions, s.single) == (("B", "A"), (("set", 2),), False)
    assert o.select(models="A").single
    assert o.select(models=["A"]).single is False
    assert o.select(questions=("set", 2)).questions == (("set", 2),)
    assert o.select(models=None).models == o.models
    for bad in (["A", "A"], [], ["C"], "C", [["A"]], {"A"}):
        with pytest.raises(ValueError, match="models must"):
            o.select(models=bad)


def test_merging_aligns_by_label(o):
    other = o.select(models=["B", "A"], questions=[("set", 2), ("set", 1)])
    both = o.merge(other)
    assert np.array_equal(both.counts, 2 * o.counts)
    assert np.array_equal(both.planned, 2 * o.planned)
    with pytest.raises(ValueError, match="models differ: \\['B'\\]"):
        o.merge(o.select(models=["A"]))
    with pytest.raises(ValueError, match="categories differ"):
        o.merge(o.binary(success="yes"))
    with pytest.raises(ValueError, match="other must be Outcomes; found list"):
        o.merge([1])


def test_reducing_to_right_and_wrong(o):
    assert o.binary(success="yes").successes.tolist() == [[1, 0], [3, 1]]
    assert o.binary(success=["part", "yes"]).successes.tolist() == [[3, 0], [3, 2]]
    assert np.array_equal(o.binary(success="yes").planned, o.planned)
    with pytest.raises(ValueError, match="among 'no', 'part', 'yes'; found 'maybe'"):
        o.binary(success="maybe")
    with pytest.raises(ValueError, match=r"3 categories.*binary\(success="):
        _ = o.successes


def test_missing_attempts_may_be_counted_as_a_category(o):
    worst, best = o.missing_as("no"), o.missing_as("yes")
    assert worst.counts[0, 0].tolist() == [2, 2, 1]
    assert worst.coverage.tolist() == [1, 1]
    w = [0, 0.5, 1]
    assert (bv.avg(worst, w) <= bv.avg(o, w)).all()
    assert (bv.avg(best, w) >= bv.avg(o, w)).all()
    with pytest.raises(ValueError, match="category must be among"):
        o.missing_as("absent")


def test_a_table_of_the_counts(o):
    table = o.to_frame()
    assert list(table) == ["model", "question", "planned", "scored", "no", "part", "yes"]
    assert table.planned.tolist() == [5, 4, 4, 4]
    assert (table[["no", "part", "yes"]].sum(axis=1) == table.scored).all()


def test_outcomes_do_not_change_and_do_not_hold_the_array_they_were_made_from():
    counts = np.array([[3, 1]])
    o = bv.Outcomes.from_category_counts(counts)
    counts[0, 0] = 100
    assert o.counts.tolist() == [[[3, 1]]]
    with pytest.raises(ValueError, match="read-only"):
        o.counts[0, 0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        o.models = ()
    assert counts.flags.writeable

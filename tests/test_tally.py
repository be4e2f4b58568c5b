"""Counting categories: every route gives the counts of a plain comparison."""

import numpy as np
import pytest

from bayeval._tally import FEW_CATEGORIES, tally


@pytest.mark.parametrize("n_categories", [2, 3, FEW_CATEGORIES, FEW_CATEGORIES + 1, 40, 1000])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, ">i2", np.int64, np.float32, float])
def test_counts_equal_a_plain_comparison(n_categories, dtype):
    rng = np.random.default_rng(7)
    R = rng.integers(0, min(n_categories, 120), (2, 30, 25)).astype(dtype)
    if R.dtype.kind == "f":
        R[rng.random(R.shape) < 0.2] = np.nan
    expected = np.stack([(c == R).sum(axis=2) for c in range(n_categories)], axis=2)
    assert np.array_equal(tally(R, n_categories), expected)


@pytest.mark.parametrize("layout", [lambda R: R[:, ::2, 1::3], lambda R: R.transpose(1, 0, 2),
                                    lambda R: np.asfortranarray(R), lambda R: R[..., :1]])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, float])
def test_any_layout_in_memory_gives_the_same_counts(dtype, layout):
    R = layout(np.random.default_rng(7).integers(0, 2, (4, 6, 30)).astype(dtype))
    assert np.array_equal(tally(R, None)[..., 1], (R == 1).sum(axis=2))
    assert np.array_equal(tally(R, None).sum(axis=2), np.full(R.shape[:2], R.shape[2]))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, float])
@pytest.mark.parametrize(("value", "categories", "found"), [
    (-1, None, r"0\.\.1; found -1"), (-1, 4, r"0\.\.3; found -1"), (4, 4, r"0\.\.3; found 4"),
    (7, 7, r"0\.\.6; found 7"), (-128, 7, r"0\.\.6; found -128")])
def test_one_code_outside_is_found_anywhere(dtype, value, categories, found):
    R = np.zeros((2, 3, 50), dtype=dtype)
    R[1, 2, 48] = value
    with pytest.raises(ValueError, match=found):
        tally(R, categories)


def test_many_categories_take_one_pass():
    """Memory stays within a few blocks, however many categories there are."""
    import tracemalloc

    R = np.random.default_rng(7).integers(0, 100, (1, 4000, 2000), dtype=np.int8)
    tracemalloc.start()
    tally(R, 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20

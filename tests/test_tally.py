"""Counting categories: every route gives the counts of a plain comparison."""

import numpy as np
import pytest

from bayeval._tally import FEW_CATEGORIES, tally


@pytest.mark.parametrize("n_categories", [2, 3, FEW_CATEGORIES, FEW_CATEGORIES + 1, 40, 1000])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, float])
def test_counts_equal_a_plain_comparison(n_categories, dtype):
    rng = np.random.default_rng(7)
    R = rng.integers(0, min(n_categories, 120), (2, 30, 25)).astype(dtype)
    if dtype is float:
        R[rng.random(R.shape) < 0.2] = np.nan
    expected = np.stack([(c == R).sum(axis=2) for c in range(n_categories)], axis=2)
    assert np.array_equal(tally(R, n_categories), expected)


def test_many_categories_take_one_pass():
    """Memory stays within a few blocks, however many categories there are."""
    import tracemalloc

    R = np.random.default_rng(7).integers(0, 100, (1, 4000, 2000), dtype=np.int8)
    tracemalloc.start()
    tally(R, 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 * 2**20

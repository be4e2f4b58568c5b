"""From attempts to counts: arrays of category codes or labels, tallied in blocks."""

from __future__ import annotations

import numbers

import numpy as np
import pandas as pd

from bayeval import _validate as check

# Rows are tallied in blocks of about this many outcomes, which stay in the cache, so that a
# tensor of any size is read once or twice and never copied whole.
BLOCK = 1 << 18
# More categories than this in one evaluation is an identifier, not a rubric.
MAX_CATEGORIES = 1000
# Up to this many, a pass over the outcomes for each category beats one pass for all of them.
FEW_CATEGORIES = 6


def as_categories(categories):
    """Return None, the number of categories, or the list of their labels."""
    if categories is None:
        return None
    if isinstance(categories, int | np.integer) and not isinstance(categories, bool):
        return check.whole("categories", categories, low=2, high=MAX_CATEGORIES)
    labels = check.label_list("categories", categories)
    if len(labels) < 2:
        raise ValueError(f"categories must be at least two; found {labels}")
    if any(isinstance(x, numbers.Real) for x in labels) and labels != list(range(len(labels))):
        raise ValueError("categories must be text, or the codes 0..C in order (numbers in R are "
                         f"codes); found {labels}")
    return list(check.labels("categories", labels, len(labels), ""))


def as_array(R):
    """Return `R` as an array, with missing as NaN or None, and a mask of ragged padding."""
    if isinstance(R, pd.DataFrame | pd.Series):
        R = R.to_numpy()
    if np.ma.isMaskedArray(R):
        missing = np.nan if R.dtype.kind in "biuf" else None
        return np.where(np.ma.getmaskarray(R), missing, R.data), None
    try:
        array = np.asarray(R)
        # Beside text numpy turns NaN and None into text too: keep the objects then.
        return (np.asarray(R, dtype=object) if array.dtype.kind in "US" else array), None
    except ValueError:  # ragged: numpy refuses, so pad the rows with None
        pass
    rows, deep = list(R), _depth(R) == 3
    groups = [list(group) for group in rows] if deep else [rows]
    if len({len(group) for group in groups}) > 1:
        raise ValueError("R is ragged over questions: every model needs the same questions "
                         "(an empty list where a model has no attempts)")
    try:
        longest = max(len(row) for group in groups for row in group)
    except TypeError:
        raise ValueError("R must be nested to the same depth everywhere: a list of attempts for "
                         "each question") from None
    padded = np.full((len(groups), len(groups[0]), longest), None, dtype=object)
    padding = np.ones(padded.shape, dtype=bool)
    for i, group in enumerate(groups):
        for j, row in enumerate(group):
            padded[i, j, :len(row)] = list(row)
            padding[i, j, :len(row)] = False
    return (padded, padding) if deep else (padded[0], padding[0])


def _depth(x):
    depth = 0
    while not isinstance(x, str) and np.iterable(x):
        depth += 1
        x = next((y for y in x if not np.iterable(y) or len(y)), 0)
    return depth


def tally(R, categories):
    """Count the categories along the last axis of `R`, shape (L, M, N) -> (L, M, C+1)."""
    categories = as_categories(categories)
    n_categories = len(categories) if isinstance(categories, list) else categories
    if R.dtype.kind in "OUST":
        R = _codes_of_objects(R, categories)
    if R.dtype.kind not in "biuf":
        raise ValueError(f"R must hold category codes or labels; found type {R.dtype}")
    n_categories = _checked_range(R, n_categories)
    L, M, N = R.shape
    counts = np.empty((L, M, n_categories), dtype=np.int64)
    step = max(1, BLOCK // N)
    count = _count_floats if R.dtype.kind == "f" else _count_integers
    for model in range(L):
        for m in range(0, M, step):
            count(R[model, m:m + step], counts[model, m:m + step])
    return counts


def _checked_range(R, n_categories):
    """The number of categories; integer codes lie inside, floats may not."""
    if R.dtype.kind == "f":
        return n_categories or _least_categories(np.fmax.reduce(R, axis=None))
    # Read without a sign, negative codes are 128 or more: one pass sees both ends.
    top = R.view(f"{R.dtype.str[0]}u{R.dtype.itemsize}").max()
    n_categories = n_categories or _least_categories(top if top < 128 else R.max())
    if top >= n_categories:
        _refuse(R, n_categories)
    return n_categories


def _least_categories(top):
    if not top > 1:
        return 2
    if top >= MAX_CATEGORIES or top != int(top):
        raise ValueError(f"R must hold category codes 0..C; found {top:g} "
                         "(for more than two categories give `categories`)")
    return int(top) + 1


def _count_integers(block, counts):
    n_categories = counts.shape[1]
    if n_categories == 2:
        counts[:, 1] = _true(block) if block.dtype.itemsize == 1 else block.sum(axis=1)
    elif n_categories <= FEW_CATEGORIES:
        for c in range(1, n_categories):
            counts[:, c] = _true(block == c)
    else:
        counts[:] = _count_all(block, n_categories)
        return
    counts[:, 0] = block.shape[1] - counts[:, 1:].sum(axis=1)


def _count_floats(block, counts):
    n_categories = counts.shape[1]
    if n_categories <= FEW_CATEGORIES:
        for c in range(n_categories):
            counts[:, c] = _true(block == c)
        if counts.sum() == block.size:
            return
    missing = np.isnan(block)
    codes = np.where(missing, 0.0, block)
    if (codes != np.rint(codes)).any():
        bad = codes[codes != np.rint(codes)][0]
        raise ValueError(f"R must hold whole category codes; found {bad:g} "
                         "(round or bin graded scores first)")
    if codes.min() < 0 or codes.max() >= n_categories:
        _refuse(codes, n_categories)
    if n_categories > FEW_CATEGORIES:
        codes[missing] = n_categories
        counts[:] = _count_all(codes, n_categories + 1)[:, :-1]


def _true(mask):
    """How many entries of each row are true, or 1: as bits, faster than any sum."""
    return np.bitwise_count(np.packbits(mask, axis=1)).sum(axis=1, dtype=np.int64)


def _count_all(block, n_codes):
    """The count of each code in each row, in one pass."""
    cell = n_codes * np.arange(len(block))[:, None] + block.astype(np.int64)
    return np.bincount(cell.ravel(), minlength=len(block) * n_codes).reshape(-1, n_codes)


def _refuse(R, n_categories):
    low, high = R.min(), R.max()
    raise ValueError(f"R must hold category codes 0..{n_categories - 1}; found "
                     f"{low if low < 0 else high:.15g} (mark missing attempts as NaN)")


def _codes_of_objects(R, categories):
    """Turn an object or text array into float codes with NaN for missing."""
    flat = pd.Series(R.ravel(), dtype=object)
    codes = np.full(R.size, np.nan)
    given = flat.notna().to_numpy()
    values = flat[given]
    is_text = values.map(lambda v: isinstance(v, str | bytes)).to_numpy(dtype=bool)
    if is_text.any():
        if not isinstance(categories, list):
            raise ValueError(f"R holds text such as {values[is_text].iloc[0]!r}: give "
                             "`categories`, the labels in order")
        code_of = {label: i for i, label in enumerate(categories)}
        unknown = sorted({str(v) for v in values if v not in code_of})
        if unknown:
            raise ValueError(f"R holds {unknown[:5]}, not in categories {categories}")
        codes[given] = [code_of[v] for v in values]
    else:
        try:
            codes[given] = values.astype(float)
        except (TypeError, ValueError):
            raise ValueError("R must hold category codes or labels; found "
                             f"{type(values.iloc[0]).__name__}") from None
    if np.isinf(codes).any():
        raise ValueError("R must hold category codes; found infinity")
    return codes.reshape(R.shape)

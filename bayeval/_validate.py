"""The checks that every module shares: one place, one wording of errors."""

from __future__ import annotations

import decimal
import itertools
import numbers
import sys

import numpy as np
import pandas as pd

# Beyond this, floats no longer hold every whole number.
LARGEST = 2**53


def reals(name, x, what="numbers"):
    """Return `x` as floats: missing and masked entries are NaN; text, dates, complex are errors."""
    try:
        mask = np.ma.getmaskarray(x) if np.ma.isMaskedArray(x) else False
        array = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array of {what}; it is ragged") from None
    if array.dtype.kind == "O":
        wrong = [v for v in array.flat if not isinstance(v, numbers.Real | decimal.Decimal)
                 and v is not None and v is not pd.NA]
        if wrong:
            raise ValueError(f"{name} must be {what}; found an entry of type "
                             f"{type(wrong[0]).__name__}")
        array = np.where(pd.isna(array), np.nan, array)
    elif array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be {what}; found entries of type {array.dtype}")
    try:
        return np.where(mask, np.nan, array.astype(float))
    except OverflowError:
        raise ValueError(f"{name} must be {what}; found one too large for a float") from None


def counts(name, x):
    """Return `x` as int64 counts; NaN, fractions, negatives and text are errors."""
    x = reals(name, x, "counts (whole numbers >= 0)")
    if not np.isfinite(x).all():
        raise ValueError(f"{name} must be counts; found NaN or infinity "
                         "(give a question that was not attempted 0 trials)")
    if (x != np.rint(x)).any():
        bad = x[x != np.rint(x)].flat[0]
        raise ValueError(f"{name} must be whole numbers; found {bad:g} "
                         "(a proportion? multiply by the trials)")
    if x.size and (x.min() < 0 or x.max() > LARGEST):
        bad = x.min() if x.min() < 0 else x.max()
        raise ValueError(f"{name} must be counts from 0 to 2**53; found {bad:g}")
    return x.astype(np.int64)


def probabilities(name, p, ndim):
    """Return `p` as floats in [0, 1] with one of the numbers of axes in `ndim`, none empty."""
    p = reals(name, p, "an array of probabilities")
    outside = p[~((p >= 0) & (p <= 1))]
    if p.ndim not in ndim or p.size == 0 or outside.size:
        shapes = " or ".join({1: "(M,)", 2: "(L, M)"}[n] for n in ndim)
        raise ValueError(f"{name} must have shape {shapes} and lie in [0, 1]; found shape "
                         f"{p.shape}" + "".join(f" and {x:g}" for x in outside[:1]))
    return p


def aligned(**arrays):
    """Check that pandas objects, which are read by position, are labelled in one order."""
    given = [(name, x) for name, x in arrays.items() if isinstance(x, pd.DataFrame | pd.Series)]
    for (name, x), (other, y) in itertools.pairwise(given):
        for a, b in zip(reversed(x.axes), reversed(y.axes)):
            if len(a) == len(b) and not a.equals(b) \
                    and not isinstance(a, pd.RangeIndex) and not isinstance(b, pd.RangeIndex):
                raise ValueError(f"{name} and {other} must have equal labels in the same order; "
                                 f"found {a[a != b][0]!r} beside {b[a != b][0]!r}")


def _is_real(x):
    return isinstance(x, numbers.Real) and not isinstance(x, bool | np.bool_)


def number(name, x, *, low=-np.inf, high=np.inf, open_low=False, open_high=False):
    """Return `x` as a float inside the given range."""
    if not _is_real(x):
        raise ValueError(f"{name} must be a number; found {x!r}")
    above = x > low if open_low else x >= low
    below = x < high if open_high else x <= high
    if not (above and below and abs(x) <= sys.float_info.max):
        span = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a finite number in {span}; found {x!r}")
    return float(x)


def probability(name, x):
    """Return `x` as a float strictly between 0 and 1."""
    return number(name, x, low=0, high=1, open_low=True, open_high=True)


def whole(name, x, *, low=1, high=LARGEST):
    """Return the whole number `x`, from `low` to `high`, as an int."""
    if not _is_real(x) or not low <= x <= high or x != int(x):
        top = "2**53" if high == LARGEST else high
        raise ValueError(f"{name} must be a whole number from {low} to {top}; found {x!r}")
    return int(x)


def attempts(name, k):
    """Return `k` as an int64 array, 0-d or 1-d, of whole numbers >= 1."""
    try:
        if isinstance(k, bool | np.bool_):
            raise ValueError
        x = reals(name, k)
        if np.asarray(k).dtype.kind == "b" or x.ndim > 1 or x.size == 0 \
                or not ((x >= 1) & (x <= LARGEST) & (x == np.rint(x))).all():
            raise ValueError
    except ValueError:
        raise ValueError(f"{name} must be a whole number from 1 to 2**53, or a list of them; "
                         f"found {k!r}") from None
    return x.astype(np.int64)


def weights(w, n_categories):
    """Return the rubric's weights as floats, one for every category."""
    if w is None:
        if n_categories == 2:
            return np.array([0.0, 1.0])
        raise ValueError(f"weights are needed: the outcomes have {n_categories} categories, "
                         "so give one weight for each, in the order of `categories`")
    w = reals("weights", w, "numbers, one for each category")
    if w.shape != (n_categories,):
        raise ValueError(f"weights must have shape ({n_categories},), one for each category; "
                         f"found shape {w.shape}")
    size = np.abs(w[w != 0])
    if not ((size >= 1e-50) & (size <= 1e50)).all():
        raise ValueError(f"weights must be 0 or of a size between 1e-50 and 1e50; found {w}")
    return w


def labels(name, given, n, prefix):
    """Return `n` distinct labels as a tuple; the default is prefix1, prefix2, ..."""
    if given is None:
        return tuple([f"{prefix}{i}" for i in range(1, n + 1)])  # a list: a third faster
    given = [given] if isinstance(given, str) else label_list(name, given)
    if len(given) != n:
        raise ValueError(f"{name} must have {n} labels; found {len(given)}")
    if len(set(given)) != n:
        repeated = next(x for x in given if given.count(x) > 1)
        raise ValueError(f"{name} must be distinct; {repeated!r} stands more than once")
    return tuple(given)


def hashable(x):
    """Whether `x` can be a label."""
    try:
        hash(x)
    except TypeError:
        return False
    return True


def label_list(name, given):
    """Return labels as a list; unordered, nested and missing ones are errors."""
    unordered = bytes | str | dict | set | frozenset | pd.DataFrame
    if isinstance(given, unordered) or not np.iterable(given):
        raise ValueError(f"{name} must be a list of labels; found {type(given).__name__}")
    given = [x.item() if isinstance(x, np.generic) else x for x in given]
    for x in given:
        if not hashable(x) or np.ma.is_masked(x):
            raise ValueError(f"{name} must be text, numbers or tuples; found {x!r}")
        if pd.api.types.is_scalar(x) and pd.isna(x):
            raise ValueError(f"{name} must not be missing; found {x!r}")
    return given


def choice(name, x, options):
    """Return `x` if it is one of `options`."""
    if not isinstance(x, str) or x not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; found {x!r}")
    return x


def generator(rng):
    """Return a numpy Generator from anything that `numpy.random.default_rng` takes."""
    try:
        if not (rng is None or isinstance(rng, numbers.Integral | np.random.Generator
                                          | np.random.BitGenerator | np.random.SeedSequence
                                          | np.random.RandomState)):
            rng = counts("rng", rng).ravel()  # nested sequences can make numpy overflow the stack
        elif isinstance(rng, bool):
            raise TypeError
        if isinstance(rng, np.random.RandomState):
            # Its seed is not kept where streams are spawned from, so its next draws are the seed.
            rng = rng.randint(2**32, size=4, dtype=np.uint64)
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError("rng must be a seed, a numpy Generator or None; "
                         f"found {rng!r}") from None


def board(name, p, least):
    """Return `p` if it is a posterior of at least `least` models, with one entry a model."""
    if not (hasattr(p, "mean") and hasattr(p, "models")):
        raise ValueError(f"{name} must be a posterior of several models; found {type(p).__name__}")
    if np.ndim(p.mean) != 1 or len(p.models) < least:
        raise ValueError(f"{name} must be a posterior of at least {least} models, with one entry a "
                         f"model; found shape {np.shape(p.mean)}")
    return p


def outcomes(name, o):
    """Return `o` if it is an Outcomes."""
    if not (hasattr(o, "counts") and hasattr(o, "n_trials")):
        raise ValueError(f"{name} must be bayeval.Outcomes; found {type(o).__name__} "
                         "(build one with Outcomes.from_counts or from_matrix)")
    return o

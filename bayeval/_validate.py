"""The checks that every module shares: one place, one wording of errors."""

from __future__ import annotations

import numbers

import numpy as np


def counts(name, x):
    """Return `x` as int64 counts; NaN, fractions, negatives and text are errors."""
    x = np.ma.filled(np.ma.asarray(x).astype(float), np.nan) if np.ma.isMaskedArray(x) else x
    try:
        x = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} must be a rectangular array of counts; it is ragged") from None
    if x.dtype.kind not in "biuf":
        try:
            x = x.astype(float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be counts (whole numbers >= 0); "
                             f"found entries of type {x.dtype}") from None
    if x.dtype.kind == "f":
        if not np.isfinite(x).all():
            raise ValueError(f"{name} must be counts; found NaN or infinity "
                             "(give a question that was not attempted 0 trials)")
        if (x != np.rint(x)).any():
            bad = x[x != np.rint(x)].flat[0]
            raise ValueError(f"{name} must be whole numbers; found {bad:g} "
                             "(a proportion? multiply by the trials)")
    if x.size and (x.min() < 0 or x.max() > 2**53):
        bad = x.min() if x.min() < 0 else x.max()
        raise ValueError(f"{name} must be counts from 0 to 2**53; found {bad:g}")
    return x.astype(np.int64)


def number(name, x, *, low=-np.inf, high=np.inf, open_low=False, open_high=False):
    """Return `x` as a float inside the given range."""
    if isinstance(x, bool | np.bool_) or not isinstance(x, numbers.Real):
        raise ValueError(f"{name} must be a number; found {x!r}")
    above = x > low if open_low else x >= low
    below = x < high if open_high else x <= high
    if not (np.isfinite(x) and above and below):
        span = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
        raise ValueError(f"{name} must be a finite number in {span}; found {x!r}")
    return float(x)


def probability(name, x):
    """Return `x` as a float strictly between 0 and 1."""
    return number(name, x, low=0, high=1, open_low=True, open_high=True)


def whole(name, x, *, low=1):
    """Return the whole number `x`, at least `low`, as an int."""
    if (isinstance(x, bool | np.bool_) or not isinstance(x, numbers.Real)
            or not np.isfinite(x) or x != int(x) or x < low):
        raise ValueError(f"{name} must be a whole number >= {low}; found {x!r}")
    return int(x)


def attempts(name, k):
    """Return `k` as an int64 array, 0-d or 1-d, of whole numbers >= 1."""
    try:
        x = np.asarray(k)
        if x.dtype.kind not in "iuf" or x.ndim > 1 or x.size == 0:
            raise TypeError
        if not (np.isfinite(x) & (x >= 1) & (x == np.rint(x))).all():
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a whole number >= 1, or a list of them; "
                         f"found {k!r}") from None
    return x.astype(np.int64)


def weights(w, n_categories):
    """Return the rubric's weights as floats, one for every category."""
    if w is None:
        if n_categories == 2:
            return np.array([0.0, 1.0])
        raise ValueError(f"weights are needed: the outcomes have {n_categories} categories, "
                         "so give one weight for each, in the order of `categories`")
    try:
        w = np.asarray(w, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, one for each category; found {w!r}") from None
    if w.shape != (n_categories,):
        raise ValueError(f"weights must have shape ({n_categories},), one for each category; "
                         f"found shape {w.shape}")
    if not np.isfinite(w).all():
        raise ValueError(f"weights must be finite; found {w}")
    return w


def labels(name, given, n, prefix):
    """Return `n` distinct labels as a tuple; the default is prefix1, prefix2, ..."""
    if given is None:
        return tuple(f"{prefix}{i}" for i in range(1, n + 1))
    if isinstance(given, str):
        given = [given]
    given = tuple(x.item() if isinstance(x, np.generic) else x for x in given)
    if len(given) != n:
        raise ValueError(f"{name} must have {n} labels; found {len(given)}")
    if len(set(given)) != n:
        repeated = next(x for x in given if given.count(x) > 1)
        raise ValueError(f"{name} must be distinct; {repeated!r} stands more than once")
    return given


def choice(name, x, options):
    """Return `x` if it is one of `options`."""
    if not isinstance(x, str) or x not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}; found {x!r}")
    return x


def generator(rng):
    """Return a numpy Generator from anything that `numpy.random.default_rng` takes."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError("rng must be a seed, a numpy Generator or None; "
                         f"found {rng!r}") from None


def outcomes(name, o):
    """Return `o` if it is an Outcomes."""
    if not (hasattr(o, "counts") and hasattr(o, "n_trials")):
        raise ValueError(f"{name} must be bayeval.Outcomes; found {type(o).__name__} "
                         "(build one with Outcomes.from_counts or from_matrix)")
    return o

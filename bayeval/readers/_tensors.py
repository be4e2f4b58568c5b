"""Tensors of outcomes in `.npz` files, as "Don't Pass@k" keeps them."""

from __future__ import annotations

import tokenize
import zipfile
import zlib

import numpy as np

from bayeval.outcomes import Outcomes

#: Most bytes that an array may take once unpacked.
MAX_BYTES = 4 << 30
# What zipfile and numpy raise on bytes that somebody damaged or forged.
BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, MemoryError, RuntimeError, TypeError,
          OverflowError, tokenize.TokenError)


def arrays(path):
    """The tensors of a file by name, checked before they are unpacked.

    Each is of whole numbers, of shape (L, M, N) or (M, N). Nothing is ever unpickled.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > MAX_BYTES:
            raise ValueError(f"unpacked it takes {size / 2**30:.3g} GiB, more than "
                             f"{MAX_BYTES >> 30}")
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except BROKEN as error:
        raise ValueError(f"it is no whole .npz file ({error})") from None
    except ValueError as error:
        if "pickle" in str(error).lower():
            raise ValueError("it holds pickled objects, which are never opened: save the outcomes "
                             "as an array of int8") from None
        raise
    if not found:
        raise ValueError("it holds no array")
    for name, array in found.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"entry {name!r} is no array of numpy")
        if array.dtype.kind not in "biuf" or array.ndim not in (2, 3) or 0 in array.shape:
            raise ValueError(f"array {name!r} must hold outcomes, shape (L, M, N) or (M, N); "
                             f"found shape {array.shape} of type {array.dtype}")
    return found


def outcomes(array, *, models=None):
    """A tensor as `Outcomes`; negative codes are refused, NaN is missing."""
    return Outcomes.from_matrix(array, models=models)

"""A grid in two dimensions that finds the mass of a density by itself."""

from __future__ import annotations

import numpy as np

# Nodes whose density is below exp(-CUT) of the largest are outside the grid.
CUT = 18.0
# The widest grid looked at, in (lambda, eta); it holds every posterior of a sane hyperprior.
DOMAIN = (-16.0, 20.0), (-24.0, 24.0)


def adaptive_grid(target, rows, columns):
    """Nodes eta (L, J, I) and lambda (L, J) that cover the mass of `target`, and their weights.

    Inside one row (one lambda) eta runs over its own range, so that curved ridges are followed.
    Rows are chosen only once their maxima are known, that is when eta is resolved.
    """
    lam = np.linspace(*DOMAIN[0], 25)[None, :]
    eta = np.broadcast_to(np.linspace(*DOMAIN[1], 49), (1, 25, 49))
    for _ in range(20):
        logp = target(eta, lam[..., None])
        top = logp.max(-1)
        live = top > top.max(-1, keepdims=True) - CUT
        wide, *across = _extent(logp, eta)
        tall, *along = _extent(top, lam)
        if (wide[live] < 6).any():
            lam = np.broadcast_to(lam, top.shape)
        else:
            done = (tall >= 6).all()
            new, by_row = (_stretch(*along, rows) if done
                           else (np.linspace(along[0], along[2], 25, axis=-1), None))
            place = (new - lam[:, :1]) / (lam[:, 1:2] - lam[:, :1])
            j = np.clip(np.floor(place).astype(int), 0, lam.shape[1] - 2)
            near = [(np.take_along_axis(x, j, 1), np.take_along_axis(x, j + 1, 1))
                    for x in across]
            across = [np.minimum(*near[0]), np.add(*near[1]) / 2, np.maximum(*near[2])]
            lam = new
            if done:
                break
        eta = np.linspace(across[0], across[2], 17, axis=-1)
    eta, by_column = _stretch(*across, columns)
    logp = target(eta, lam[..., None])
    weights = (np.exp(logp - logp.max((1, 2), keepdims=True)) * by_column * by_row[..., None])
    return eta, lam, weights / weights.sum((1, 2), keepdims=True)


def _stretch(low, mode, high, count):
    """`count` nodes from `low` to `high`, densest at `mode`, and their spacings.

    The map is a hyperbolic sine: smooth, so that equal weights in its argument integrate to
    spectral accuracy.
    """
    scale = (high - low) / 8
    first, last = np.arcsinh((low - mode) / scale), np.arcsinh((high - mode) / scale)
    x = np.linspace(first, last, count, axis=-1)
    step = ((last - first) / (count - 1) * scale)[..., None]
    return mode[..., None] + scale[..., None] * np.sinh(x), step * np.cosh(x)


def _extent(logp, x):
    """Nodes along the last axis within CUT of the top: number, start, mode and end.

    The range has one step to spare at either end.
    """
    x = np.broadcast_to(x, logp.shape)
    keep = logp > logp.max(-1, keepdims=True) - CUT
    step = x[..., 1] - x[..., 0]
    end = keep.shape[-1] - 1 - keep[..., ::-1].argmax(-1)
    first, mode, last = (np.take_along_axis(x, i[..., None], -1)[..., 0]
                         for i in (keep.argmax(-1), logp.argmax(-1), end))
    return keep.sum(-1), first - step, mode, last + step

"""Special functions in which nothing cancels."""

from __future__ import annotations

import numpy as np
from scipy import special

# Stirling's series is used from here on; below, the recurrence of the gamma function comes first.
_SHIFT = np.arange(16.0)
# Chances held at once: an array of them stays in the cache.
CHUNK = 1 << 15


def log_beta_ratio(a, b, k):
    r"""log of B(a, b + k) / B(a, b) for a, b > 0 and k >= 0.

    This is the log-probability that k further attempts all fail when the success chance has a
    Beta(a, b) law. With s = a + b and Stirling's formula it is

    .. math:: -k \log\frac{s+k}{b+k} - a \log\frac{s+k}{s}
              + \left(b - \tfrac12\right) \log\frac{(b+k)\,s}{b\,(s+k)} + \ldots

    in which the linear terms have canceled already, and the logarithms are those of 1 + x for an
    x free of differences. Relative error below 1e-14 for a, b from 1e-6 to 1e7 and k to 1e9.
    """
    a, b, k, low = _shift(a, b, k)
    out = np.where(low, -np.log1p(a * k / (b * (a + b + k))), 0).sum(axis=0)
    a, b, k = _above(a, b, k, low)
    s = a + b
    out += (b - 0.5) * np.log1p(a * k / (b * (s + k))) - k * np.log1p(a / (b + k)) \
        - a * np.log1p(k / s)
    first = -a * k * (a + 2 * b + k) / (b * (b + k) * s * (s + k))  # of 1 / x
    rest = (_stirling(b + k) - _stirling(s + k)) - (_stirling(b) - _stirling(s))  # 0 for a = 0
    return out + first / 12 + rest


def log_beta_spread(a, b, k):
    r"""log of B(a, b + 2k) B(a, b) / B(a, b + k)^2, the second difference of `log_beta_ratio`.

    The chance q^k that k attempts all fail has the squared coefficient of variation
    exp(this) - 1.
    """
    a, b, k, low = _shift(a, b, k)
    out = np.where(low, _log_bend(a, b, k), 0).sum(axis=0)
    a, b, k = _above(a, b, k, low)
    s = a + b
    out += 2 * k * np.log1p(a * k / ((b + k) * (s + 2 * k))) \
        + a * np.log1p(k**2 / (s * (s + 2 * k))) - (b - 0.5) * _log_bend(a, b, k)
    first, rest = (2 * k**2 / (x * (x + k) * (x + 2 * k)) for x in (b, s)), \
        (_stirling(x + 2 * k) - 2 * _stirling(x + k) + _stirling(x) for x in (b, s))
    return out + np.subtract(*first) / 12 + np.subtract(*rest)


def _log_bend(a, b, k):
    """Minus the second difference in k of log((b + k) / (a + b + k))."""
    s = a + b
    return np.log1p(k**2 * a * (s + b + 2 * k) / (b * (b + 2 * k) * (s + k) ** 2))


def _shift(a, b, k):
    """The arguments with b, b + 1, ... on a new first axis, and where the recurrence is used."""
    a, b, k = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in (a, b, k)))
    up = b + _SHIFT.reshape(-1, *(1,) * b.ndim)
    return a, up, k, np.broadcast_to(b < len(_SHIFT), up.shape)


def _above(a, b, k, low):
    """The arguments after the recurrence."""
    return a, b[0] + len(_SHIFT) * low[0], k


def _stirling(x):
    """Stirling's series for log-gamma after its term 1 / (12 x), for x >= 16."""
    y = 1 / x**2
    return -(1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - y * 691 / 360360) * y) * y) * y) * y / x


def hypergeometric_mean(n, c, weight):
    """Mean weight of x = 0..k right among k drawn from n attempts with c right.

    For n and c of shape (P,), and a weight of shape (k+1,) or (P, k+1).
    """
    k = np.shape(weight)[-1] - 1

    def chances(n, c):
        low, high = int(max((k - n + c).min(), 0)), int(min(c.max(), k))
        x = np.arange(low, high, dtype=float)
        return low, _pmf(np.maximum(c - x, 0) * (k - x),
                         (x + 1) * np.maximum(n - c - k + x + 1, 0))
    return _mean_weight(chances, n, c, weight)


def beta_binomial_mean(a, b, weight):
    """Mean weight of x = 0..k right among k further attempts under Beta(a, b).

    For a and b of shape (P,), and a weight of shape (k+1,) or (P, k+1).
    """
    k = np.shape(weight)[-1] - 1
    x = np.arange(k, dtype=float)

    def chances(a, b):
        return 0, _pmf((k - x) * (a + x), (x + 1) * (b + (k - 1 - x)))
    return _mean_weight(chances, a, b, weight)


def _mean_weight(chances, first, second, weight):
    """Mean weights; `chances` of some pairs, as columns, gives the least x and the chances."""
    first, second = (np.asarray(x, dtype=float)[:, None] for x in (first, second))
    weight = np.broadcast_to(weight, (len(first), np.shape(weight)[-1]))
    out, step = np.empty(len(first)), max(1, CHUNK // weight.shape[1])
    for start in range(0, len(first), step):
        rows = slice(start, start + step)
        low, p = chances(first[rows], second[rows])
        out[rows] = np.einsum("px,px->p", p, weight[rows, low:low + p.shape[1]])
    return out


def _pmf(up, down):
    """Probabilities p, shape (P, X+1), with neighbors p[:, x+1] / p[:, x] = up / down.

    Built outwards from the largest, which keeps a relative error near 1e-14 where formulas in
    log-gamma lose four digits. Before and after all that is possible, `down` and `up` are 0.
    """
    mode = (up > down).sum(axis=-1, keepdims=True)
    after = np.arange(up.shape[-1]) >= mode
    p, left = np.ones((2, len(up), up.shape[-1] + 1))
    np.divide(up, down, out=p[:, 1:], where=after)
    np.divide(down, up, out=left[:, :-1], where=~after)
    with np.errstate(under="ignore"):
        np.cumprod(p, axis=-1, out=p)
        np.cumprod(left[:, ::-1], axis=-1, out=left[:, ::-1])
        p *= left
        return p / p.sum(axis=-1, keepdims=True)


def beta_range(a, b):
    """Where all but 2e-10 of a Beta(a, b) law lies."""
    return special.betaincinv(a, b, 1e-10), special.betainccinv(a, b, 1e-10)

"""Figures of the chapter that keeps score of published claims."""

from __future__ import annotations

import numpy as np

from bayeval.plotting._style import BLUE, GRAY, ORANGE, axes

__all__ = ["sizes"]


def sizes(table, *, ax=None):
    """Draw measured numbers, with their intervals, as multiples of the published ones.

    Parameters
    ----------
    table : pandas.DataFrame
        One row a claim, with its name as index and columns ``value``, ``low``, ``high`` and
        ``published_value``, all positive. Rows whose interval leaves out the published number
        stand out.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If a number is not positive.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"value": 0.8, "low": 0.7, "high": 0.9, "published_value": 0.84}
    >>> ax = sizes(pd.DataFrame([row], index=["a claim"]))
    >>> ax.get_xscale()
    'log'
    """
    numbers = table[["value", "low", "high", "published_value"]].to_numpy(float)
    if not (numbers > 0).all():
        raise ValueError("table must hold positive numbers only; found "
                         f"{numbers[~(numbers > 0)][0]:g}")
    value, low, high = (numbers[:, :3] / numbers[:, 3:]).T
    rows = np.arange(len(table))
    colors = np.where((low > 1) | (high < 1), ORANGE, BLUE)
    ax = axes(ax, figsize=(6.4, 0.45 * len(table) + 1))
    ax.axvline(1, color=GRAY, lw=1)
    ax.hlines(rows, low, high, colors=colors, lw=2)
    ax.scatter(value, rows, color=colors, zorder=3)
    ax.set(yticks=rows, yticklabels=table.index, ylim=(len(table) - 0.5, -0.5), xscale="log",
           xlabel="our number / published number")
    ticks = [x for x in (0.1, 0.25, 0.5, 1, 2, 4, 10) if low.min() / 2 < x < 2 * high.max()]
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.set_xticks([], minor=True)
    ax.tick_params(axis="y", length=0)
    return ax

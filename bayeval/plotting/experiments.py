"""Figures of the chapter on the experiments of "Don't Pass@k": orders that settle, and pasts."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from bayeval.plotting._style import AMBER, BLUE, GRAY, GREEN, OLIVE, ORANGE, PINK, SKY, axes

__all__ = ["past_gains", "settled", "taus"]

LOOKS = (
    (BLUE, "o"),
    (ORANGE, "s"),
    (GREEN, "^"),
    (PINK, "D"),
    (OLIVE, "v"),
    (SKY, "P"),
    (AMBER, "X"),
)


def taus(panels, *, ceiling=None, sharey=True, axs=None):
    """Draw the mean tau-b of several scores against the trials, a panel for each board.

    Parameters
    ----------
    panels : dict of pandas.DataFrame
        Title to means: a row for each number of trials, a column for each score. All have the
        same columns; the first stands out. NaN where a score is not defined.
    ceiling : float, optional
        The most that a score without ties can reach, drawn as a dotted line.
    sharey : bool, default True
        Whether all panels have one scale.
    axs : ndarray of matplotlib.axes.Axes, optional
        One for each panel.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    axs = _grid(axs, len(panels), height=2.35, sharey=sharey)
    for ax, (title, means) in zip(axs, panels.items(), strict=True):
        for (name, line), (color, marker) in zip(means.items(), LOOKS, strict=False):
            first = name == means.columns[0]
            ax.plot(
                line.index,
                line,
                color=color,
                marker=marker,
                label=name,
                ms=4 if first else 3.5,
                lw=2.4 if first else 1.3,
                zorder=3 if first else 2,
            )
        if ceiling is not None:
            ax.axhline(ceiling, color=GRAY, ls=":", lw=1)
        _trials(ax, title)
    axs[0].figure.supylabel("mean tau-b with the reference", fontsize=10)
    _legend(axs[0])
    return axs


def settled(panels, *, trials=80, axs=None):
    """Draw the share of tracks whose order has settled for good, against the trials.

    Parameters
    ----------
    panels : dict of dict of ndarray, shape (evaluations, tracks)
        Title to the convergence@n of each score, NaN for never. The first score is also drawn
        for each evaluation alone, as a thin line.
    trials : int, default 80
        Length of the tracks.
    axs : ndarray of matplotlib.axes.Axes, optional
        One for each panel.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    axs = _grid(axs, len(panels), height=2.35)
    for ax, (title, found) in zip(axs, panels.items(), strict=True):
        n = np.arange(1, trials + 1)
        for i, ((name, x), (color, marker)) in enumerate(zip(found.items(), LOOKS, strict=False)):
            by = (x[..., None] <= n).mean(axis=1)  # a comparison with NaN is false
            if i == 0:
                ax.plot(n, by.T, color=color, lw=0.6, alpha=0.35)
            ax.plot(
                n,
                by.mean(axis=0),
                color=color,
                lw=2.4 if i == 0 else 1.6,
                marker=marker,
                markevery=(9, 10),
                ms=4,
                label=name,
            )
        _trials(ax, title)
        ax.set(xscale="linear", xlim=(0, trials + 1), ylim=(-0.02, 1.02))
        ax.xaxis.set_major_locator(FixedLocator([1, 20, 40, 60, 80]))
        ax.yaxis.set_major_formatter(PercentFormatter(1))
    axs[0].figure.supylabel("tracks settled by then", fontsize=10)
    _legend(axs[0])
    return axs


def past_gains(table, *, axs=None):
    """Draw what past attempts add to tau-b, against their number, a panel for each correlation.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``correlation``, ``N``, ``D``, ``gain`` (in tau-b over no past) and ``se``.
    axs : ndarray of matplotlib.axes.Axes, optional
        One for each correlation.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    panels = table.groupby("correlation")
    if axs is None:
        axs = axes(figsize=(5.8, 3.3), ncols=len(panels), sharey=True)
    for ax, (r, part) in zip(axs, panels, strict=True):
        for (n, line), (color, marker) in zip(part.groupby("N"), LOOKS, strict=False):
            ax.errorbar(
                line["D"],
                line["gain"],
                line["se"],
                color=color,
                marker=marker,
                ms=4,
                lw=1.4,
                elinewidth=0.8,
                label=f"N = {n}",
            )
        ax.axhline(0, color=GRAY, lw=0.8)
        ax.set_xscale("log", base=2)
        ax.xaxis.set_major_locator(FixedLocator([1, 4, 16, 64]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        ax.set_title(f"correlation {r:g}", fontsize=10)
    axs[0].set_ylabel("gain in tau-b")
    axs[len(axs) // 2].set_xlabel("past attempts D at each question")
    _legend(axs[0])
    return axs


def _grid(axs, count, height, sharey=True):
    """Two panels a row, with shared axes; the lowest of each column names its axis."""
    if axs is not None:
        return np.ravel(axs)
    rows = -(-count // 2)
    axs = axes(
        figsize=(5.8, height * rows + 0.7),
        nrows=rows,
        ncols=2,
        squeeze=False,
        sharex=True,
        sharey=sharey,
    ).ravel()
    for ax in axs[count:]:
        ax.remove()
    for ax in axs[max(0, count - 2) : count]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("trials per question")
    return axs[:count]


def _trials(ax, title):
    """Trials on a logarithmic axis."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 40, 80]))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.set_title(title, fontsize=10)


def _legend(ax):
    """One legend for all panels, above them."""
    handles, labels = ax.get_legend_handles_labels()
    columns = len(labels) if len(labels) < 5 else -(-len(labels) // 2)
    ax.figure.legend(handles, labels, loc="outside upper center", ncol=columns, fontsize=9)

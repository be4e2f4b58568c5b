"""Figures of the chapter on hard problems: stopped rates, allocations, impossible shares, risks."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import FuncFormatter

from bayeval.plotting._style import (
    AMBER,
    BLUE,
    GRAY,
    GREEN,
    ORANGE,
    PINK,
    axes,
)

__all__ = ["broken", "impossible", "ratios", "risks", "stopped", "where"]

PERCENT = FuncFormatter(lambda y, _: f"{100 * y:g}%")


def broken(k, share, lines, most, *, ax=None):
    """Draw the recorded share of broken requests against attempts, and what estimators make of it.

    Parameters
    ----------
    k : array_like, shape (K,)
        Attempts.
    share : (array_like, array_like)
        Attempts at which the share is recorded, and the share.
    lines : dict of str to array_like, shape (K,)
        Estimates of the same; NaN where a method has none.
    most : int
        Attempts after which a request was given up; larger k are shaded.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.8, 3.6))
    ax.axvspan(most, k[-1], color="#f0f0f0", lw=0)
    looks = (ORANGE, "--"), (PINK, "-."), (GREEN, ":")
    for (name, y), (color, style) in zip(lines.items(), looks):
        ax.plot(k, y, style, color=color, label=name)
    ax.plot(*share, "o", color=BLUE, ms=4, label="broken within k, as recorded")
    ax.set(xscale="log", xlim=(k[0], k[-1]), ylim=(0, 1), xlabel="k, tries allowed")
    ax.set(ylabel="share of requests broken")
    ax.yaxis.set_major_formatter(PERCENT)
    ax.legend(loc="upper left")
    return ax


def stopped(p, curves, points, *, ax=None):
    """Draw by what factor s/n exceeds the rate when sampling stops at a success.

    Parameters
    ----------
    p : array_like, shape (P,)
        Success probabilities.
    curves : dict of str to array_like, shape (P,)
        Factors by theory.
    points : (array_like, array_like)
        Recorded rates of questions, and the mean factor in replays.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.6, 3.4))
    ax.axhline(1, color=GRAY, lw=1, ls="--")
    ax.plot(*points, "o", color=AMBER, ms=4, alpha=0.8, label="replays")
    for (name, y), color, style in zip(curves.items(), (BLUE, GREEN), ("-", "-.")):
        ax.plot(p, y, style, color=color, label=name)
    ax.set(xscale="log", xlim=(p[0], p[-1]), ylim=(0, None), xlabel="success probability p")
    ax.set(ylabel="mean of c/n, over p")
    ax.legend(loc="upper right")
    return ax


def where(rate, panels, *, ax=None):
    """Draw the attempts that questions get against their success rate, one panel an allocation.

    Parameters
    ----------
    rate : array_like, shape (M,)
        Recorded rates; zeros stand at the left edge.
    panels : dict of str to array_like, shape (M,)
        Attempts.
    ax : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(panels), figsize=(5.8, 3.0), sharex=True, sharey=True)
    rate = np.asarray(rate, dtype=float)
    edge = rate[rate > 0].min() / 10
    for panel, (title, n) in zip(ax, panels.items(), strict=True):
        panel.plot(np.where(rate > 0, rate, edge), n, "o", ms=3, color=BLUE, alpha=0.5)
        panel.axhline(np.mean(n), color=GRAY, lw=1, ls="--")
        panel.set(xscale="log", ylim=0)
        panel.set_title(title, fontsize=10)
        panel.set_xticks([edge, 1e-3, 1e-1], ["0", "0.001", "0.1"])
        panel.minorticks_off()
    ax[0].set(ylabel="attempts")
    ax[len(ax) // 2].set(xlabel="success rate in the record")
    return ax


def ratios(panels, *, ax=None):
    """Draw errors in units of that under uniform allocation, with bars of one standard error.

    Parameters
    ----------
    panels : dict of str to dict of str to pandas.DataFrame
        Title to lines by name, each indexed by attempts with columns ``ratio`` and ``se``.
    ax : ndarray of matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    rows = -(-len(panels) // 2)
    ax = axes(ax, nrows=rows, ncols=2, figsize=(5.8, 2.4 * rows + 0.6), sharex=True, sharey=True)
    looks = (ORANGE, "s", "-"), (BLUE, "o", "-"), (ORANGE, "s", ":"), (BLUE, "o", ":")
    for panel, (title, lines) in zip(ax.flat, panels.items(), strict=True):
        panel.axhline(1, color=GRAY, lw=1, ls="--")
        for i, ((name, line), (color, mark, style)) in enumerate(zip(lines.items(), looks)):
            x = line.index * 1.05 ** (i - 1.5)  # beside each other, lest the bars overlap
            panel.errorbar(
                x,
                line["ratio"],
                line["se"],
                color=color,
                marker=mark,
                ls=style,
                lw=1.5,
                ms=4,
                elinewidth=1,
                label=name,
            )
        panel.set_title(title, fontsize=10)
        panel.set(xscale="log", yscale="log")
        panel.set_xticks(line.index, [f"{n}" for n in line.index])
        panel.minorticks_off()
    ticks = [0.5, 0.7, 1, 1.5, 2, 3]
    ax.flat[0].set_yticks(ticks, [f"{y:g}" for y in ticks])
    for panel in np.atleast_2d(ax)[:, 0]:
        panel.set(ylabel="error / uniform's")
    for panel in np.atleast_2d(ax)[-1]:
        panel.set(xlabel="attempts per question")
    handles, labels = ax.flat[0].get_legend_handles_labels()
    ax.flat[0].figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    return ax


def impossible(panels, *, ax=None):
    """Draw what attempts tell of the share of impossible questions, one panel a model.

    Parameters
    ----------
    panels : dict of str to pandas.DataFrame
        Title to a table indexed by attempts, with columns ``low``, ``mean``, ``high`` (posterior),
        ``unsolved`` (share without a success) and ``hidden`` (share that no number of questions
        would exclude).
    ax : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(panels), figsize=(5.8, 3.6), sharex=True, sharey=True)
    for panel, (title, table) in zip(ax, panels.items(), strict=True):
        n = table.index
        panel.fill_between(
            n, table["low"], table["high"], color=BLUE, alpha=0.2, lw=0, label="posterior, 90%"
        )
        panel.plot(n, table["mean"], color=BLUE, marker="o", ms=4, label="posterior mean")
        panel.plot(
            n, table["unsolved"], color=ORANGE, ls="--", marker="s", ms=4, label="not solved so far"
        )
        panel.plot(
            n, table["hidden"], color=GREEN, ls=":", label="open with infinitely many questions"
        )
        panel.set(xscale="log", ylim=(0, 1))
        panel.set_title(title, fontsize=10)
        panel.set_xticks(n, [f"{x:,}" for x in n], rotation=45, fontsize=9)
        panel.minorticks_off()
    ax[0].set(ylabel="share of questions")
    ax[0].yaxis.set_major_formatter(PERCENT)
    ax[len(ax) // 2].set(xlabel="attempts at each question")
    handles, labels = ax[0].get_legend_handles_labels()
    ax[0].figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
    return ax


def risks(k, panels, most, *, ax=None):
    """Draw the risk within k tries with its upper limit, and what the record shows of it.

    Parameters
    ----------
    k : array_like, shape (K,)
    panels : dict of str to dict
        Title to ``mean`` and ``limit``, each of shape (K,), and ``share``, a pair of attempts and
        the share of requests broken within them.
    most : int
        Attempts after which a request was given up.
    ax : ndarray of matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    rows = -(-len(panels) // 3)
    ax = axes(ax, nrows=rows, ncols=3, figsize=(5.8, 2.0 * rows), sharex=True, sharey=True)
    for panel, (title, risk) in zip(ax.flat, panels.items()):
        panel.axvline(most, color=GRAY, lw=0.8, ls=":")
        panel.fill_between(k, risk["mean"], risk["limit"], color=BLUE, alpha=0.22, lw=0)
        panel.plot(k, risk["limit"], color=BLUE, lw=1.2, label="95% limit")
        panel.plot(k, risk["mean"], color=BLUE, ls="--", lw=1.2, label="mean")
        panel.plot(*risk["share"], "o", color=ORANGE, ms=3, label="record")
        panel.set_title(title, fontsize=10)
        panel.set(xscale="log", ylim=(0, 1.02))
        panel.set_xticks([1, 100, 10_000, 10**6], ["1", "100", "10⁴", "10⁶"])
        panel.yaxis.set_major_formatter(PERCENT)
        panel.minorticks_off()
    spare = list(ax.flat)[len(panels) :]
    for panel in spare:
        panel.set_axis_off()
    for panel in list(ax.flat)[: len(panels)][-3:]:
        panel.tick_params(labelbottom=True)
        panel.set(xlabel="k, tries")
    handles, labels = ax.flat[0].get_legend_handles_labels()
    if spare:
        spare[-1].legend(handles, labels, loc="center", fontsize=10)
    else:
        ax.flat[0].legend(loc="lower right", fontsize=8)
    return ax

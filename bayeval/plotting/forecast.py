"""Figures of the chapter on forecasts: curves, difficulty, posterior, fans, coverage, errors."""

from __future__ import annotations

import numpy as np

from bayeval.plotting._style import (
    AMBER,
    BLUE,
    GRAY,
    GREEN,
    OLIVE,
    ORANGE,
    PINK,
    SKY,
    axes,
)

__all__ = ["beyond", "coverage", "decades", "errors", "failure", "fans", "parameters"]

SHADE = "#f0f0f0"


def beyond(k, truth, lines, n, *, ax=None):
    """Draw the true Pass@k against k, and what several methods make of the first n attempts.

    Parameters
    ----------
    k : array_like, shape (K,)
    truth : array_like, shape (K,)
    lines : dict of str to array_like, shape (K,)
        Forecasts; NaN where a method has none.
    n : int
        Attempts made; larger k are shaded.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.8, 3.8))
    k = np.asarray(k)
    ax.axvspan(n, k[-1] * 1.15, color=SHADE, lw=0)
    ax.plot(k, truth, color=GRAY, lw=3, alpha=0.6, label="truth, from 10,000 attempts")
    styles = (BLUE, "o"), (ORANGE, "--"), (GREEN, "-."), (PINK, ":")
    for (name, y), (color, style) in zip(lines.items(), styles):
        ax.plot(k, y, style, color=color, label=name)
    ax.text(n * 1.1, 0.985, f"k > {n}", color=GRAY, va="top",
            transform=ax.get_xaxis_transform())
    ax.set(xscale="log", xlim=(k[0], k[-1] * 1.15), xlabel="k, attempts allowed", ylabel="Pass@k")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left")
    return ax


def decades(panels, edges, *, ax=None):
    """Draw on how many questions the number of successes lies between two edges.

    Parameters
    ----------
    panels : dict of str to (ndarray, ndarray)
        Title to counted and expected questions, each of shape (E,): none right first, then one
        number for each interval of `edges`.
    edges : sequence of int, length E
        Successes at which the intervals begin, and the last one ends before.
    ax : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(panels), figsize=(5.8, 3.4), sharey=True)
    names = [f"{low:,}" for low in edges[:-1]]
    for panel, (title, (counted, expected)) in zip(ax, panels.items(), strict=True):
        x = np.arange(len(names))
        panel.bar(x, counted[1:], 0.8, color=SKY, alpha=0.8, label="counted")
        panel.plot(x, expected[1:], "D", color=ORANGE, ms=6, label="beta law")
        panel.set_title(title, fontsize=10)
        panel.text(0.98, 0.72, f"{counted[0]:.0f} without\na success", ha="right", va="top",
                   fontsize=9, transform=panel.transAxes)
        panel.set_xticks(x, names, rotation=60, ha="right", fontsize=9,
                         rotation_mode="anchor")
        panel.grid(axis="x", visible=False)
    ax[0].set(ylabel="questions")
    ax[len(ax) // 2].set(xlabel="right answers: lower end of the range")
    ax[0].set_ylim(top=1.25 * ax[0].get_ylim()[1])
    ax[0].legend(loc="upper right", fontsize=9)
    return ax


def failure(k, curves, fits, *, ax=None):
    """Draw the failure probability 1 - Pass@k against k on two logarithmic axes.

    Parameters
    ----------
    k : array_like, shape (K,)
    curves : dict of str to array_like, shape (K,)
    fits : dict of str to array_like, shape (K,)
        Of a law, drawn thin and dashed, under the same names.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.8, 4.2))
    colors = (BLUE, ORANGE, GREEN, PINK, OLIVE, AMBER)
    for (name, y), color, mark in zip(curves.items(), colors, "osD^vP"):
        ax.plot(k, y, color=color, marker=mark, ms=4, lw=1.5, label=name)
        ax.plot(k, fits[name], color="black", lw=1, ls="--", zorder=3)
    ax.plot([], [], color="black", lw=1, ls="--", label="beta law, fitted to all attempts")
    ax.set(xscale="log", yscale="log", xlabel="k, attempts allowed", ylabel="1 − Pass@k")
    ticks = [0.1, 0.2, 0.3, 0.5, 0.7, 1.0]
    ax.set_yticks(ticks, [f"{y:g}" for y in ticks])
    ax.minorticks_off()
    ax.legend(loc="lower left", fontsize=9)
    return ax


def parameters(log_a, log_b, density, draws, best, *, ax=None):
    """Draw the posterior of (log a, log b): contours, draws, and the maximum of the likelihood.

    Parameters
    ----------
    log_a, log_b : array_like, shape (A,) and (B,)
    density : array_like, shape (A, B)
    draws : array_like, shape (2, S)
    best : (float, float)
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(5.6, 4.0))
    ax.plot(*draws, ".", color=SKY, ms=3, alpha=0.5, label="PyMC draws")
    mass = np.sort(density.ravel())[::-1]
    levels = [mass[np.searchsorted(mass.cumsum() / mass.sum(), p)] for p in (0.99, 0.9, 0.5)]
    ax.contour(log_a, log_b, np.transpose(density), levels=levels, colors=BLUE, linewidths=1.8)
    ax.plot([], [], color=BLUE, label="quadrature: 50%, 90%, 99%")
    ax.plot(*best, "D", color=ORANGE, ms=8, mec="white", label="maximum likelihood", ls="none")
    ax.set(xlabel="log a", ylabel="log b")
    ax.legend(loc="lower right")
    return ax


def fans(k, panels, n, *, ax=None):
    """Draw forecasts with their intervals, and the truth, one panel a model.

    Parameters
    ----------
    k : array_like, shape (K,)
    panels : dict of str to (mean, low, high, truth), each of shape (K,)
    n : int
        Attempts made.
    ax : ndarray of matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    rows = -(-len(panels) // 3)
    ax = axes(ax, nrows=rows, ncols=3, figsize=(5.8, 2.2 * rows), sharex=True, sharey=True)
    for panel, (title, (mean, low, high, truth)) in zip(ax.flat, panels.items()):
        panel.axvline(n, color=GRAY, lw=0.8, ls=":")
        panel.fill_between(k, low, high, color=BLUE, alpha=0.22, lw=0)
        panel.plot(k, mean, color=BLUE)
        panel.plot(k, truth, color=ORANGE, ls="--")
        panel.set_title(title, fontsize=10)
        panel.set(xscale="log", ylim=(0, 1))
        panel.minorticks_off()
    for panel in list(ax.flat)[len(panels):]:
        panel.set_axis_off()
    for panel in np.atleast_2d(ax)[:, 0]:
        panel.set(ylabel="Pass@k")
    np.atleast_2d(ax)[-1, 1].set(xlabel="k, attempts allowed")
    first = ax.flat[0]
    first.plot([], [], color=BLUE, label="forecast, 90%")
    first.plot([], [], color=ORANGE, ls="--", label="truth")
    first.legend(loc="upper left", fontsize=8)
    return ax


def coverage(panels, level, *, ax=None):
    """Draw the coverage of intervals against the attempts per question.

    Parameters
    ----------
    panels : dict of str to dict of str to pandas.Series
        Title to lines by name, each indexed by attempts.
    level : float
        The nominal coverage.
    ax : ndarray of matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    rows = -(-len(panels) // 2)
    ax = axes(ax, nrows=rows, ncols=2, figsize=(5.8, 2.5 * rows), sharex=True, sharey=True)
    for panel, (title, lines) in zip(ax.flat, panels.items(), strict=True):
        panel.axhline(100 * level, color=GRAY, lw=1, ls="--")
        for (name, y), color, mark in zip(lines.items(), (ORANGE, BLUE, GREEN), "so^"):
            panel.plot(y.index, 100 * y, color=color, marker=mark, label=name)
        panel.set_title(title, fontsize=11)
        panel.set(xscale="log")
        panel.set_xticks(y.index, [f"{n}" for n in y.index])
        panel.minorticks_off()
    for panel in ax[:, 0]:
        panel.set(ylabel="coverage (%)")
    for panel in ax[-1]:
        panel.set(xlabel="attempts per question")
    ax.flat[0].legend(loc="lower left", fontsize=9)
    return ax


def errors(panels, highlight, *, ax=None):
    """Draw the root mean squared error of every method, one panel a data set.

    Parameters
    ----------
    panels : dict of str to pandas.DataFrame
        Title to errors: methods in rows, attempts in columns.
    highlight : str
        The method whose line stands out.
    ax : sequence of matplotlib.axes.Axes, optional

    Returns
    -------
    sequence of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(panels), figsize=(5.8, 4.2), sharey=True)
    colors = (ORANGE, GREEN, PINK, OLIVE, AMBER, SKY)
    for panel, (title, table) in zip(ax, panels.items(), strict=True):
        others = [name for name in table.index if name != highlight]
        for name, color, mark in zip(others, colors, "s^DvPX"):
            panel.plot(table.columns, table.loc[name], color=color, marker=mark, lw=1.3,
                       label=name)
        panel.plot(table.columns, table.loc[highlight], color=BLUE, marker="o", lw=2.6,
                   label=highlight)
        panel.set(xscale="log", yscale="log", title=title, xlabel="attempts per question")
        panel.set_xticks(table.columns, [f"{n}" for n in table.columns])
        panel.minorticks_off()
    ticks = [0.02, 0.05, 0.1, 0.2, 0.5]
    ax[0].set_yticks(ticks, [f"{y:g}" for y in ticks])
    ax[0].set(ylabel="root mean squared error")
    ax[0].figure.legend(*ax[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                        fontsize=9)
    return ax

"""Figures of the chapter on Pass@k: boards of two runs, bias, variance, curves, the family."""

from __future__ import annotations

import numpy as np
from scipy import stats

from bayeval.plotting._style import BLUE, GRAY, GREEN, OLIVE, ORANGE, PINK, axes

__all__ = ["bias", "boards", "curves", "difficulty", "family", "settling", "spread"]

QUIET = "#c9c9c9"


def boards(first, second, models, *, movers=6, ax=None):
    """Draw the ranks of models in two runs, joined by lines, and name those that moved most.

    Models with the same ranks in both runs share a line, which is then labeled by their number.

    Parameters
    ----------
    first, second : array_like, shape (L,)
        Scores of the L models in either run; higher is better, ties share the mean of their ranks.
    models : sequence of str
        Names.
    movers : int
        How many lines to name.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7.0, 6.0))
    a, b = (stats.rankdata(-np.round(s, 12)) for s in (first, second))
    lines, first_of, sharing = np.unique(np.stack([a, b], axis=1), axis=0, return_index=True,
                                         return_counts=True)
    farthest = np.argsort(-np.abs(lines[:, 0] - lines[:, 1]), kind="stable")
    for line in lines[farthest[movers:]]:
        ax.plot([0, 1], line, color=QUIET, lw=1, marker="o", ms=3)
    named = farthest[:movers]
    heights = _apart(lines[named, 1], gap=len(a) / 24)
    colors = (BLUE, ORANGE, GREEN, PINK, OLIVE, GRAY)
    for i, height, color in zip(named, heights, colors * movers, strict=False):
        start, end = lines[i]
        name = models[first_of[i]] if sharing[i] == 1 else f"{sharing[i]} models"
        ax.plot([0, 1], [start, end], color=color, lw=2.5, marker="o", ms=5, zorder=3)
        ax.annotate(f"{name}: {start:g} to {end:g}", (1, end), (1.08, height), va="center",
                    color=color, arrowprops={"arrowstyle": "-", "color": color, "lw": 0.8,
                                             "relpos": (0, 0.5), "shrinkA": 2})
    ax.set(xlim=(-0.08, 2.0), ylim=(len(a) + 1, 0), xticks=[0, 1],
           xticklabels=["first run", "second run"], yticks=[1, *range(10, len(a) + 1, 10)],
           ylabel="rank (1 is best; ties share their mean rank)")
    ax.grid(False)
    ax.spines[["bottom", "left"]].set_visible(False)
    return ax


def bias(k, truth, unbiased, plug_in, n, *, ax=None):
    """Draw the true Pass@k and the means of its two estimators against k.

    Parameters
    ----------
    k : array_like, shape (K,)
    truth, unbiased, plug_in : array_like, shape (K,)
        `unbiased` is NaN where k > n.
    n : int
        Attempts.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7.0, 4.0))
    ax.axvspan(n, k[-1], color="#f0f0f0", lw=0)
    ax.plot(k, truth, color=GRAY, lw=1.5)
    ax.plot(k, unbiased, "o", color=BLUE, ms=6)
    ax.plot(k, plug_in, "s-", color=ORANGE, ms=4)
    end = k[-1] + 0.3
    ax.text(end, truth[-1], "truth", color=GRAY, va="center")
    ax.text(end, plug_in[-1], "mean of\nplug-in", color=ORANGE, va="center")
    ax.annotate("mean of unbiased", (n - 3, unbiased[n - 4]), (n - 8.8, unbiased[n - 4] + 0.16),
                color=BLUE, arrowprops={"arrowstyle": "-", "color": BLUE})
    ax.text(n + 0.3, 0.03, f"k > n = {n}: no unbiased\nestimator exists", color=GRAY)
    ax.set(xlabel="k, attempts allowed", ylabel="Pass@k", xlim=(0.5, k[-1] + 3.2), ylim=(0, 1))
    return ax


def spread(k, p, sd, effective, *, ax=None):
    """Draw the standard deviation of the Pass@k estimate and the attempts it makes use of.

    Parameters
    ----------
    k : array_like, shape (K,)
        From 1 to n.
    p : array_like, shape (P,)
        Success chances.
    sd, effective : array_like, shape (P, K)
    ax : sequence of two matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=2, figsize=(7.0, 3.8))
    for p_i, sd_i, eff_i, color, mark in zip(p, sd, effective, (GRAY, BLUE, GREEN, ORANGE),
                                             "v^so", strict=True):
        ax[0].plot(k, sd_i, color=color, marker=mark, label=f"p = {p_i:g}")
        ax[1].plot(k, eff_i, color=color, marker=mark)
    ax[0].set(xlabel="k", ylabel="sd of the estimate", ylim=(0, 0.62), title="Noise")
    ax[0].legend(ncols=2, loc="upper left", handlelength=1.5, columnspacing=1)
    ax[1].set(xlabel="k", ylabel="effective attempts", ylim=(0, k[-1] * 1.04),
              title=f"Use made of {k[-1]} attempts")
    for a in ax:
        a.set_xticks(np.arange(k[0], k[-1] + 1, 3))
    return ax


def curves(k, scores, sd, models, *, title="", ax=None):
    """Draw Pass@k against k for two models, with 95% seed intervals where they can be had.

    Parameters
    ----------
    k : array_like, shape (K,)
        From 1 to n.
    scores : array_like, shape (2, K)
    sd : array_like, shape (2, K)
        Standard deviations between runs, NaN where no unbiased estimate exists.
    models : sequence of two str
    title : str
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7.0, 4.0))
    known = np.isfinite(sd).all(axis=0)
    ax.axvspan(k[known][-1] + 0.5, k[-1] + 0.5, color="#f0f0f0", lw=0)
    for s, e, name, color, mark, shift in zip(scores, sd, models, (BLUE, ORANGE), "os",
                                              (-0.04, 0.04), strict=True):
        ax.plot(k + shift, s, color=color, marker=mark, label=name)
        ax.errorbar((k + shift)[known], s[known], 1.96 * e[known], color=color, fmt="none",
                    capsize=4, lw=1.5)
    ax.set(xlabel="k", ylabel="Pass@k", title=title, xlim=(0.5, k[-1] + 0.5), xticks=k)
    ax.legend(loc="lower right", borderaxespad=0.3)
    return ax


def difficulty(counts, n, models, *, ax=None):
    """Draw on how many problems either of two models was right 1, ..., n times.

    Parameters
    ----------
    counts : array_like of int, shape (2, M)
        Right answers of the two models at M problems.
    n : int
        Attempts at each problem.
    models : sequence of two str
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7.0, 3.6))
    x, wide = np.arange(1, n + 1), 0.4
    for c, name, color, shift in zip(counts, models, (BLUE, ORANGE), (-wide / 2, wide / 2),
                                     strict=True):
        height = np.bincount(c, minlength=n + 1)[1:]
        bars = ax.bar(x + shift, height, wide, color=color, label=name)
        ax.bar_label(bars, fontsize=9, color=color, padding=1)
    ax.set(xlabel=f"right answers among {n} attempts", ylabel="problems", xticks=x)
    ax.grid(axis="x", visible=False)
    ax.legend()
    return ax


def settling(n, reversed_, labels, titles, *, ax=None):
    """Draw the share of pairs that two runs order differently against attempts per question.

    Parameters
    ----------
    n : array_like, shape (T,)
        Attempts per question in each run.
    reversed_ : array_like, shape (B, T, K)
        Share of reversed pairs for each of B benchmarks and K scores.
    labels : sequence of K str
        Scores.
    titles : sequence of B str
    ax : sequence of B matplotlib.axes.Axes, optional

    Returns
    -------
    ndarray of matplotlib.axes.Axes
    """
    ax = axes(ax, ncols=len(titles), figsize=(7.0, 3.8), sharey=True)
    for panel, rows, title in zip(ax, reversed_, titles, strict=True):
        for row, label, color, mark in zip(np.transpose(rows), labels, (BLUE, GREEN, ORANGE),
                                           "os^", strict=True):
            panel.plot(n, 100 * row, color=color, marker=mark, label=label)
        panel.set(xscale="log", xlabel="attempts per question, n", title=title)
        panel.set_xticks([10, 100, 1000], ["10", "100", "1000"])
    ax[0].set_ylim(bottom=0)
    ax[0].set_ylabel("pairs reversed between runs (%)")
    ax[-1].legend(loc="upper right")
    return ax


def family(k, scores, *, ax=None):
    """Draw the relatives of Pass@k against k, each named at its end.

    Parameters
    ----------
    k : array_like, shape (K,)
    scores : dict of str to array_like, shape (K,)
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes(ax, figsize=(7.0, 4.4))
    names = list(scores)
    ends = _apart([scores[name][-1] for name in names], gap=0.045)
    for name, end, color, mark in zip(names, ends, (BLUE, GRAY, GREEN, PINK, OLIVE, ORANGE),
                                      "oD^vsP", strict=False):
        ax.plot(k, scores[name], color=color, marker=mark, ms=6)
        ax.text(k[-1] + 0.1, end, name, color=color, va="center")
    ax.set(xlabel="k", ylabel="score", xticks=k, xlim=(k[0] - 0.15, k[-1] + 1.5))
    ax.set_ylim(bottom=-0.03)
    return ax


def _apart(y, gap):
    """Heights as near to `y` as this simple rule allows, at least `gap` apart."""
    y = np.asarray(y, dtype=float)
    order = np.argsort(y, kind="stable")
    out = y[order].copy()
    for i in range(1, len(out)):
        out[i] = max(out[i], out[i - 1] + gap)
    # Pushing upwards only would drift; center the result on where the labels belong.
    out -= (out - y[order]).mean()
    result = np.empty_like(out)
    result[order] = out
    return result

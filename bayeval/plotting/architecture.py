"""Figure of the package itself: which module imports which."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayeval.plotting._style import BLUE, GRAY, axes

__all__ = ["imports"]


def imports(matrix, *, ax=None):
    """Mark what each module imports; if imports lead down only, all marks lie below the diagonal.

    Parameters
    ----------
    matrix : pandas.DataFrame of bool, shape (modules, modules)
        Whether the module of the row imports that of the column; lower layers first.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If rows and columns do not name the same modules in the same order.

    Examples
    --------
    >>> import pandas as pd
    >>> names = ["outcomes", "metrics"]
    >>> ax = imports(pd.DataFrame([[False, False], [True, False]], names, names))
    >>> len(ax.get_xticks())
    2
    """
    if not isinstance(matrix, pd.DataFrame) or list(matrix.index) != list(matrix.columns):
        raise ValueError("matrix: expected a DataFrame whose rows and columns name the same "
                         "modules in the same order")
    ax = axes(ax, figsize=(7.4, 7.4))
    names, ticks = list(matrix.index), np.arange(len(matrix))
    rows, columns = np.nonzero(matrix.to_numpy())
    ax.plot(ticks, ticks, color=GRAY, lw=1)
    ax.plot(columns, rows, "s", color=BLUE, ms=5)
    ax.set(xlim=(-0.7, len(names) - 0.3), ylim=(len(names) - 0.3, -0.7), aspect="equal",
           xticks=ticks, yticks=ticks, xlabel="is imported", ylabel="imports")
    ax.set_xticklabels(names, rotation=90, fontsize=8)
    ax.set_yticklabels(names, fontsize=8)
    ax.xaxis.set_label_position("top")
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    return ax

"""Forecasts of Pass@k from few attempts, scored against ten thousand: method by method.

For every model of a data set the attempts are simulated, as published, with the rate s/n of the
ten thousand recorded ones, equally many at every question. The truth is 1 - mean (1 - s/n)^k.
Errors are averaged over models and replicates.

    python studies/forecast_grid.py [replicates]
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd

import bayeval as bv
from bayeval import allocation, scoring
from bayeval.forecast import METHODS, POSTERIOR_METHODS

DATA = ("codecontests", "pythia_math")
ATTEMPTS = (10, 30, 100, 300)
KS = (1_000, 10_000)
LEVEL = 0.9


def truth(o, k):
    """Pass@k at the recorded rates, shape (L, K)."""
    rate = o.successes / o.n_trials
    return np.array([[-np.expm1(k_i * np.log1p(-row)).mean() for k_i in k] for row in
                     np.where(rate < 1, rate, 1 - 1e-16)])


def scores(o, attempts, *, k=KS, methods=METHODS, replicates=50, policy=allocation.uniform, rng=0):
    """Scores of every method: a frame with columns method, k, and the mean of each score."""
    sample = policy(o, attempts * o.n_questions, replicates=replicates, replace=True, rng=rng)
    actual = np.repeat(truth(o, k), replicates, axis=0)
    rows = []
    for method in methods:
        with warnings.catch_warnings():
            # Small samples and far k are the point of the study.
            warnings.simplefilter("ignore", bv.ForecastWarning)
            f = bv.forecast(sample, k, method=method)
        table = {"squared_error": scoring.squared_error(f.mean, actual),
                 "log_error": scoring.log_error(np.maximum(f.mean, 1e-6), actual)}
        if method in POSTERIOR_METHODS:
            interval = f.interval(LEVEL)
            table["coverage"] = scoring.covers(interval, actual)
            table["interval_score"] = scoring.interval_score(interval, actual)
        rows += [{"method": method, "k": k_i,
                  **{name: x[:, i].mean() for name, x in table.items()}}
                 for i, k_i in enumerate(k)]
    return pd.DataFrame(rows)


def grid(*, data=DATA, attempts=ATTEMPTS, **options):
    """The scores of all data sets and numbers of attempts in one frame."""
    return pd.concat([scores(bv.datasets.load(name), n, **options).assign(data=name, attempts=n)
                      for name in data for n in attempts], ignore_index=True)


def main(replicates=50):
    table = grid(replicates=replicates)
    pd.set_option("display.width", 200)
    for name, factor, digits in (("squared_error", 1e4, 0), ("log_error", 1, 3),
                                 ("coverage", 1, 3), ("interval_score", 1, 3)):
        wide = table.pivot_table(index=["k", "method"], columns=["data", "attempts"], values=name)
        order = [(k, m) for k in KS for m in METHODS if (k, m) in wide.index]
        print(f"\n{name}" + (f" x {factor:.0e}" if factor > 1 else ""))
        print((factor * wide.loc[order]).round(digits).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

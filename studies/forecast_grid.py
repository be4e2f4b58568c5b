"""Forecasts of Pass@k from few attempts, scored against ten thousand: method by method.

Attempts are equally many at every question of a model, and made anew in each replicate in one of
two ways. "simulated", as published: coin flips with the recorded rate s/n, and the truth is
1 - mean (1 - s/n)^k. "recorded": drawn without replacement from the recorded attempts, and the
truth is their unbiased Pass@k. Scores are means over models and replicates. Sets kept aside are
judged at k = 1000 only: at questions without success they record a thousand attempts or more.

    nice python studies/forecast_grid.py [replicates]

writes forecast_grid.csv (about ten minutes on one core) and prints the bars.
"""

from __future__ import annotations

import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

import bayeval as bv
from bayeval import allocation, scoring
from bayeval.forecast import METHODS, POSTERIOR_METHODS

DATA = ("codecontests", "pythia_math")
ASIDE = ("pythia_checkpoints_math", "pythia_checkpoints_gsm8k")
ATTEMPTS = (10, 30, 100, 300)
KS = (1_000, 10_000)
LEVEL = 0.9
# How far the exponent may be off; 2 is the default and stands under "bayes" itself.
ALLOWANCES = {f"bayes, allowance {x:g}": x for x in (1, 1.5, 3)}
PATH = Path(__file__).with_suffix(".csv")


def load(name):
    """The recorded counts; of a set kept aside, the models that can be judged at k = 1000."""
    o = bv.datasets.load(name)
    if name in DATA:
        return o
    s, n = o.successes, o.n_trials
    asked = (n > 0).mean(axis=0) > 0.9
    enough = ((s > 0)[:, asked].sum(axis=1) >= 10) & (n[:, asked] > 0).all(axis=1) & (
        np.where(s > 0, 1000, n)[:, asked].min(axis=1) >= 1000)
    return o.select(models=[m for m, keep in zip(o.models, enough) if keep],
                    questions=[q for q, keep in zip(o.questions, asked) if keep])


def scores(o, attempts, *, k=KS, methods=(*METHODS, *ALLOWANCES), sampling="simulated",
           replicates=50, rng=0):
    """Scores of every method: one row a method and k."""
    simulated = sampling == "simulated"
    sample = allocation.uniform(o, attempts * o.n_questions, replicates=replicates,
                                replace=simulated, rng=rng)
    truth = (bv.forecast(o, k, method="plug-in").mean if simulated
             else np.stack([bv.pass_at_k(o, k_i) for k_i in k], axis=1))
    truth = np.repeat(truth, replicates, axis=0)
    rows = []
    for method in methods:
        f = bv.forecast(sample, k, method="bayes" if method in ALLOWANCES else method,
                        allowance=ALLOWANCES.get(method, 2.0))
        table = {"squared_error": scoring.squared_error(f.mean, truth),
                 "log_error": scoring.log_error(np.maximum(f.mean, 1e-6), truth),
                 "bias": f.mean - truth}
        if f.method in POSTERIOR_METHODS:
            interval = f.interval(LEVEL)
            table |= {"coverage": scoring.covers(interval, truth), "width": interval.width,
                      "interval_score": scoring.interval_score(interval, truth)}
        rows += [{"method": method, "k": k_i, **{name: x[:, i].mean() for name, x in table.items()}}
                 for i, k_i in enumerate(k)]
    return pd.DataFrame(rows)


def cell(name, attempts, sampling="simulated", *, replicates=50, **options):
    """One cell of the grid, whose random numbers depend on its labels alone."""
    key = [zlib.crc32(str(x).encode()) for x in (name, attempts, sampling)]
    with warnings.catch_warnings():
        # Few successes and far k are the point of the study.
        warnings.simplefilter("ignore", bv.ForecastWarning)
        table = scores(load(name), attempts, sampling=sampling, replicates=replicates,
                       rng=np.random.SeedSequence(0, spawn_key=key),
                       **(options if name in DATA else options | {"k": KS[:1]}))
    table.insert(0, "data", name)
    table.insert(1, "sampling", sampling)
    table.insert(2, "attempts", attempts)
    return table


def study(*, data=DATA, aside=ASIDE, attempts=ATTEMPTS, replicates=50, **options):
    """The whole grid in one frame."""
    jobs = [(name, n, sampling) for name in data for sampling in ("simulated", "recorded")
            for n in attempts] + [(name, n, "simulated") for name in aside for n in attempts]
    return pd.concat([cell(*job, replicates=replicates if job[0] in data
                           else -(-replicates // 8), **options)
                      for job in jobs], ignore_index=True)


def bars(table):
    """Error of the default over that of the boxed fit, and coverage, cell by cell."""
    index = ["data", "sampling", "k", "attempts"]
    by = table.set_index(["method", *index]).sort_index()
    ratio = by.loc["bayes", "squared_error"] / by.loc["mle-boxed", "squared_error"]
    return pd.DataFrame({"error_ratio": ratio, "coverage": by.loc["bayes", "coverage"]})


def main(replicates=50):
    table = study(replicates=replicates)
    table.round(7).to_csv(PATH, index=False)
    pd.set_option("display.width", 200)
    for name, factor, digits in (("squared_error", 1e4, 0), ("coverage", 1, 3),
                                 ("interval_score", 1, 3)):
        wide = table.pivot_table(index=["sampling", "k", "method"], columns=["data", "attempts"],
                                 values=name, sort=False)
        print(f"\n{name}" + (f" x {factor:.0e}" if factor > 1 else ""))
        print((factor * wide).round(digits).to_string(na_rep=""))
    print("\n", bars(table).unstack("attempts").round(3).to_string(), sep="")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

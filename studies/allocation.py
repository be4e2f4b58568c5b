"""Where attempts go: forecasts of Pass@k at equal budgets under four allocations.

The budget is a number of attempts per question times the questions, for each model. Attempts are
made anew in each replicate in one of two ways. "recorded": drawn without replacement from the
recorded attempts, and the truth is their unbiased Pass@k. "simulated", as published: coin flips
with the recorded rate s/n, and the truth is 1 - mean (1 - s/n)^k.

    nice python studies/allocation.py [replicates]

writes allocation.csv (about ten minutes on one core). Scores are means over models and
replicates; columns with _se hold their Monte Carlo standard errors, over replicates.
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

DATA = ("codecontests", "pythia_math")
SAMPLING = ("recorded", "simulated")
ATTEMPTS = (10, 30, 100, 300)
POLICIES = ("uniform", "fewest", "pilot", "oracle")
METHODS = ("bayes", "mle-boxed", "plug-in")
KS = (1_000, 10_000)
LEVEL = 0.9
PATH = Path(__file__).with_suffix(".csv")


def spend(o, policy, attempts, *, k=KS[0], sampling="recorded", replicates=100, rng=None):
    """Counts after `attempts` per question, spent by a policy that has Pass@k in mind."""
    budget = attempts * o.n_questions
    options = {"replicates": replicates, "replace": sampling == "simulated", "rng": rng}
    if policy == "uniform":
        return allocation.uniform(o, budget, **options)
    if policy == "fewest":
        return allocation.fewest_successes_first(o, budget, **options)
    if policy == "pilot":
        pilot = max(3, attempts // 3)
        return allocation.pilot_then_allocate(o, k, budget, pilot=pilot, **options)
    return oracle(o, k, budget, **options)


def oracle(o, k, budget, *, replicates, replace, rng):
    """Attempts by the recorded rates, which nobody knows beforehand: what the theorem asks for.

    Every question gets one, since the plug-in needs it.
    """
    s, n = o.successes, o.n_trials
    one = np.ones(o.n_questions, dtype=int)
    b = np.stack(
        [
            allocation.variance_optimal(rate, k, budget, spent=one, most=most)
            for rate, most in zip(s / n, n, strict=True)
        ]
    )
    s, n, b = (np.repeat(x, replicates, axis=0) for x in (s, n, b))
    right = rng.binomial(b, s / n) if replace else rng.hypergeometric(s, n - s, b)
    return bv.Outcomes.from_counts(right, b)


def cell(name, attempts, policy, sampling="recorded", *, replicates=100, methods=METHODS, k=KS):
    """Scores of every method and k, whose random numbers depend on the labels alone."""
    key = [zlib.crc32(str(x).encode()) for x in (name, attempts, policy, sampling)]
    rng = np.random.default_rng(np.random.SeedSequence(11, spawn_key=key))
    o = bv.datasets.load(name)
    sample = spend(o, policy, attempts, k=k[0], sampling=sampling, replicates=replicates, rng=rng)
    rows = []
    with warnings.catch_warnings():
        # Few successes and far k are the point of the study.
        warnings.simplefilter("ignore", bv.ForecastWarning)
        truth = (
            bv.forecast(o, k, method="plug-in").mean
            if sampling == "simulated"
            else np.stack([bv.pass_at_k(o, k_i) for k_i in k], axis=1)
        )
        for method in methods:
            f = bv.forecast(sample, k, method=method)
            rows += [
                {
                    "data": name,
                    "sampling": sampling,
                    "attempts": attempts,
                    "policy": policy,
                    "method": method,
                    "k": k_i,
                    **scores(f, i, truth[:, i], replicates),
                }
                for i, k_i in enumerate(k)
            ]
    return rows


def scores(f, i, truth, replicates):
    """Scores of a forecast at its k number i; the replicates of a model stand together."""
    shape = len(truth), replicates
    y = np.repeat(truth, replicates)
    mean = f.mean[:, i]
    by_model = (mean - y).reshape(shape)
    table = {
        "squared_error": scoring.squared_error(mean, y),
        "log_error": scoring.log_error(np.maximum(mean, 1e-6), y),
    }
    if f.method == "bayes":
        interval = f.interval(LEVEL)
        interval = type(interval)(interval.low[:, i], interval.high[:, i], LEVEL, interval.kind)
        table |= {
            "coverage": scoring.covers(interval, y).astype(float),
            "interval_score": scoring.interval_score(interval, y),
        }
    out = {
        "squared_bias": (by_model.mean(axis=1) ** 2).mean(),
        "variance": by_model.var(axis=1).mean(),
    }
    for name, x in table.items():
        # Over the models of a replicate first: with one seed they may go up and down together.
        x = x.reshape(shape).mean(axis=0)
        out |= {name: x.mean(), f"{name}_se": x.std(ddof=1) / np.sqrt(replicates)}
    return out


def study(*, data=DATA, sampling=SAMPLING, attempts=ATTEMPTS, policies=POLICIES, **options):
    """The whole grid in one frame."""
    return pd.DataFrame(
        [
            row
            for name in data
            for how in sampling
            for n in attempts
            for policy in policies
            for row in cell(name, n, policy, how, **options)
        ]
    )


def main(replicates=100):
    table = study(replicates=replicates)
    table.round(7).to_csv(PATH, index=False)
    pd.set_option("display.width", 200)
    wide = table.pivot_table(
        index=["sampling", "k", "method", "policy"],
        columns=["data", "attempts"],
        values="squared_error",
        sort=False,
    )
    print((1e4 * wide).round(1).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

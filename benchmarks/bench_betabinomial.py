"""Times of the beta-binomial model, beside what is promised.

    python benchmarks/bench_betabinomial.py [--repeat 7]

Every time is processor time, the best of several runs: what it takes on a free core. The exit
status says whether all promises are kept.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
import pandas as pd

import bayeval as bv
from bayeval import betabinomial as bb

TAILS = 0.025, 0.975
warnings.simplefilter("ignore", bv.ForecastWarning)


def moments(s, n):
    law = bb.quadrature(s, n).score()
    return law.mean, law.sd


def interval(s, n):
    return bb.quadrature(s, n).score().ppf(TAILS)


def tasks():
    """Name, promise in ms or None, and the call."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.2, 3, (2, 64, 1))
    p = rng.beta(a, b, (64, 30))
    for n in (4, 16, 80):
        s = rng.binomial(n, p)
        case = f"64 models x 30 questions, n = {n}"
        yield f"{case}: mean and sd", 50, lambda s=s, n=n: moments(s, n)
        yield f"{case}: 95% intervals", None, lambda s=s, n=n: interval(s, n)
    n = rng.integers(1, 101, 10**6)
    s = rng.binomial(n, rng.beta(0.5, 2, 10**6))
    yield "1e6 questions, n <= 100: mean and sd", 1000, lambda: moments(s, n)
    yield "1e6 questions, n <= 100: 95% interval", 1000, lambda: interval(s, n)
    for n_i in (10, 100, 10_000):
        s_i = rng.binomial(n_i, rng.beta(0.2, 2, 128))
        case = f"128 questions, n = {n_i}"
        yield f"{case}: MLE", 2, lambda s=s_i, n=n_i: bb.mle(s, n)
        yield f"{case}: MLE in the box", 2, lambda s=s_i, n=n_i: bb.mle(s, n, bounds=(0.01, 100))
        yield f"{case}: 95% interval", None, lambda s=s_i, n=n_i: interval(s, n)
        o = bv.Outcomes.from_counts(s_i, n_i)
        yield (f"{case}: forecast of Pass@1000, interval", 20,
               lambda o=o: bv.forecast(o, 1000, method="bayes").interval(0.9))


def best_of(function, repeat):
    function()
    times = []
    for _ in range(repeat):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    rows = [(name, best_of(call, repeat), bar) for name, bar, call in tasks()]
    table = pd.DataFrame(rows, columns=["task", "ms", "promised"]).set_index("task")
    sys.stdout.write(table.to_string(float_format="{:.1f}".format, na_rep="") + "\n")
    late = table.index[table["ms"] > table["promised"]]
    sys.stdout.write("".join(f"later than promised: {name}\n" for name in late)
                     or "all as promised\n")
    return len(late) > 0


if __name__ == "__main__":
    sys.exit(main())

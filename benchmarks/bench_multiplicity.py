"""Time of everything that a board of 64 models asks for: matrix, rank sets, discoveries.

Usage: python benchmarks/bench_multiplicity.py
The bar is 2 seconds for the whole on one core.
"""

import sys
import time

import numpy as np
import pandas as pd

import bayeval as bv

BAR = 2.0


def best_of(function, times=3):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def board(o, prior, paired):
    parts = {}
    parts["posterior"], p = best_of(lambda: bv.posterior(o, prior=prior))
    parts["superiority"], matrix = best_of(
        lambda: bv.superiority(o, paired=paired, prior=prior))
    parts["ranks"], _ = best_of(lambda: bv.rank_summary(bv.rank_probabilities(p)))
    parts["discoveries"], _ = best_of(lambda: bv.discoveries(matrix))
    return parts


def main():
    hmmt = bv.datasets.load("hmmt_feb_2025")
    rng = np.random.default_rng(0)
    big = bv.simulate.coin_flips(rng.beta(0.6, 0.4, (128, 60)), 8, rng=rng)
    rows = {}
    for name, o in (("HMMT, 64 models x 30", hmmt), ("simulated, 128 models x 60", big)):
        for prior in ("uniform", "learned"):
            rows[name, prior, "independent"] = board(o, prior, paired=False)
        rows[name, "uniform", "paired"] = board(o, "uniform", paired=True)
    table = pd.DataFrame(rows).T.rename_axis(["board", "prior", "matrix"])
    table["all"] = table.sum(axis=1)
    sys.stdout.write(f"Seconds, best of 3\n{table.round(3).to_string()}\n")
    slowest = table["all"].xs("HMMT, 64 models x 30").max()
    sys.stdout.write(f"64 models: at most {slowest:.2f} s (bar {BAR:g} s)\n")
    return slowest > BAR


if __name__ == "__main__":
    sys.exit(main())

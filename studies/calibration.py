"""Coverage of intervals of a score: by shape of difficulty, questions, attempts and estimand.

Every interval is judged against both estimands: the score of the questions that were drawn, and
the mean of the law that they were drawn from. All intervals see the same counts.

    python studies/calibration.py [replicates]

writes studies/calibration.csv (about half an hour on one core with the default 2000).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import bayeval as bv
from bayeval import classical

# Laws of the success probabilities. A number in a mixture is a probability that all share.
SHAPES = {
    "uniform": stats.beta(1, 1),
    "hard": stats.beta(0.5, 2),
    "very hard": stats.beta(0.05, 3),
    "easy": stats.beta(2, 0.3),
    "alike": stats.beta(30, 20),
    "hard or easy": bv.simulate.Mixture([0.5, 0.5], [stats.beta(2, 30), stats.beta(30, 2)]),
    "two humps": bv.simulate.Mixture([0.5, 0.5], [stats.beta(40, 160), stats.beta(160, 40)]),
    "half impossible": bv.simulate.Mixture([0.5, 0.5], [0, stats.beta(2, 2)]),
}
QUESTIONS = (5, 30, 150)
ATTEMPTS = (2, 4, 16, 64)
CHUNK = 250


def intervals(o, *, probability=0.95):
    """Intervals by name; the posteriors have one for each estimand."""
    found = {}
    for prior in ("uniform", "learned"):
        p = bv.posterior(o, prior=prior)
        found[f"{prior}, questions"] = p.interval(probability)
        found[f"{prior}, population"] = p.population.interval(probability)
    return found | {method: classical.summary(o, method, rng=0).interval(probability)
                    for method in classical.METHODS}


def study(shapes=SHAPES, questions=QUESTIONS, attempts=ATTEMPTS, *, replicates=2000, rng=0):
    """Coverage and mean width of every interval: one row a cell, interval and estimand."""
    cells = [(shape, M, n) for shape in shapes for M in questions for n in attempts]
    rows = []
    for (shape, M, n), seed in zip(cells, np.random.SeedSequence(rng).spawn(len(cells))):
        stream = np.random.default_rng(seed)
        parts = []
        for start in range(0, replicates, CHUNK):
            p = shapes[shape].rvs(size=(min(CHUNK, replicates - start), M), random_state=stream)
            o = bv.simulate.coin_flips(p, n, rng=stream)
            truths = {"questions": p.mean(axis=1), "population": shapes[shape].mean()}
            parts += [{"interval": name, "estimand": estimand, "width": i.width.mean(),
                       "coverage": ((i.low <= truth) & (truth <= i.high)).mean(), "size": len(p)}
                      for name, i in intervals(o).items() for estimand, truth in truths.items()]
        parts = pd.DataFrame(parts)
        for (name, estimand), part in parts.groupby(["interval", "estimand"], sort=False):
            rows.append({"shape": shape, "questions": M, "attempts": n, "interval": name,
                         "estimand": estimand} | {
                x: np.average(part[x], weights=part["size"]) for x in ("coverage", "width")})
    return pd.DataFrame(rows)


def main(replicates=2000):
    table = study(replicates=replicates)
    path = Path(__file__).with_suffix(".csv")
    table.round({"coverage": 4, "width": 5}).to_csv(path, index=False)
    wide = table.pivot_table(index=["estimand", "interval"], columns="shape", values="coverage",
                             aggfunc="min", sort=False)
    print(f"Lowest coverage over questions and attempts\n{wide.round(3).to_string()}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

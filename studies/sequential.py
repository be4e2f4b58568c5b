"""Replays of sequential evaluations: boards, policies, and what is known after each round.

CodeContests and MATH are replayed from their 10,000 recorded attempts. For Terminal-Bench, with a
handful of attempts at a question, chances are drawn anew for every ten replays: each from the beta
law that has the posterior mean and standard deviation of that question. Within a board all
policies share their first attempts.

    python studies/sequential.py [passes]

writes studies/sequential.csv.gz. Each pass adds 20 replays of every policy and takes some
two minutes on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayeval as bv

BOARDS = {"CodeContests": "codecontests", "MATH": "pythia_math",
          "Terminal-Bench": "terminal_bench_trials"}
POLICIES = {
    "uniform": {"rule": "uniform"},
    "overlap": {"rule": "overlap"},
    "top-two": {"rule": "top-two"},
    "information": {"rule": "information"},
    "information, winner": {"rule": "information", "goal": "winner"},
    "information, by question": {"rule": "information", "even": False},
    "uniform, uniform prior": {"rule": "uniform", "prior": "uniform"},
}
START, BATCH, ROUNDS, SIZE = 2, 2, 16, 10


def chances(o, rng):
    """Success chances (L, M) drawn from the posterior of every question."""
    p = bv.posterior(o, prior="learned")
    mean = p.question_mean
    size = mean * (1 - mean) / p.question_sd**2 - 1
    return rng.beta(mean * size, (1 - mean) * size)


def replays(board, policy, seed, *, rounds=ROUNDS, n_jobs=1):
    """Ten replays, in which a round is one attempt of every model at every question."""
    o = bv.datasets.load(BOARDS[board])
    truth = o if (o.n_trials == 10_000).all() else chances(o, np.random.default_rng(seed))
    one = o.n_models * o.n_questions
    r = bv.design.replay(truth, rounds * one, batch=BATCH * one, start=START, replicates=SIZE,
                         n_jobs=n_jobs, rng=seed, **POLICIES[policy])
    return r.assign(board=board, policy=policy, rounds=r.attempts / one).drop(columns="spent")


def main(passes=6):
    path = Path(__file__).with_suffix(".csv.gz")
    pieces = []
    for i in range(2 * passes):
        for b, board in enumerate(BOARDS):
            for policy in POLICIES:
                r = replays(board, policy, [i, b])
                pieces.append(r.assign(replicate=r.replicate + SIZE * i))
        table = pd.concat(pieces)[["board", "policy", "replicate", "step", "attempts", "rounds",
                                   "winner", "stated", "tau", "wrong", "expected_wrong",
                                   "covered"]]
        table.round(4).to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})
        print(f"{SIZE * (i + 1)} replays", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Speed and memory of `bayeval`, beside scorio and the published forecasts, in one run.

    python benchmarks/run.py [--seconds 1] [--only PART ...] [--out benchmarks/results.csv]

Each part runs in a fresh process with one thread. The two sides of a row take turns, and the time
of each is the shortest, in processor time: what other programs do on the machine then falls on
both, and shows in neither. Memory is the largest that Python and numpy hold beyond the outcomes,
in a run of its own. The page `appendix/benchmarks.md` shows the results.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import itertools
import json
import os
import platform
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

SHAPES = {
    "20 x 30 x 80": (20, 30, 80),
    "1000 x 1000": (1, 1000, 1000),
    "10,000 x 1000": (1, 10_000, 1000),
    "20 x 10,000 x 1000": (20, 10_000, 1000),
}
K, LARGE_K = 8, 512
# Tasks that take longer than this, in seconds, are run once, and their memory is not measured.
SLOW = 10
COLUMNS = [
    "part",
    "task",
    "L",
    "M",
    "N",
    "k",
    "rival",
    "ours_s",
    "theirs_s",
    "ours_mib",
    "theirs_mib",
    "difference",
]
HERE = Path(__file__).resolve().parent


def outcomes(L, M, N):
    """Outcomes as int8, made block by block, so that no wider array is ever held."""
    rng = np.random.default_rng(1)
    R = np.empty((L, M, N), dtype=np.int8)
    for model in R:
        p = rng.beta(0.5, 0.5, (M, 1)).astype(np.float32)
        for start in range(0, M, 1000):
            block = model[start : start + 1000]
            block[:] = rng.random(block.shape, dtype=np.float32) < p[start : start + 1000]
    return R


# -- the two sides ---------------------------------------------------------------------------


def scorio_tasks(R, k=K):
    """Name: our call and theirs, both from outcomes, with the same results."""
    import scorio.eval as se
    import scorio.rank as sr
    from scorio.utils import rank_scores

    import bayeval as bv

    def counted():
        return bv.Outcomes.from_matrix(R)

    def with_interval(e):
        i = e.interval(kind="normal")
        return np.stack([e.mean, i.low, i.high])

    def their_board():
        rows = np.array([se.bayes_ci(x) for x in R])
        return rows, rank_scores(rows[:, 0])["competition"]

    tasks = {
        "score and sd": (lambda: bv.posterior(counted()), lambda: [se.bayes(x) for x in R]),
        "score, with interval": (
            lambda: with_interval(bv.posterior(counted())),
            lambda: [se.bayes_ci(x) for x in R],
        ),
        f"Pass@{k}": (lambda: bv.pass_at_k(counted(), k), lambda: [se.pass_at_k(x, k) for x in R]),
        f"Pass^{k}": (
            lambda: bv.pass_hat_k(counted(), k),
            lambda: [se.pass_hat_k(x, k) for x in R],
        ),
        f"G-Pass@{k}": (
            lambda: bv.g_pass_at_k(counted(), k, tau=0.5),
            lambda: [se.g_pass_at_k_tau(x, k, 0.5) for x in R],
        ),
        f"mG-Pass@{k}": (
            lambda: bv.mg_pass_at_k(counted(), k),
            lambda: [se.mg_pass_at_k(x, k) for x in R],
        ),
        f"Pass@{k}, with interval": (
            lambda: with_interval(bv.posterior(counted()).pass_at_k(k)),
            lambda: [se.pass_at_k_ci(x, k) for x in R],
        ),
        f"Pass^{k}, with interval": (
            lambda: with_interval(bv.posterior(counted()).pass_hat_k(k)),
            lambda: [se.pass_hat_k_ci(x, k) for x in R],
        ),
        f"G-Pass@{k}, with interval": (
            lambda: with_interval(bv.posterior(counted()).g_pass_at_k(k, tau=0.5)),
            lambda: [se.g_pass_at_k_tau_ci(x, k, 0.5) for x in R],
        ),
        f"mG-Pass@{k}, with interval": (
            lambda: with_interval(bv.posterior(counted()).mg_pass_at_k(k)),
            lambda: [se.mg_pass_at_k_ci(x, k) for x in R],
        ),
    }
    if len(R) > 1:
        tasks["ranking"] = (
            lambda: bv.ranking.ranks(bv.posterior(counted()).mean),
            lambda: sr.bayes(R),
        )
        tasks["leaderboard"] = lambda: bv.leaderboard(counted(), kind="normal"), their_board
    return tasks


def exact_tasks(R, k=K):
    """The default of `bayeval`, which is the law, beside scorio's normal approximation to it."""
    import scorio.eval as se
    from scorio.sinf import ranking_confidence
    from scorio.utils import rank_scores

    import bayeval as bv

    def posterior():
        return bv.posterior(bv.Outcomes.from_matrix(R))

    def their_pairs():
        moments = [se.bayes(x) for x in R]
        return [[ranking_confidence(*a, *b)[0] for b in moments] for a in moments]

    tasks = {
        "score, with interval": (
            lambda: posterior().interval(),
            lambda: [se.bayes_ci(x) for x in R],
        ),
        f"Pass@{k}, with interval": (
            lambda: posterior().pass_at_k(k).interval(),
            lambda: [se.pass_at_k_ci(x, k) for x in R],
        ),
        f"G-Pass@{k}, with interval": (
            lambda: posterior().g_pass_at_k(k, tau=0.5).interval(),
            lambda: [se.g_pass_at_k_tau_ci(x, k, 0.5) for x in R],
        ),
    }
    if len(R) > 1:
        tasks["leaderboard"] = (
            lambda: bv.leaderboard(bv.Outcomes.from_matrix(R)),
            lambda: rank_scores([se.bayes_ci(x)[0] for x in R]),
        )
        tasks["superiority, all pairs"] = (
            lambda: bv.superiority(bv.Outcomes.from_matrix(R), paired=False),
            their_pairs,
        )
    return tasks


def numbers(result):
    """The numbers in a result, models first, so that two sides can be compared."""
    if isinstance(result, pd.DataFrame):  # a leaderboard
        table = result.loc[[f"m{i + 1}" for i in range(len(result))]]
        return table[["score", "low", "high", "rank"]].to_numpy()
    if isinstance(result, tuple):
        rows, ranks = result
        return np.column_stack([rows[:, [0, 2, 3]], ranks])
    if hasattr(result, "sd"):
        return np.stack([result.mean, result.sd], axis=-1)
    return np.asarray(result, dtype=float)


def difference(ours, theirs):
    """The largest difference of two results; their intervals stop at 0 and 1 in the family."""
    ours, theirs = np.squeeze(numbers(ours)), np.squeeze(numbers(theirs))
    if theirs.shape[-1:] == (4,) and ours.shape != theirs.shape:
        theirs = theirs[..., [0, 2, 3]]
        ours = np.where((theirs == 0) | (theirs == 1), np.clip(ours.T, 0, 1), ours.T)
    return float(np.abs(ours - theirs).max())


# -- measuring -------------------------------------------------------------------------------


def seconds(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def peak(call):
    """Largest memory held during the call, MiB."""
    tracemalloc.start()
    call()
    size = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return size


def side_by_side(calls, least):
    """Shortest time of each call, taking turns for at least `least` seconds, and the results."""
    first = [seconds(call) for call in calls]
    times = [t for t, _ in first]
    rounds = 0 if max(times) > SLOW else int(np.clip(least / max(sum(times), 1e-9), 2, 200))
    for _ in range(rounds):
        times = [min(t, seconds(call)[0]) for t, call in zip(times, calls, strict=True)]
    return times, [result for _, result in first]


def compared(part, tasks, shape, least, rival, k=None, same=True, memory=True):
    """A row for each task."""
    for task, calls in tasks.items():
        times, results = side_by_side(calls, least)
        sizes = [peak(call) if memory and max(times) < SLOW else None for call in calls]
        yield dict(
            zip(
                COLUMNS,
                (
                    part,
                    task,
                    *shape,
                    k,
                    rival,
                    *times,
                    *sizes,
                    difference(*results) if same else None,
                ),
                strict=True,
            )
        )


def core(shape, least):
    R = outcomes(*SHAPES[shape])
    for tasks in (scorio_tasks, exact_tasks):  # what a first call imports is not measured
        for pair in tasks(R[:2, :40, :20].copy()).values():
            for call in pair:
                call()
    yield from compared(shape, scorio_tasks(R), R.shape, least, "scorio", K)
    if shape == "1000 x 1000":
        task = f"mG-Pass@{LARGE_K}, with interval"
        yield from compared(
            shape, {task: scorio_tasks(R, LARGE_K)[task]}, R.shape, least, "scorio", LARGE_K
        )
    yield from compared(
        shape,
        {f"{name}, exact law": pair for name, pair in exact_tasks(R).items()},
        R.shape,
        least,
        "scorio",
        K,
        same=False,
    )


def counting(least):
    """Counting, beside numpy's sum over the same array, and beside one reading of it."""
    from bayeval._tally import tally

    R = outcomes(1, 10_000, 1000)
    for dtype in (np.int8, bool, np.int32, np.int64, np.float32, np.float64):
        x = R.astype(dtype)
        words = x.reshape(-1).view(np.uint64)
        for rival, call in (
            ("numpy's sum", lambda x=x: x.sum(axis=2)),
            ("one reading", lambda words=words: np.bitwise_or.reduce(words)),
        ):
            yield from compared(
                "counting",
                {np.dtype(dtype).name: (lambda x=x: tally(x, None), call)},
                x.shape,
                least,
                rival,
                same=False,
            )


GROWTH = {
    "L": [(L, 300, 300) for L in (2, 4, 8, 16, 32, 64, 128, 256)],
    "M": [(1, M, 300) for M in (100, 300, 1000, 3000, 10_000, 30_000, 100_000)],
    "N": [(1, 1000, N) for N in (30, 100, 300, 1000, 3000, 10_000, 30_000)],
    "M N": [
        (1, M, N)
        for M, N in itertools.product((1000, 3000, 10_000, 30_000), (100, 300, 1000, 3000))
        if 3e5 <= M * N <= 3e7
    ],
}
# k, and up to where scorio is timed.
GROWTH_K, LARGEST_OF_THEIRS = (4, 8, 16, 32, 64, 128, 256, 512), 64


def growth(least):
    """Cost of a score from outcomes in L, M, N and M N, and of mG-Pass@k with interval in k."""
    for what, shapes in GROWTH.items():
        for shape in shapes:
            tasks = {"score and sd": scorio_tasks(outcomes(*shape))["score and sd"]}
            yield from compared(f"growth in {what}", tasks, shape, least, "scorio", memory=False)
    R = outcomes(1, 1000, 1000)
    for k in GROWTH_K:
        ours, theirs = scorio_tasks(R, k)[f"mG-Pass@{k}, with interval"]
        alone = k > LARGEST_OF_THEIRS
        for row in compared(
            "growth in k",
            {"mG-Pass@k, with interval": (ours, ours if alone else theirs)},
            R.shape,
            least,
            "scorio",
            k,
            memory=False,
        ):
            yield row | {"theirs_s": None, "difference": None} if alone else row


def forecasting(least):
    """The published forecasts, restated, for one model on 128 problems of MATH."""
    sys.path.insert(0, str(HERE))
    import published

    import bayeval as bv

    o = bv.datasets.load("pythia_math").select(models="Pythia 12B")
    k = np.arange(100, 1001, 100)

    def pair(x, method, rival):
        s, n = x.successes[0], x.n_trials[0]
        return (lambda: bv.forecast(x, k, method=method).mean, lambda: rival(s, n, k.astype(float)))

    for n in (10, 78, 1000):
        x = bv.simulate.subsample(o, n, rng=0)
        tasks = {
            method: pair(x, method, rival)
            for method, rival in (
                ("mle-boxed", published.beta_binomial),
                ("power-law", published.power_law),
                ("discretized-beta", published.discretized_beta),
            )
        }
        yield from compared("forecasting", tasks, (1, o.n_questions, n), least, "published")


PARTS = {
    **{shape: lambda least, shape=shape: core(shape, least) for shape in SHAPES},
    "counting": counting,
    "growth": growth,
    "forecasting": forecasting,
}


# -- the run ---------------------------------------------------------------------------------


def in_fresh_process(part, least):
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    run = subprocess.Popen(
        [sys.executable, __file__, "--part", part, "--seconds", str(least)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **threads},
    )
    for line in run.stdout:
        row = json.loads(line)
        say(
            f"{row['part']:20} {row['task']:38} {row['ours_s'] * 1e3:10.2f} ms "
            + (f"{row['theirs_s'] * 1e3:10.2f} ms" if row["theirs_s"] else "")
        )
        yield row
    if run.wait():
        raise SystemExit(f"{part} failed")


def circumstances(start):
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        cpu = next(
            (
                line.split(":")[1].strip()
                for line in info.read_text().splitlines()
                if line.startswith("model name")
            ),
            cpu,
        )
    versions = [
        f"{name} {importlib.metadata.version(name)}"
        for name in ("numpy", "scipy", "bayeval", "scorio")
    ]
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{cpu}, {os.cpu_count()} cores, {platform.system()}",
        "versions": ", ".join([f"Python {platform.python_version()}", *versions]),
        "load": " ".join(f"{x:.1f}" for x in os.getloadavg())
        if hasattr(os, "getloadavg")
        else "unknown",
        "minutes": f"{(time.perf_counter() - start) / 60:.1f}",
    }


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="least time spent on a row")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, metavar="PART", help=f"some of: {'; '.join(PARTS)}"
    )
    parser.add_argument("--out", type=Path, default=HERE / "results.csv")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.part:
        for row in PARTS[options.part](options.seconds):
            say(json.dumps(row))
        return
    start = time.perf_counter()
    rows = [
        row for part in options.only or PARTS for row in in_fresh_process(part, options.seconds)
    ]
    header = "".join(f"# {name}: {value}\n" for name, value in circumstances(start).items())
    options.out.write_text(
        header + pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, float_format="%.4g"),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()

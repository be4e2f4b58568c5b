"""The core beside scorio, in one run: times, and peak memory beyond the input.

    python benchmarks/bench_core.py [--repeat 5]

Every figure comes from a fresh process that makes the outcomes, imports the library, and does
the task `repeat` times: the time is the shortest, the memory is the growth of the process's
largest resident size, over making the outcomes and importing. Tasks that start from counts were
counted before. The last lines hold the largest case to what the package promises; the exit
status says whether it does.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

SHAPES = {"20 x 30 x 80": (20, 30, 80), "1 x 1000 x 1000": (1, 1000, 1000),
          "20 x 10,000 x 1000": (20, 10_000, 1000)}
LARGE = "20 x 10,000 x 1000"
K = 8


def outcomes(shape):
    """Outcomes as int8, model by model, so that no wider array is ever held."""
    rng = np.random.default_rng(1)
    R = np.empty(shape, dtype=np.int8)
    for model in R:
        p = rng.beta(0.5, 0.5, (shape[1], 1)).astype(np.float32)
        for start in range(0, shape[1], 1000):
            block = model[start:start + 1000]
            block[:] = rng.random(block.shape, dtype=np.float32) < p[start:start + 1000]
    return R


def bayeval_tasks(R):
    import bayeval as bv
    o = bv.Outcomes.from_matrix(R)
    return {
        "score and sd, from outcomes": lambda: bv.posterior(bv.Outcomes.from_matrix(R)),
        "score and sd, from counts": lambda: bv.posterior(o),
        "ranking by Bayes@N, from outcomes":
            lambda: bv.ranking.ranks(bv.posterior(bv.Outcomes.from_matrix(R)).mean),
        "leaderboard with intervals, from counts": lambda: bv.leaderboard(o),
        f"Pass@{K}, from outcomes": lambda: bv.pass_at_k(bv.Outcomes.from_matrix(R), K),
        f"Pass@{K}, from counts": lambda: bv.pass_at_k(o, K),
        f"Pass^{K}, from counts": lambda: bv.pass_hat_k(o, K),
        f"G-Pass@{K}, from counts": lambda: bv.g_pass_at_k(o, K, tau=0.5),
        f"mG-Pass@{K}, from counts": lambda: bv.mg_pass_at_k(o, K),
        f"posterior Pass@{K}, from counts": lambda: bv.posterior(o).pass_at_k(K),
    }


def scorio_tasks(R):
    """Those of the tasks that scorio has; it always starts from outcomes, and ranks two or more."""
    import scorio.eval as se
    import scorio.rank as sr
    return {
        "score and sd, from outcomes": lambda: [se.bayes(x) for x in R],
        "ranking by Bayes@N, from outcomes": lambda: sr.bayes(R, return_scores=True),
        f"Pass@{K}, from outcomes": lambda: [se.pass_at_k(x, K) for x in R],
        f"Pass^{K}, from counts": lambda: [se.pass_hat_k(x, K) for x in R],
        f"G-Pass@{K}, from counts": lambda: [se.g_pass_at_k_tau(x, K, 0.5) for x in R],
        f"mG-Pass@{K}, from counts": lambda: [se.mg_pass_at_k(x, K) for x in R],
        f"posterior Pass@{K}, from counts": lambda: [se.pass_at_k_ci(x, K) for x in R],
    }


MAKERS = {"bayeval": bayeval_tasks, "scorio": scorio_tasks}


def largest_size():
    """Largest resident size of this process so far, MiB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**20 if sys.platform == "darwin" else 2**10)


def measure(library, shape, task, repeat):
    """Shortest time in seconds, and memory in MiB, of one task in this process."""
    R = outcomes(SHAPES[shape])
    # A first run on little data imports what the task needs.
    MAKERS[library](R[:2, :50, :20].copy())[task]()
    run, before = MAKERS[library](R)[task], largest_size()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return {"time": min(times), "memory": largest_size() - before}


def in_fresh_process(*arguments):
    run = subprocess.run([sys.executable, __file__, "--one", json.dumps(arguments)],
                         capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(f"{arguments} failed:\n{run.stderr}")
    return json.loads(run.stdout)


def in_words(result):
    if result is None:
        return f"{'-':>12} {'':>9}"
    seconds = result["time"]
    took = f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"
    return f"{took:>12} {result['memory']:>5.0f} MiB"


def say(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--shape", choices=SHAPES, help="one size alone")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        say(json.dumps(measure(*json.loads(options.one))))
        return 0
    tiny = np.zeros((1, 2, K + 1), dtype=np.int8)
    tasks = {library: list(make(tiny)) for library, make in MAKERS.items()}
    promise = None
    for shape in [options.shape] if options.shape else SHAPES:
        say(f"\n{shape} (models x questions x attempts, int8)\n"
            f"{'':41}{'bayeval':>12} {'':>9}  {'scorio':>12} {'':>9}  {'faster':>7}")
        for task in tasks["bayeval"]:
            if shape == LARGE and "Pass" in task and "from outcomes" not in task:
                continue  # counted once, its size no longer matters
            one_model = SHAPES[shape][0] == 1 and "ranking" in task
            pair = [in_fresh_process(library, shape, task, options.repeat)
                    if task in tasks[library] and not one_model else None for library in MAKERS]
            if pair[0] is None:
                continue
            ratio = f"{pair[1]['time'] / pair[0]['time']:6.1f}x" if pair[1] else ""
            say(f"{task:41}{in_words(pair[0])}  {in_words(pair[1])}  {ratio:>7}")
            if (shape, task) == (LARGE, "ranking by Bayes@N, from outcomes"):
                promise = pair
    if promise is None:
        return 0
    faster, memory = promise[1]["time"] / promise[0]["time"], promise[0]["memory"]
    kept = faster >= 5 and memory <= 100
    say(f"\nRanking {LARGE}: {faster:.1f} times as fast (promised: 5), with {memory:.0f} MiB "
        f"beyond the input (promised: at most 100): {'kept' if kept else 'NOT KEPT'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())

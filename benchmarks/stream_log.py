"""Time and memory to read a log of two million attempts, about 1 GB of JSON lines.

Run with ``python benchmarks/stream_log.py [FORMAT ...]``; formats: jsonl, csv, parquet. The file is
made in a temporary folder. Each reading runs in a process of its own, whose peak is printed.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS, MODELS, QUESTIONS = 2_000_000, 20, 1000
ANSWER = "Let the unknown be x and write down what is given. " * 8
READ = """
import resource, sys, time
import bayeval as bv
calls = []
start = time.perf_counter()
o = bv.read(sys.argv[1], quiet=True, progress=lambda *step: calls.append(step[1]))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
assert int(o.n_trials.sum()) == int(sys.argv[2]), o
assert int(o.successes.sum()) == int(sys.argv[3]), o
print(f"{seconds:.1f} s, peak {peak:.0f} MiB, {len(calls)} steps of progress, {o}")
"""


def blocks(rng):
    """Columns of the rows, in blocks."""
    trials = ROWS // (MODELS * QUESTIONS)
    for model in range(MODELS):
        question = np.repeat(np.arange(QUESTIONS), trials)
        trial = np.tile(np.arange(trials), QUESTIONS)
        yield f"model-{model}", question, trial, rng.integers(0, 2, len(question))


def write(path, rng):
    """Write the file; returns the number of successes."""
    successes, writer = 0, None
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write("model,question_id,trial,correct,answer\n")
        for model, question, trial, right in blocks(rng):
            successes += int(right.sum())
            if path.suffix == ".parquet":
                import pyarrow as pa
                import pyarrow.parquet as pq

                table = pa.table({"model": [model] * len(question), "question_id": question,
                                  "trial": trial, "correct": right,
                                  "answer": [ANSWER] * len(question)})
                writer = writer or pq.ParquetWriter(path, table.schema)
                writer.write_table(table)
                continue
            rows = zip(question.tolist(), trial.tolist(), right.tolist())
            if path.suffix == ".csv":
                file.writelines(f"{model},q{q},{t},{r},{ANSWER}\n" for q, t, r in rows)
            else:
                file.writelines(json.dumps({"model": model, "question_id": f"q{q}", "trial": t,
                                            "correct": bool(r), "answer": ANSWER}) + "\n"
                                for q, t, r in rows)
    if writer is not None:
        writer.close()
    return successes


def main():
    with tempfile.TemporaryDirectory() as folder:
        for kind in sys.argv[1:] or ["jsonl", "csv", "parquet"]:
            path = Path(folder) / f"runs.{kind}"
            successes = write(path, np.random.default_rng(1))
            size = path.stat().st_size / 1e9
            run = subprocess.run([sys.executable, "-c", READ, str(path), str(ROWS),
                                  str(successes)], capture_output=True, text=True, check=True)
            sys.stdout.write(f"{kind}, {size:.2f} GB: {run.stdout}")
            path.unlink()


if __name__ == "__main__":
    main()

"""Logs written by the real tools, offline: Inspect with its mock model, the harness with its dummy.

Each tool runs once, in a process of its own; what it should have counted is computed apart from it.
"""

import atexit
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

QUESTIONS, EPOCHS = 6, 4
RATES = {"small": 0.3, "large": 0.8}
BROKEN = {("q3", 2), ("q5", 1)}  # sample and epoch whose tool fails, for both models
TASKS = ("first", "each", "pick")


def right(model, question, epoch):
    """Whether the mock model answers rightly: fixed for each attempt."""
    return random.Random(f"{model} {question} {epoch}").random() < RATES[model]


@functools.cache
def inspect_logs():
    """Folder with ``eval/`` and ``json/`` (two models), ``letters/``, ``cancelled/``, ``two/``."""
    return _made("inspect")


@functools.cache
def harness_logs():
    """Folder with two runs of the dummy model at three tasks, and one of another name."""
    return _made("harness")


def _made(tool):
    folder = Path(tempfile.mkdtemp(prefix=f"{tool}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    env = os.environ | {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1",
                        "HF_HOME": str(folder / "hf"), "INSPECT_LOG_LEVEL": "error"}
    run = subprocess.run([sys.executable, __file__, tool, str(folder)], env=env, cwd=folder,
                         capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    return folder


def write_inspect(folder):
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, accuracy, match, scorer
    from inspect_ai.solver import solver

    # A shell starts what it runs in the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    samples = MemoryDataset([Sample(id=f"q{i}", input="What is 2 + 2?", target="4")
                             for i in range(QUESTIONS)], name="sums")

    @solver
    def answer(stop=False, broken=frozenset()):
        async def solve(state, generate):
            if (state.sample_id, state.epoch) in broken:
                raise RuntimeError("the tool broke")
            if stop and state.sample_id == "q3":
                os.kill(os.getpid(), signal.SIGINT)
                import anyio
                await anyio.sleep(60)
            model = state.metadata.get("model") or str(state.model).split("/")[-1]
            good = right(model, state.sample_id, state.epoch)
            output = ModelOutput.from_content(str(state.model), "ANSWER: 4" if good else "5")
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            state.output = output
            return state
        return solve

    @scorer(metrics=[accuracy()])
    def letters():
        async def score(state, target):
            return Score(value="CPIN"[(int(state.sample_id[1:]) + state.epoch) % 4])
        return score

    def run(name, where, kind="eval", epochs=EPOCHS, scorers=None, **solving):
        return eval(Task(dataset=samples, solver=answer(**solving), scorer=scorers or match(),
                         epochs=epochs, name="sums"),
                    model=get_model(f"mockllm/{name}"), log_dir=str(folder / where),
                    log_format=kind, display="none", fail_on_error=False, max_samples=1)

    for name in RATES:
        for kind in ("eval", "json"):
            run(name, kind, kind, broken=BROKEN)
    run("small", "letters", scorers=letters())
    run("small", "two", scorers=[match(), letters()])
    run("small", "again", epochs=2)
    run("small", "again", epochs=2)
    run("small", "cancelled", stop=True)


def write_harness(folder):
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    docs = [{"question": f"Say something, {i}.", "answer": "lol" if i % 3 else "no"}
            for i in range(QUESTIONS)]
    (folder / "docs.jsonl").write_text("\n".join(map(json.dumps, docs)))
    (folder / "scoring.py").write_text(
        "def each(doc, results):\n"
        "    return {'exact_match': [float(r == doc['answer']) for r in results[0]]}\n\n\n"
        "def mean(x):\n    return sum(map(sum, x)) / sum(map(len, x))\n")
    data = f"dataset_path: json\ndataset_kwargs:\n  data_files: {folder}/docs.jsonl\n" \
        "test_split: train\ndoc_to_text: '{{question}}'\ndoc_to_target: '{{answer}}'\n"
    several = "output_type: generate_until\nrepeats: 4\n" \
        "generation_kwargs: {until: ['.'], do_sample: true}\n"
    (folder / "first.yaml").write_text(
        f"task: first\n{data}{several}metric_list:\n  - metric: exact_match\n")
    (folder / "each.yaml").write_text(
        f"task: each\n{data}{several}process_results: !function scoring.each\n"
        "filter_list:\n  - name: every\n    filter:\n      - function: take_first_k\n        k: 4\n"
        "metric_list:\n  - metric: exact_match\n    aggregation: !function scoring.mean\n"
        "    higher_is_better: true\n")
    (folder / "pick.yaml").write_text(
        f"task: pick\n{data}output_type: multiple_choice\ndoc_to_choice: ['lol', 'no']\n"
        "metric_list:\n  - metric: acc\n  - metric: acc_norm\n")
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    for seed, name in enumerate(("one", "one", "two")):
        tracker = EvaluationTracker(output_path=str(folder / "out"))
        random.seed(seed)
        results = simple_evaluate(model="dummy", model_args=f"pretrained={name}",
                                  tasks=list(TASKS), task_manager=manager, log_samples=True,
                                  bootstrap_iters=0, evaluation_tracker=tracker,
                                  random_seed=seed)
        logged = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=logged)
        for task, rows in logged.items():
            tracker.save_results_samples(task_name=task, samples=rows)


if __name__ == "__main__":
    {"inspect": write_inspect, "harness": write_harness}[sys.argv[1]](Path(sys.argv[2]))

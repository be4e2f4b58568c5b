"""Logs of Inspect (`.eval` and `.json`), read with Inspect's own functions."""

from __future__ import annotations

import math
import zipfile
import zlib

import numpy as np

from bayeval.readers._tally import ERRORED, UNSCORED, hashes

# Inspect's own values of its letters: correct, incorrect, partly correct, no answer.
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
# Of a `.eval` file only header and summaries are read. They are text: more than this, or packed
# more tightly than any text, is no log.
MAX_ENTRY = 1 << 30
MAX_RATIO = 1000
MAX_JSON = 1 << 30


def add(tally, path, *, metric=None):
    """Add the samples of one log; returns what was taken for what, and what is surprising."""
    try:
        from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
    except ImportError:
        raise ValueError("logs of Inspect need the package inspect-ai: "
                         "pip install 'bayeval[logs]'") from None
    _refuse_bombs(path)
    try:
        if path.suffix == ".eval":
            header = read_eval_log(str(path), header_only=True)
            samples = read_eval_log_sample_summaries(str(path))
        else:  # the summaries of JSON logs are cached by their path, and may be stale
            header = read_eval_log(str(path))
            samples = [sample.summary() for sample in header.samples or []]
    except Exception as error:  # the library raises whatever its parsers raise
        raise ValueError(f"Inspect cannot read it ({_short(error)})") from None
    spec = header.eval
    epochs = spec.config.epochs or 1
    ids = spec.dataset.sample_ids or list(dict.fromkeys(s.id for s in samples))
    if spec.task_id not in tally.seen_tasks:  # a log that was retried plans nothing new
        tally.seen_tasks.add(spec.task_id)
        tally.plan(spec.model, [(spec.task, i) for i in ids], epochs)
    name = _metric([name for s in samples for name in _names(s.scores)], metric)
    codes, errored, unscored, letters = [], 0, 0, set()
    for s in samples:
        value = _value(s.scores, name)
        letters |= {value} & LETTERS.keys() if isinstance(value, str) else set()
        code = tally.score(value, LETTERS)
        if code == UNSCORED and s.error:
            code, errored = ERRORED, errored + 1
        unscored += code == UNSCORED
        codes.append(code)
    n = len(samples)
    model = np.repeat(tally.codes("models", [spec.model]), n)
    question = tally.codes("questions", [(spec.task, s.id) for s in samples])
    trial = hashes(np.array([f"{spec.task_id}/{s.epoch}" for s in samples], dtype=object)) \
        if n else np.empty(0, dtype=np.int64)
    if n:
        tally.add(model, question, np.array(codes, dtype=np.int64), trial=trial)
    planned = epochs * len(ids)
    notes = []
    if header.status != "success":
        notes.append(f"the run has the status {header.status!r}: {n} of {planned} planned "
                     "attempts are on record")
    elif n < planned:
        notes.append(f"{n} of {planned} planned attempts are on record")
    if "N" in letters:
        notes.append("attempts without an answer (N) count as wrong, as Inspect counts them")
    return {"format": "Inspect log", "models": [spec.model], "rows": n, "errored": errored,
            "unscored": int(unscored),
            "taken": f"model from eval.model, question from sample id of task {spec.task!r}, "
                     f"score of {name!r}, {epochs} epoch{'s' * (epochs > 1)}"}, notes


def is_log(start):
    """Whether the first bytes of a `.json` file are those of a log."""
    return start.lstrip()[:1] == b"{" and b'"eval"' in start and b'"status"' in start


def _refuse_bombs(path):
    if path.suffix != ".eval":
        if path.stat().st_size > MAX_JSON:
            raise ValueError("a JSON log of more than 1 GiB does not fit in memory: write `.eval` "
                             "files, or convert it with `inspect log convert`")
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.filename.startswith("samples/"):
                    continue  # never opened here
                ratio = entry.file_size / max(entry.compress_size, 1)
                if entry.file_size > MAX_ENTRY or (ratio > MAX_RATIO and entry.file_size > 1 << 20):
                    raise ValueError(f"entry {entry.filename!r} unpacks to {entry.file_size} bytes "
                                     f"from {entry.compress_size}: that is no log")
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        raise ValueError(f"it is no whole .eval file ({error})") from None


def _names(scores):
    """Names of the scores of a sample; the parts of a score of several numbers are named too."""
    for name, score in (scores or {}).items():
        if isinstance(score.value, dict):
            yield from (f"{name}/{part}" for part in score.value)
        elif isinstance(score.value, list | tuple):
            yield from (f"{name}/{i}" for i in range(len(score.value)))
        else:
            yield name


def _metric(found, wanted):
    found = list(dict.fromkeys(found))
    if wanted is not None:
        matching = [name for name in found if name == wanted] or \
            [name for name in found if name.split("/")[-1] == wanted]
        if len(matching) != 1 and found:
            raise ValueError(f"metric {wanted!r} is not one of {', '.join(map(repr, found))}")
        return matching[0] if matching else wanted
    if len(found) > 1:
        raise ValueError(f"it has {len(found)} metrics, {', '.join(map(repr, found[:8]))}: choose "
                         "one (metric)")
    return found[0] if found else "none"


def _value(scores, name):
    for scorer, score in (scores or {}).items():
        if scorer == name:
            value = score.value
            return None if isinstance(value, float) and math.isnan(value) else value
        if name.startswith(f"{scorer}/") and isinstance(score.value, dict | list | tuple):
            part = name[len(scorer) + 1:]
            if isinstance(score.value, dict):
                return score.value.get(part)
            return score.value[int(part)] if int(part) < len(score.value) else None
    return None


def _short(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) < 200 else f"{text[:200]}..."

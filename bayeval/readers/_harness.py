"""Samples that lm-evaluation-harness logs: `samples_<task>_<date>.jsonl`."""

from __future__ import annotations

import json
import re

import numpy as np

from bayeval.readers import _stream
from bayeval.readers._tally import UNSCORED, hashes

KEYS = {"doc_id", "resps", "filtered_resps"}
NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")


def is_log(row):
    """Whether a row of JSON is a sample of the harness."""
    return isinstance(row, dict) and row.keys() >= KEYS


def add(tally, path, *, metric=None, filter=None, progress=None):
    """Add the samples of one file; returns what was taken for what, and what is surprising."""
    name = NAME.match(path.name)
    task = name["task"] if name else path.stem
    model, where = model_of(path)
    chosen, filters, own = metric, {}, filter
    rows = unscored = voted = extra = several = 0
    prints = {}
    for block in _stream.rows(path, progress):
        question, score, trial, extras = [], [], [], []
        for row in block:
            if not is_log(row):
                raise ValueError(f"row {rows + 1} is no sample of the harness: it lacks "
                                 f"{', '.join(sorted(KEYS - dict(row).keys()))}")
            if chosen is None or not rows:
                chosen = _one("metric", row.get("metrics") or _usual(row), metric)
            if isinstance(row.get("filter"), str):
                filters[row["filter"]] = None
                own = own or row["filter"]
                if row["filter"] != own:  # the samples of one filter follow those of another
                    continue
            label = (task, row["doc_id"])
            prints[label] = row.get("doc_hash")
            values = row.get(chosen)
            values = values if isinstance(values, list) else [values]
            several += len(values) > 1
            n, vote = _repeats(row) if len(values) == 1 else (len(values), False)
            voted += vote
            for i, value in enumerate(values):
                question.append(label)
                score.append(tally.score(value))
                trial.append(f"{path}/{i}")
            extras += [label] * (n - len(values))
            extra += n - len(values)
        rows += len(block)
        score = np.array(score, dtype=np.int64)
        unscored += int((score == UNSCORED).sum())
        if question:
            m = np.repeat(tally.codes("models", [model]), len(question))
            tally.add(m, tally.codes("questions", question), score,
                      trial=hashes(np.array(trial, dtype=object)))
        if extras:
            m = np.repeat(tally.codes("models", [model]), len(extras))
            tally.add(m, tally.codes("questions", extras),
                      np.full(len(extras), UNSCORED, dtype=np.int64))
    if filters:
        _one("filter", filters, filter)
    for label, found in prints.items():
        tally.same_question(label, found, path)
    notes = []
    if extra:
        notes.append(f"{extra} repeats were generated but not scored: the filter {own!r} takes "
                     "the first answer of each question, so they are missing")
    if voted:
        notes.append(f"at {voted} questions the filter {own!r} makes one answer of several: "
                     "each such answer is one attempt")
    return {"format": "lm-evaluation-harness samples", "models": [model], "rows": rows,
            "errored": 0, "unscored": unscored + extra,
            "taken": f"model from {where}, question from doc_id of task {task!r}, score from "
                     f"{chosen!r}" + (f", filter {own!r}" if own else "")
                     + (", a list of one score a repeat" if several else "")}, notes


def model_of(path):
    """Name of the model, from the results beside the samples or from the folder; and which."""
    name = NAME.match(path.name)
    for results in [path.parent / f"results_{name['date']}.json"] if name else []:
        try:
            with open(results, encoding="utf-8") as file:
                model = json.load(file).get("model_name")
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(model, str) and model:
            return model, results.name
    return path.resolve().parent.name or path.stem, "the folder"


def _usual(row):
    """Names of metrics that older logs do not list."""
    return [name for name in ("acc", "exact_match", "pass@1") if name in row]


def _one(what, found, wanted):
    shown = ", ".join(map(repr, found))
    if wanted is not None:
        if wanted not in found:
            raise ValueError(f"{what} {wanted!r} is not one of {shown or 'those logged: none'}")
        return wanted
    if len(found) != 1:
        raise ValueError(f"it has {len(found)} {what}s, {shown}: choose one ({what})" if found
                         else f"it names no {what}")
    return next(iter(found))


def _repeats(row):
    """Attempts at the question, and whether one answer was made of several of them."""
    resps, filtered = row["resps"], row["filtered_resps"]
    if not resps or not isinstance(resps[0], list) or not filtered:
        return 1, False
    n = len(resps[0])
    if n == 1:
        return 1, False
    return (n, False) if filtered[0] == resps[0][0] else (1, True)

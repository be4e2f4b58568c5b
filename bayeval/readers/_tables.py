"""Tables of attempts or counts: CSV, JSON lines and Parquet, tidy or wide."""

from __future__ import annotations

import re

import numpy as np

from bayeval import _validate as check
from bayeval.readers import _stream
from bayeval.readers._tally import ERRORED, NOTHING, UNSCORED, hashes

# What the columns of a role may be called. Names in the second list count only if none of the
# first is there.
ROLES = {
    "model": (["model", "model_name", "model_id", "llm"], ["system", "agent", "policy"]),
    "question": (["question", "question_id", "problem", "problem_id", "task_id", "item", "item_id",
                  "sample_id", "doc_id", "instance_id", "prompt_id", "qid"], ["task", "id"]),
    "outcome": (["outcome", "correct", "is_correct", "success", "passed", "resolved", "score",
                 "right", "reward"], ["result", "accuracy", "acc", "exact_match", "value"]),
    "trial": (["trial", "attempt", "epoch", "repeat", "repetition", "rollout", "trial_id",
               "attempt_id"], ["run", "run_id", "sample", "seed"]),
    "successes": (["successes", "n_success", "n_correct", "num_correct", "n_successes"], ["c"]),
    "trials": (["trials", "n_trials", "n_attempts", "num_samples", "n_samples", "attempts"],
               ["n", "total"]),
    "planned": (["planned", "n_planned"], []),
    "errors": (["errors", "n_errors"], []),
    "error": (["error", "exception", "errored", "error_message"], []),
    "task": (["benchmark", "dataset", "suite"], []),
}
REPEAT = re.compile(r"(?P<name>.+)\.(?P<number>[1-9]\d*)")


def add(tally, path, *, columns, repeats=None, progress=None):
    """Add the rows of one file; returns what was taken for what, and what is surprising."""
    kind = _stream.suffix(path)
    if kind == ".parquet":
        schema = _stream.parquet_schema(path)
        names = [f.name for f in schema]
        scalar = [not str(f.type).startswith(("struct", "list", "large_list", "map"))
                  for f in schema]
        shape, batches = "Parquet", _stream.parquet_batches
        if len(set(names)) < len(names):
            raise ValueError("two of its columns have one name")
    elif kind in (".jsonl", ".ndjson", ".json"):
        head = next(_stream.rows(path), [])[:1000]
        names = list(dict.fromkeys(key for row in head for key in row))
        scalar = [not any(isinstance(row.get(name), dict | list) for row in head)
                  for name in names]
        shape, batches = "JSON", _stream.json_batches
    else:
        names, separator = _stream.csv_header(path)
        scalar = [True] * len(names)
        shape = "CSV"

        def batches(path, names, wanted, progress):
            return _stream.csv_batches(path, names, separator, wanted, progress)

    if not names:
        raise ValueError("it is empty")
    at = roles(names, scalar, columns)
    if "outcome" not in at and "successes" not in at:
        return _add_wide(tally, path, names, at, shape, batches, repeats, progress)
    if "question" not in at:
        raise ValueError(f"none of its columns names the question: say which (question); they are "
                         f"{_shown(names)}")
    label = path.name.split(".")[0]
    reader = _Rows(tally, at, label)
    for batch in batches(path, names, sorted(set(at.values())), progress):
        reader.add(batch)
    if not reader.rows:
        raise ValueError("it has no rows")
    taken = ", ".join(f"{role} from {names[i]!r}" for role, i in at.items())
    if "model" not in at:
        taken = f"model from the name of the file, {taken}"
    what = "attempts" if "outcome" in at else "counts"
    return {"format": f"{shape} table of {what}", "models": list(reader.models),
            "rows": reader.rows, "errored": reader.errored, "unscored": reader.unscored,
            "taken": taken}, []


def roles(names, scalar, columns):
    """Position of the column of each role: as given, else by its name."""
    known = {role: name for role, name in columns.items() if name is not None}
    at = {}
    for role, name in known.items():
        found = [i for i, own in enumerate(names) if own == name]
        if len(found) != 1:
            raise ValueError(f"{role}={name!r} is " + ("no column" if not found else
                             f"the name of {len(found)} columns") + f"; they are {_shown(names)}")
        at[role] = found[0]
    plain = [re.sub(r"[\s.-]+", "_", name.strip().lower()) for name in names]
    for role, tiers in ROLES.items():
        if role in at:
            continue
        for tier in tiers:
            found = [i for i, own in enumerate(plain)
                     if own in tier and scalar[i] and i not in at.values()]
            if found:
                break
        else:
            continue
        if len(found) > 1:
            raise ValueError(f"columns {' and '.join(repr(names[i]) for i in found[:4])} could "
                             f"each be the {role}: say which ({role})")
        at[role] = found[0]
    counted = "successes" in at and "trials" in at
    if counted and "outcome" in at and "outcome" not in known and "successes" not in known:
        raise ValueError(f"it has outcomes ({names[at['outcome']]!r}) and counts "
                         f"({names[at['successes']]!r}): say which (outcome, or successes and "
                         "trials)")
    drop = {"outcome", "trial", "error"} if counted and "outcome" not in known else \
        {"successes", "trials", "planned", "errors"}
    return {role: i for role, i in at.items() if role not in drop}


class _Rows:
    """Adds blocks of a tidy table."""

    def __init__(self, tally, at, label):
        self.tally, self.at, self.label = tally, at, label
        self.rows = self.errored = self.unscored = 0
        self.models, self.cells = {}, set()

    def add(self, batch):
        tally, at = self.tally, self.at
        n = len(next(iter(batch.values())))
        if not n:
            return
        if "model" in at:
            names, index = _distinct(batch[at["model"]])
            self.models |= dict.fromkeys(str(x) for x in names)
            model = tally.codes("models", names)[index]
        else:
            self.models[self.label] = None
            model = np.repeat(tally.codes("models", [self.label]), n)
        names, index = _distinct(batch[at["question"]])
        if "task" in at:
            tasks, task = _distinct(batch[at["task"]])
            pairs, index = np.unique(np.stack([task, index]), axis=1, return_inverse=True)
            names = [(tasks[t], names[q]) for t, q in pairs.T]
            index = index.ravel()
        else:
            names = [(None, name) for name in names]
        question = tally.codes("questions", names)[index]
        if "successes" in at:
            self._add_counts(batch, model, question)
        else:
            self._add_attempts(batch, model, question, n)
        self.rows += n

    def _add_attempts(self, batch, model, question, n):
        tally, at = self.tally, self.at
        values, index = _distinct(batch[at["outcome"]])
        score = np.array([tally.score(value) for value in values], dtype=np.int64)[index]
        if "error" in at:
            values, index = _distinct(batch[at["error"]])
            error = np.array([_is_error(value) for value in values], dtype=bool)[index]
            score = np.where(error & (score == UNSCORED), ERRORED, score)
        trial = None
        if "trial" in at:
            values, index = _distinct(batch[at["trial"]])
            trial = hashes(np.array([str(value) for value in values], dtype=object))[index]
        self.errored += int((score == ERRORED).sum())
        self.unscored += int((score == UNSCORED).sum())
        tally.add(model, question, score, trial=trial)

    def _add_counts(self, batch, model, question):
        s, n = (check.counts(role, _as_numbers(batch[self.at[role]], role))
                for role in ("successes", "trials"))
        if (s > n).any():
            i = int(np.argmax(s > n))
            raise ValueError(f"row {self.rows + i + 1} has {s[i]} successes in {n[i]} trials")
        planned = check.counts("planned", _as_numbers(batch[self.at["planned"]], "planned")) \
            if "planned" in self.at else n
        if (planned < n).any():
            i = int(np.argmax(planned < n))
            raise ValueError(f"row {self.rows + i + 1} has {planned[i]} planned attempts and "
                             f"{n[i]} trials")
        missing = planned - n
        errors = check.counts("errors", _as_numbers(batch[self.at["errors"]], "errors")) \
            if "errors" in self.at else np.zeros_like(n)
        if (errors > missing).any():
            i = int(np.argmax(errors > missing))
            raise ValueError(f"row {self.rows + i + 1} has {errors[i]} errors, but {missing[i]} "
                             "planned attempts without a score")
        before = len(self.cells)
        self.cells |= set(zip(model.tolist(), question.tolist()))
        if len(self.cells) < before + len(s):
            raise ValueError("a model has more than one row of counts for a question: add them "
                             "first, or name the column that tells the rows apart (task)")
        for value, count in ((1.0, s), (0.0, n - s)):
            score = np.full(len(s), self.tally.score(value), dtype=np.int64)
            self.tally.add(model, question, score, count=count)
        for code, count in ((ERRORED, errors), (UNSCORED, missing - errors)):
            self.tally.add(model, question, np.full(len(s), code, dtype=np.int64), count=count)
        self.errored += int(errors.sum())
        self.unscored += int((missing - errors).sum())


def _add_wide(tally, path, names, at, shape, batches, repeats, progress):
    """A column a model: named again, or with .1, .2, ... behind the name, for its repeats."""
    if "model" in at or "trial" in at:
        raise ValueError(f"none of its columns holds the score: say which (outcome, or successes "
                         f"and trials); they are {_shown(names)}")
    notes = []
    head = next(batches(path, names, list(range(len(names))), None), None)
    if head is None:
        raise ValueError("it has no rows")
    if "question" not in at and (not names[0] or names[0].lower().startswith("unnamed")
                                 or not all(_is_score(x) for x in _distinct(head[0])[0])):
        at = {**at, "question": 0}
    used = set(at.values())
    columns = [i for i in range(len(names)) if i not in used]
    bad = [names[i] for i in columns if not all(_is_score(x) for x in _distinct(head[i])[0])]
    if bad or not columns:
        raise ValueError(f"none of its columns holds the score (outcome), and column "
                         f"{(bad or names)[0]!r} holds no scores of a model; they are "
                         f"{_shown(names)}")
    models = _models_of(columns, names, repeats, notes, path.name.split(".")[0])
    rows = unscored = 0
    seen = {}
    for batch in batches(path, names, list(range(len(names))), progress):
        n = len(next(iter(batch.values())))
        if "question" in at:
            labels, index = _distinct(batch[at["question"]])
            question = tally.codes("questions", [(None, x) for x in labels])[index]
        else:
            question = tally.codes("questions", [(None, f"q{rows + i + 1}") for i in range(n)])
        for code, count in zip(*np.unique(question, return_counts=True)):
            seen[int(code)] = seen.get(int(code), 0) + int(count)
        for i in columns:
            values, index = _distinct(batch[i])
            score = np.array([tally.score(value) for value in values], dtype=np.int64)[index]
            unscored += int((score == UNSCORED).sum())
            tally.add(np.repeat(tally.codes("models", [models[i]]), n), question, score)
        rows += n
    if not rows:
        raise ValueError("it has no rows")
    repeated = sum(count > 1 for count in seen.values())
    if repeated:
        notes.append(f"{repeated} questions have more than one row: each row is one attempt of "
                     "every model")
    of_question = f"question from {names[at['question']]!r}" if "question" in at else \
        "one question a row"
    return {"format": f"wide {shape} table", "models": list(dict.fromkeys(models.values())),
            "rows": rows, "errored": 0, "unscored": unscored,
            "taken": f"{of_question}, one column an attempt of a model"}, notes


def _models_of(columns, names, repeats, notes, label):
    """Model of each column, told from its name."""
    present = {names[i] for i in columns}
    if len(present) > 1 and all(name.isdecimal() for name in present) and repeats is not False:
        if repeats is None:
            raise ValueError(f"its columns are numbered ({_shown(sorted(present, key=int))}): they "
                             "could be trials of one model (repeats=True) or models "
                             "(repeats=False): say which (repeats)")
        return dict.fromkeys(columns, label)
    base = {}
    for name in present:
        match = REPEAT.fullmatch(name)
        if match and repeats is not False and match["name"] in present:
            base[name] = match["name"]
    if base and repeats is None:
        runs = {name: {int(REPEAT.fullmatch(x)["number"]) for x, b in base.items() if b == name}
                for name in set(base.values())}
        plain = present - base.keys()
        even = {len(runs.get(name, ())) for name in plain}
        if len(even) > 1 or len(plain) == 1 == max(even) \
                or any(found != set(range(1, len(found) + 1)) for found in runs.values()):
            example = min(base)
            raise ValueError(f"column {example!r} could be a repeat of {base[example]!r} or a "
                             "model of its own: say which (repeats)")
        notes.append(f"columns such as {min(base)!r} were taken for repeats of "
                     f"{base[min(base)]!r} (repeats=False if they are models)")
    return {i: base.get(names[i], names[i]) for i in columns}


def _distinct(column):
    """Distinct values of a column as a list, and the number of each row's value."""
    if isinstance(column, list):
        table = {}
        try:
            index = np.array([table.setdefault((type(x) is bool, x), len(table)) for x in column],
                             dtype=np.int64)
        except TypeError:
            raise ValueError("a column that should hold labels or scores holds lists or "
                             "objects") from None
        return [x for _, x in table], index
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _as_numbers(column, role):
    values, index = _distinct(column)
    try:
        return np.array([float(x) for x in values])[index]
    except (TypeError, ValueError):
        raise ValueError(f"{role} must be whole numbers; found "
                         f"{next(x for x in values if not _is_score(x) or x is None)!r}") from None


def _is_score(value):
    """Whether a value can stand in a column of scores."""
    if value is None or isinstance(value, bool | int | float):
        return True
    if not isinstance(value, str):
        return False
    if value.strip().lower() in NOTHING:
        return True
    try:
        float(value)
    except ValueError:
        return value.strip().lower() in ("true", "false")
    return True


def _is_error(value):
    if value is None or value is False or value == 0 or value != value:
        return False
    return not (isinstance(value, str) and value.strip().lower() in NOTHING | {"false", "0", "no"})


def _shown(names):
    shown = ", ".join(map(repr, names[:12]))
    return shown + (f" and {len(names) - 12} more" if len(names) > 12 else "")

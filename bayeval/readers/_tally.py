"""From the rows of logs to counts: labels become numbers, attempts are added cell by cell."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from bayeval import _validate as check
from bayeval.outcomes import WRONG_RIGHT

# Codes of an attempt without a score; those of scores follow.
UNSCORED, ERRORED, FIRST_SCORE = 0, 1, 2
# A key packs model, question and score into 63 bits.
SCORE_BITS, QUESTION_BITS, MODEL_BITS = 12, 30, 21
# Rows are added up when this many are waiting.
PENDING = 1 << 20
# Up to this many different scores are the levels of a rubric, beyond it they are a measurement.
MAX_LEVELS = 10

WORDS = {word: value for value, words in (
    (1.0, ("true", "correct", "right", "pass", "passed", "success", "yes", "t", "y", "c")),
    (0.0, ("false", "incorrect", "wrong", "fail", "failed", "failure", "no", "f", "n", "i")),
) for word in words}
NOTHING = {"", "na", "n/a", "nan", "null", "none", "<na>"}


class Tally:
    """Counts of attempts by model, question and score, as the rows come in.

    With trials, each row keeps 16 bytes until the end, so that repeated rows can be found;
    without them the memory depends on the number of cells alone.
    """

    def __init__(self, *, threshold=None, categories=None):
        self.models, self.questions = {}, {}
        self.threshold = None if threshold is None else check.number("threshold", threshold)
        self.categories = None
        if categories is not None:
            labels = check.label_list("categories", categories)
            self.categories = list(check.labels(
                "categories", [_text(x) for x in labels], len(labels), ""))
            if len(labels) < 2:
                raise ValueError(f"categories must be at least two; found {labels}")
        self.scores = {}  # a number or a text, to its code
        self.rows, self.waiting, self.rows_of_trials = [], 0, []
        self.planned, self.seen_tasks = {}, set()
        self.one_model = None  # a label that stands for every model
        self.prints = {}  # question label to a hash of what it asks, and where that was found
        self.repeated = self.superseded = 0

    # -- labels and scores ----------------------------------------------------------------

    def codes(self, axis, labels):
        """Numbers of the labels of one axis: of "models", or of "questions" as (task, label)."""
        table = getattr(self, axis)
        most = 1 << (MODEL_BITS if axis == "models" else QUESTION_BITS)
        out = np.empty(len(labels), dtype=np.int64)
        for i, label in enumerate(labels):
            if axis == "questions":
                task, own = label
                label = ("" if task is None else _text(task), _label(own, axis))
            else:
                label = _label(label, axis) if self.one_model is None else self.one_model
            out[i] = table.setdefault(label, len(table))
        if len(table) > most:
            raise ValueError(f"more than {most} {axis}: that column holds no labels of {axis}")
        return out

    def score(self, value, letters=None):
        """Code of one score; missing ones and NaN are UNSCORED."""
        if value is None or value is pd.NA:
            return UNSCORED
        if letters and value in letters:
            value = letters[value]
        if isinstance(value, str):
            text = value.strip()
            if text.lower() in NOTHING and text not in (self.categories or ()):
                return UNSCORED
            if self.categories is not None and text in self.categories:
                return self._code(text)
            value = _number(text)
            if value is None:
                value = WORDS.get(text.lower(), text)
        elif isinstance(value, bool | np.bool_ | int | float | np.integer | np.floating):
            value = float(value)
        else:
            raise ValueError(f"a score must be a number or a word; found {type(value).__name__}")
        if isinstance(value, float):
            if math.isnan(value):
                return UNSCORED
            if math.isinf(value):
                raise ValueError("a score is infinite")
            if self.threshold is not None:
                value = float(value >= self.threshold)
        return self._code(value)

    def _code(self, value):
        code = self.scores.setdefault(value, len(self.scores) + FIRST_SCORE)
        if code >= 1 << SCORE_BITS:
            raise ValueError(f"the scores take more than {code - FIRST_SCORE} values: say from "
                             "which one on an attempt is right (threshold)")
        return code

    def same_question(self, label, print_, where):
        """Refuse two files in which one label stands for different questions."""
        if print_ is None:
            return
        first, found = self.prints.setdefault(label, (print_, where))
        if first != print_:
            raise ValueError(f"question {label[-1]!r} is not the same in {found} and in {where}: "
                             "the files are of different benchmarks, or of different versions")

    # -- adding rows ------------------------------------------------------------------------

    def add(self, model, question, score, *, count=None, trial=None):
        """Add rows of codes; `count` weighs them, `trial` holds 64-bit hashes of their trials."""
        key = (model << (QUESTION_BITS + SCORE_BITS)) | (question << SCORE_BITS) | score
        if trial is not None:
            self.rows_of_trials.append((key, trial))
            return
        count = np.ones(len(key), dtype=np.int64) if count is None else count
        self.rows.append((key, count))
        self.waiting += len(key)
        if self.waiting > PENDING:
            self.rows = [self._sum()]
            self.waiting = 0

    def plan(self, model, questions, trials):
        """Note that `trials` attempts were planned of a model at each of the questions."""
        (row,) = self.codes("models", [model])
        for column in self.codes("questions", questions).tolist():
            self.planned[row, column] = self.planned.get((row, column), 0) + int(trials)

    def _sum(self):
        if not self.rows:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        keys, counts = (np.concatenate(x) for x in zip(*self.rows))
        keys, at = np.unique(keys, return_inverse=True)
        return keys, np.bincount(at, counts, len(keys)).astype(np.int64)

    def _without_repeats(self):
        """Rows of trials, each trial once: a score goes before an error, a conflict is refused."""
        if not self.rows_of_trials:
            return
        keys, trials = (np.concatenate(x) for x in zip(*self.rows_of_trials))
        self.rows_of_trials = []
        cells = keys >> SCORE_BITS
        scores = keys & ((1 << SCORE_BITS) - 1)
        # Within a trial the best-known row comes first: a score, then an error, then nothing.
        order = np.lexsort((-scores, trials, cells))
        cells, trials, scores = cells[order], trials[order], scores[order]
        keys = keys[order]
        del order
        same = np.concatenate([[False], (cells[1:] == cells[:-1]) & (trials[1:] == trials[:-1])])
        before = np.concatenate([[-1], scores[:-1]])
        conflict = same & (scores != before) & (scores >= FIRST_SCORE)
        if conflict.any():
            cell = int(cells[np.argmax(conflict)])
            model, question = cell >> QUESTION_BITS, cell & ((1 << QUESTION_BITS) - 1)
            raise ValueError(
                f"{int(conflict.sum())} trials stand twice with different scores, the first at "
                f"question {list(self.questions)[question][1]!r} of model "
                f"{list(self.models)[model]!r}: the column of trials does not number them, or "
                "two runs were put together")
        self.superseded = int((same & (scores != before)).sum())
        self.repeated = int(same.sum()) - self.superseded
        self.rows.append((keys[~same], np.ones(int((~same).sum()), dtype=np.int64)))

    # -- the result ---------------------------------------------------------------------------

    def finish(self, errors):
        """What `Outcomes` and `Reading` are made of, and what is surprising about the scores."""
        self._without_repeats()
        keys, count = self._sum()
        L, M = len(self.models), len(self.questions)
        if not len(keys) and not self.planned:
            raise ValueError("there is no attempt in it")
        model = keys >> (QUESTION_BITS + SCORE_BITS)
        question = (keys >> SCORE_BITS) & ((1 << QUESTION_BITS) - 1)
        code = keys & ((1 << SCORE_BITS) - 1)
        used = {value: c for value, c in self.scores.items() if (code == c).any()}
        labels, values, category, notes = self._categories(used)
        counts = np.zeros((L, M, len(labels)), dtype=np.int64)
        scored = code >= FIRST_SCORE
        np.add.at(counts, (model[scored], question[scored], category[code[scored]]), count[scored])
        errored, recorded = (np.zeros((L, M), dtype=np.int64) for _ in range(2))
        at = code == ERRORED
        np.add.at(errored, (model[at], question[at]), count[at])
        np.add.at(recorded, (model, question), count)
        if errors == "failed":
            counts[:, :, 0] += errored
        planned = np.zeros((L, M), dtype=np.int64)
        for (i, j), n in self.planned.items():
            planned[i, j] = n
        return {"counts": counts, "planned": np.maximum(planned, recorded), "errored": errored,
                "models": tuple(self.models), "questions": self._question_labels(),
                "categories": labels, "values": values}, notes

    def _question_labels(self):
        """Labels of the questions, with their tasks where there are several."""
        if len({task for task, _ in self.questions}) == 1:
            return tuple(label for _, label in self.questions)
        return tuple(f"{task}/{label}" if task else label for task, label in self.questions)

    def _categories(self, used):
        """Labels of the categories, their values, the category of each code, and what to say."""
        category = np.zeros(len(self.scores) + FIRST_SCORE, dtype=np.int64)
        if self.categories is not None:
            numbers = {x: i for i, x in enumerate(self.categories)}
            for value, code in used.items():
                if _text(value) not in numbers:
                    raise ValueError(f"the score {value!r} is not among the categories "
                                     f"{self.categories}")
                category[code] = numbers[_text(value)]
            values = [_number(x) for x in self.categories]
            return tuple(self.categories), None if None in values else tuple(values), category, []
        texts = [value for value in used if isinstance(value, str)]
        if texts:
            raise ValueError(f"scores such as {texts[0]!r} are neither numbers nor words for right "
                             "and wrong: give the categories, worst first, or another column")
        if set(used) <= {0.0, 1.0}:
            for value, code in used.items():
                category[code] = int(value)
            return WRONG_RIGHT, None, category, []
        levels = sorted(used)
        shown = ", ".join(f"{x:g}" for x in levels[:6]) + (", ..." if len(levels) > 6 else "")
        if not 3 <= len(levels) <= MAX_LEVELS:
            raise ValueError(
                f"the scores are not 0 and 1 but take the value{'s' * (len(levels) > 1)} {shown}: "
                "say from which one on an attempt is right (threshold)"
                + (", or give all levels (categories)" if len(levels) < 3 else ""))
        for i, value in enumerate(levels):
            category[used[value]] = i
        return (tuple(f"{x:g}" for x in levels), tuple(levels), category,
                [f"the scores are not 0 and 1: their {len(levels)} levels ({shown}) are the "
                 "categories, each weighted by its value"])


def hashes(*columns):
    """One 64-bit hash a row of columns of text or numbers."""
    out = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        h = pd.util.hash_array(np.asarray(column, dtype=object), categorize=False) \
            if np.asarray(column).dtype.kind in "OU" else pd.util.hash_array(np.asarray(column))
        out = out * np.uint64(0x9E3779B97F4A7C15) + h
    return out.view(np.int64)


def _label(label, axis):
    text = None if label is None or label is pd.NA or label != label else _text(label)
    if text is None or not text.strip():
        raise ValueError(f"a row has no {axis[:-1]}")
    return text


def _text(label):
    """A label as text; whole numbers without a point."""
    if isinstance(label, bool):
        return str(label)
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return str(int(label))
    return f"{label:g}" if isinstance(label, float) else str(label)


def _number(text):
    try:
        return float(text)
    except ValueError:
        return None

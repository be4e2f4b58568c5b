"""From the files that evaluations leave behind to counts: one function, `read`."""

from __future__ import annotations

import glob
import hashlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayeval import _validate as check
from bayeval.outcomes import Outcomes
from bayeval.readers import _harness, _inspect, _stream, _tables, _tensors
from bayeval.readers._tally import UNSCORED, Tally

__all__ = ["ReadWarning", "Reading", "Source", "combine", "paper_tensor", "read"]

FORMATS = ("inspect", "lm-eval", "table", "npz")
TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".json", ".parquet")
# Files that a folder of logs may hold beside them.
PASSED_OVER = ("results_", ".", "logs.json", "eval-set.json")
# The environment variable that names a file with the outcomes of "Don't Pass@k".
PAPER_NPZ = "BAYEVAL_PAPER_NPZ"
PAPER_KEYS = ("aime24", "aime25", "hmmt_feb_2025", "brumo_2025", "combined")


class ReadWarning(UserWarning):
    """Something in the files is surprising; the message says what was made of it."""


@dataclass(frozen=True)
class Source:
    """What one file was taken for; part of a `Reading`.

    Attributes
    ----------
    path, format, taken : str
        The file, its format, and which of its parts were read as what.
    models : tuple of str
    rows, errored, unscored : int
        Rows read, attempts that ended in an error, attempts without a score for no stated reason.
    """

    path: str
    format: str
    taken: str
    models: tuple
    rows: int
    errored: int
    unscored: int

    def __str__(self):
        return f"{self.path}: {self.format}, {self.rows} rows; {self.taken}"


@dataclass(frozen=True, eq=False, repr=False)
class Reading(Outcomes):
    """Counts read from files, and an account of how; made by `read`.

    Attributes
    ----------
    errored : ndarray of int64, shape (L, M)
        Attempts that ended in an error. They are missing or failures, as `errors` says.
    errors : {"missing", "failed"}
    values : tuple or None
        The score that each category stands for, if the scores were graded.
    sources : tuple of Source
        One for each file.
    notes : tuple of str
        What was surprising, and what was made of it.
    """

    errored: np.ndarray | None = None
    errors: str = "missing"
    values: tuple | None = None
    sources: tuple = ()
    notes: tuple = ()

    @property
    def account(self):
        """The sources and the notes as text, one a line."""
        return "\n".join([*map(str, self.sources), *(f"note: {note}" for note in self.notes)])


def read(paths, *, format=None, by="model", errors="missing", questions="all", metric=None,
         filter=None, threshold=None, categories=None, model=None, question=None, outcome=None,
         trial=None, successes=None, trials=None, error=None, task=None, repeats=None,
         quiet=False, progress=None):
    """Read evaluation logs of any known format as counts.

    Parameters
    ----------
    paths : path or list of paths
        Files, folders, or patterns such as ``"logs/*.eval"``. Known are logs of Inspect
        (``.eval``, ``.json``), samples of lm-evaluation-harness (``samples_*.jsonl``), tables of
        attempts or of counts (CSV, JSON lines, Parquet; tidy, or wide with one column an attempt
        of a model), and ``.npz`` tensors of shape (L, M, N). Text files may be packed with gzip,
        bzip2 or xz.
    format : {"inspect", "lm-eval", "table", "npz"}, optional
        By default told from the contents.
    by : {"model", "file"}, default "model"
        Whether several files of one model are further attempts, or models of their own.
    errors : {"missing", "failed"}, default "missing"
        What attempts are that ended in an error.
    questions : {"all", "shared"}, default "all"
        Whether to keep questions that some model was not asked.
    metric, filter : str, optional
        The score to read, and the filter of lm-evaluation-harness; needed if there are several.
        In an ``.npz`` file `metric` names the array.
    threshold : float, optional
        The score from which on an attempt is right, for scores other than 0 and 1.
    categories : sequence, optional
        All scores that occur, worst first, as the categories of a rubric.
    model, question, outcome, trial, successes, trials, error, task : str, optional
        Columns of a table, where their names do not tell.
    repeats : bool, optional
        Whether columns ``A.1``, ``A.2`` of a wide table are repeats of column ``A``.
    quiet : bool, default False
        Do not warn; the notes are in the result all the same.
    progress : callable, optional
        Called with the path, the bytes (or rows) read of it, and their total.

    Returns
    -------
    Reading
        `Outcomes` that also say what was taken for what (``print(o.account)``).

    Warns
    -----
    ReadWarning
        For each note: errored or unscored attempts, repeated rows, graded scores, runs that were
        cut short, questions that some model was not asked.

    Raises
    ------
    ValueError
        If a file cannot be read, or could be read in several ways; the message names the file and
        the option that settles it.

    Examples
    --------
    >>> import bayeval as bv, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp(), "runs.csv")
    >>> _ = file.write_text("model,problem,trial,correct\\nA,1,1,1\\nA,1,2,0\\nB,1,1,1\\n")
    >>> o = bv.read(file)
    >>> o.successes.tolist(), o.n_trials.tolist()
    ([[1], [1]], [[2], [1]])
    >>> print(o.sources[0].format)
    CSV table of attempts
    """
    check.choice("errors", errors, ("missing", "failed"))
    check.choice("questions", questions, ("all", "shared"))
    check.choice("by", by, ("model", "file"))
    if format is not None:
        check.choice("format", format, FORMATS)
    files = _expand(paths)
    columns = {"model": model, "question": question, "outcome": outcome, "trial": trial,
               "successes": successes, "trials": trials, "error": error, "task": task}
    tally = Tally(threshold=threshold, categories=categories)
    sources, of_model, notes, copies = [], {}, [], {}
    labels = _file_labels(files) if by == "file" else {}
    for path in files:
        tally.one_model = labels.get(path)
        step = None if progress is None else (lambda done, size, p=path: progress(p, done, size))
        try:
            kind = format or _recognise(path)
            copy, said = _refuse_copies(path, kind, copies) if len(files) > 1 else (False, [])
            notes += said
            if copy:
                continue
            found, said = _add(tally, path, kind, metric, filter, columns, repeats, step)
        except RecursionError:
            raise ValueError(f"{path}: it is nested too deeply") from None
        except ValueError as problem:
            raise ValueError(f"{path}: {problem}") from None
        if by == "file":
            found["models"] = [labels[path]]
        found["models"] = tuple(map(str, found["models"]))
        sources.append(Source(path=str(path), **found))
        notes += [f"{path.name}: {note}" for note in said]
        for name in found["models"]:
            of_model.setdefault(name, []).append(path.name)
    try:
        parts, said = tally.finish(errors)
    except ValueError as problem:
        raise ValueError(f"{_files(files)}: {problem}") from None
    notes += said + _surprises(tally, parts, errors, of_model)
    o = _reading(parts, errors, sources, notes)
    if questions == "shared":
        o = _shared(o)
    if not quiet:
        for note in o.notes:
            warnings.warn(note, ReadWarning, stacklevel=2)
    return o


def combine(parts):
    """Add up counts that were read apart, for instance one file on each machine.

    Parameters
    ----------
    parts : sequence of Outcomes
        With the same categories. Models and questions may differ: what has the same label is
        added. A trial that stands in two of the parts is counted twice.

    Returns
    -------
    Outcomes
        Models and questions in order of first appearance.

    Raises
    ------
    ValueError
        If there is no part, or the categories differ.

    Examples
    --------
    >>> import bayeval as bv
    >>> a = bv.Outcomes.from_counts([1, 0], 2, models=["A"], questions=["x", "y"])
    >>> b = bv.Outcomes.from_counts([2], 2, models=["A"], questions=["x"])
    >>> bv.readers.combine([a, b]).successes.tolist()
    [[3, 0]]
    """
    parts = list(parts)
    if not parts:
        raise ValueError("parts must hold at least one Outcomes")
    for part in parts:
        check.outcomes("parts", part)
        if part.categories != parts[0].categories:
            raise ValueError(f"parts must have the same categories; found {parts[0].categories} "
                             f"and {part.categories}")
    models, questions = ({label: i for i, label in enumerate(dict.fromkeys(
        label for part in parts for label in getattr(part, axis)))}
        for axis in ("models", "questions"))
    counts = np.zeros((len(models), len(questions), parts[0].n_categories), dtype=np.int64)
    planned = np.zeros(counts.shape[:2], dtype=np.int64)
    for part in parts:
        cells = np.ix_([models[m] for m in part.models], [questions[q] for q in part.questions])
        counts[cells] += part.counts
        planned[cells] += part.planned
    o = Outcomes.from_category_counts(counts, planned=planned, models=list(models),
                                      questions=list(questions), categories=parts[0].categories)
    return o.select(models=o.models[0]) if o.n_models == 1 else o


def paper_tensor(key="combined", *, path=None):
    """One tensor of the outcomes of "Don't Pass@k", from a file of its format.

    Counts of it are ``Outcomes.from_matrix(R, categories=2)``; the tensor itself also says which
    trials of the questions were made together.

    Parameters
    ----------
    key : {"aime24", "aime25", "hmmt_feb_2025", "brumo_2025", "combined"}
    path : path, optional
        The ``.npz`` file; by default the one that the environment variable BAYEVAL_PAPER_NPZ
        names.

    Returns
    -------
    ndarray of int8, shape (L, M, N), or None
        1 where model l was right at question m in trial n, else 0. None if neither says where
        the file is.

    Raises
    ------
    ValueError
        If the file does not have that format: each of the five arrays holds 0 and 1, in shape
        (L, M, N), with as many models and trials in all of them. Nothing in it is executed.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from bayeval.readers import paper_tensor
    >>> file = pathlib.Path(tempfile.mkdtemp(), "R.npz")
    >>> R = np.ones((2, 3, 4), dtype=np.int8)
    >>> np.savez(file, aime24=R, aime25=R, hmmt_feb_2025=R, brumo_2025=R,
    ...          combined=np.concatenate([R] * 4, axis=1))
    >>> paper_tensor(path=file).shape
    (2, 12, 4)
    """
    check.choice("key", key, PAPER_KEYS)
    path = path or os.environ.get(PAPER_NPZ)
    if not path:
        return None
    try:
        found = _tensors.arrays(_existing(path))
        lacking = [name for name in PAPER_KEYS if name not in found]
        if lacking:
            raise ValueError(f"it lacks the arrays {', '.join(lacking)}; it has "
                             f"{', '.join(found)}")
        shapes = {name: found[name].shape for name in PAPER_KEYS}
        if any(len(s) != 3 or s[::2] != shapes["combined"][::2] for s in shapes.values()):
            raise ValueError("its arrays must have shape (L, M, N), with the same L and N; found "
                             + ", ".join(f"{name} {s}" for name, s in shapes.items()))
        for name in PAPER_KEYS:
            wrong = found[name][~np.isin(found[name], (0, 1))]
            if wrong.size:
                raise ValueError("its arrays must hold 0 and 1, nothing missing; found "
                                 f"{wrong[0]:g} in {name}")
        return found[key].astype(np.int8)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None


# -- which files, and of which format --------------------------------------------------------


def _existing(path):
    try:
        path = Path(path)
        found = path.exists()
    except (TypeError, ValueError, OSError) as problem:
        raise ValueError(f"paths must be files; found {path!r} ({problem})") from None
    if not found:
        raise ValueError(f"{path}: there is no such file")
    return path


def _expand(paths):
    """The files, each once."""
    paths = [paths] if isinstance(paths, str | os.PathLike) else check.label_list("paths", paths)
    files = []
    for path in paths:
        text = os.fspath(path) if isinstance(path, str | os.PathLike) else path
        if not isinstance(text, str):
            raise ValueError(f"paths must be files; found {text!r}")
        matching = sorted(glob.glob(text, recursive=True)) if glob.has_magic(text) \
            and not Path(text).exists() else [text]
        if not matching:
            raise ValueError(f"{text}: nothing matches")
        for match in matching:
            match = _existing(match)
            files += _logs_in(match) if match.is_dir() else [match]
    if not files:
        raise ValueError("paths must name at least one file")
    once = dict.fromkeys(path.resolve() for path in files)
    kept = []
    for path in files:
        if path.stat().st_size == 0:
            raise ValueError(f"{path}: it is empty")
        if path.resolve() in once:
            del once[path.resolve()]
            kept.append(path)
    return kept


def _refuse_copies(path, format, copies):
    """Whether to leave out a file with the contents of another, and what to say of it.

    An Inspect log names its run, so its samples are told apart later. The harness names neither
    model nor run in its samples: equal files of one model are a copy, or answers without chance.
    """
    if format == "inspect":
        return False, []
    model = _harness.model_of(path)[0] if format == "lm-eval" else None
    other, its_model = copies.setdefault(_digest(path), (path, model))
    if other is path:
        return False, []
    same = f"{path.name} has the same contents as {other}"
    if format != "lm-eval":
        raise ValueError(f"it has the same contents as {other}: leave one out")
    if model == its_model:
        return True, [f"{same}: read once"]
    return False, [f"{same}, under another model: both count"]


def _digest(path):
    """Hash of the contents, of their ends alone for large files."""
    h = hashlib.sha256()
    size, part = path.stat().st_size, 8 << 20
    with open(path, "rb") as file:
        h.update(file.read(part))
        if size > part:
            file.seek(max(part, size - part))
            h.update(file.read(part))
    return h.hexdigest()


def _logs_in(folder):
    every = sorted(p for p in folder.rglob("*") if p.is_file()
                   and not p.name.startswith(PASSED_OVER))
    for chosen in (lambda p: p.suffix == ".eval", lambda p: _harness.NAME.match(p.name),
                   lambda p: _stream.suffix(p) in TABLES):
        found = [p for p in every if chosen(p)]
        if found:
            return found
    raise ValueError(f"{folder}: there are no logs in this folder")


def _file_labels(files):
    names = [p.name.split(".")[0] if p.suffix != ".eval" else p.stem for p in files]
    if len(set(names)) < len(names):
        names = [str(p) for p in files]
    return dict(zip(files, names))


def _add(tally, path, format, metric, filter, columns, repeats, progress):
    if format == "inspect":
        return _inspect.add(tally, path, metric=metric)
    if format == "lm-eval":
        return _harness.add(tally, path, metric=metric, filter=filter, progress=progress)
    if format == "npz":
        return _add_tensor(tally, path, metric)
    if metric is not None:
        columns = {**columns, "outcome": columns["outcome"] or metric}
    return _tables.add(tally, path, columns=columns, repeats=repeats, progress=progress)


def _recognise(path):
    ending = _stream.suffix(path)
    if ending == ".eval":
        return "inspect"
    start = _stream.start(path)
    if start[:4] == b"PAR1" or ending == ".parquet":
        return "table"
    if ending == ".npz":
        return "npz"
    if start[:2] == b"PK" or b"\0" in start:
        raise ValueError("it is binary, and of no known format: known are .eval, .json, .jsonl, "
                         ".csv, .parquet and .npz")
    if ending == ".json" and _inspect.is_log(start):
        return "inspect"
    if ending in (".jsonl", ".ndjson", ".json"):
        first = next(_stream.rows(path), [{}])[0]
        return "lm-eval" if _harness.is_log(first) else "table"
    if ending not in TABLES:
        raise ValueError(f"the ending {ending!r} is of no known format: known are .eval, .json, "
                         ".jsonl, .csv, .tsv, .parquet and .npz")
    return "table"


def _add_tensor(tally, path, key):
    found = _tensors.arrays(path)
    if key is None and len(found) > 1:
        shown = ", ".join(f"{name!r} {a.shape}" for name, a in found.items())
        raise ValueError(f"it has {len(found)} arrays, {shown}: choose one (metric)")
    key = key or next(iter(found))
    if key not in found:
        raise ValueError(f"metric {key!r} is not one of its arrays {', '.join(map(repr, found))}")
    o = _tensors.outcomes(found[key], models=None)
    L, M, C = o.counts.shape
    names = o.models if L > 1 else [path.stem]
    model = np.repeat(tally.codes("models", names), M)
    question = np.tile(tally.codes("questions", [(None, q) for q in o.questions]), L)
    for c in range(C):
        score = np.full(L * M, tally.score(float(c)), dtype=np.int64)
        count = o.counts[:, :, c].ravel()
        tally.add(model[count > 0], question[count > 0], score[count > 0], count=count[count > 0])
    lacking = (o.planned - o.n_trials).ravel()
    tally.add(model, question, np.full(L * M, UNSCORED, dtype=np.int64), count=lacking)
    return {"format": "tensor", "models": list(names), "rows": int(o.planned.sum()), "errored": 0,
            "unscored": int(lacking.sum()),
            "taken": f"array {key!r} of shape {found[key].shape} as models x questions x trials"
            if found[key].ndim == 3 else
            f"array {key!r} of shape {found[key].shape} as questions x trials"}, []


# -- the result --------------------------------------------------------------------------------


def _files(files):
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"


def _surprises(tally, parts, errors, of_model):
    """Notes on the whole: repeated rows, several files of a model, errors, missing scores."""
    notes = []
    if tally.repeated:
        notes.append(f"{tally.repeated} rows repeat a trial that was read already: counted once")
    if tally.superseded:
        notes.append(f"{tally.superseded} attempts without a score were made again: the score "
                     "counts")
    several = {name: files for name, files in of_model.items() if len(files) > 1}
    if several:
        name, files = next(iter(several.items()))
        notes.append(f"{len(several)} model{'s' * (len(several) > 1)} in more than one file, such "
                     f"as {name!r} in {len(files)}: the attempts are added together")
    errored = int(parts["errored"].sum())
    if errored:
        notes.append(f"{errored} attempts ended in an error: they "
                     + ("count as failures" if errors == "failed" else "are missing"))
    missing = int((parts["planned"] - parts["counts"].sum(axis=2)).sum())
    missing -= errored if errors == "missing" else 0
    if missing > 0:
        notes.append(f"{missing} planned attempts have no score for another reason: they are "
                     "missing")
    return notes


def _reading(parts, errors, sources, notes):
    planned = parts["planned"]
    empty = planned == 0
    if empty.any():
        lacking = empty.sum(axis=1)
        worst = int(lacking.argmax())
        notes = [*notes, f"the models were not asked the same questions: "
                 f"{parts['models'][worst]!r} lacks {lacking[worst]} of {empty.shape[1]}, and "
                 f"{int((~empty).all(axis=0).sum())} are shared by all"]
    base = Outcomes.from_category_counts(
        parts["counts"], planned=planned, models=parts["models"], questions=parts["questions"],
        categories=parts["categories"])
    return Reading(counts=base.counts, planned=base.planned, models=base.models,
                   questions=base.questions, categories=base.categories,
                   single=base.n_models == 1, errored=parts["errored"], errors=errors,
                   values=parts["values"], sources=tuple(sources), notes=tuple(notes))


def _shared(o):
    keep = (o.planned > 0).all(axis=0)
    if not keep.any():
        raise ValueError("no question was asked of all models: the files are of different "
                         "benchmarks")
    if keep.all():
        return o
    notes = [note for note in o.notes if not note.startswith("the models were not asked")]
    notes.append(f"{int((~keep).sum())} of {len(keep)} questions were not asked of all models and "
                 "are left out")
    return Reading(counts=o.counts[:, keep], planned=o.planned[:, keep], models=o.models,
                   questions=tuple(q for q, k in zip(o.questions, keep) if k),
                   categories=o.categories, single=o.single, errored=o.errored[:, keep],
                   errors=o.errors, values=o.values, sources=o.sources, notes=tuple(notes))

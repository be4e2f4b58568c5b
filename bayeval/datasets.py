"""The real evaluations that the book uses: counts of attempts, with source and license.

Each set is a CSV file in the project's ``data`` folder, described by ``datapackage.json``
there (a Frictionless Data Package). The files travel inside the installed package; nothing
here uses the network.
"""

from __future__ import annotations

import difflib
import html
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from bayeval.outcomes import Outcomes

__all__ = ["Card", "card", "frame", "load", "names", "path"]

_DTYPES = {"string": "str", "yearmonth": "str", "integer": "int64", "number": "float64"}
_HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Card:
    """What there is to know about a data set before using it.

    Attributes
    ----------
    name, title, description : str
    aggregation : str
        How the table was made from its source; empty if there is nothing to say.
    shape : dict
        Numbers computed from the table: `rows`, `models`, `questions`, `attempts`,
        `successes`, `attempts_per_cell` (least and most) and `empty_cells`. A table that is
        no evaluation has `rows` only.
    columns : dict
        Name of each column to its description.
    sources : list of dict
        Each with `title` and `path` (an address); where the table was taken from a file
        also `repository`, `commit` and `file`.
    licenses : list of dict
        Each with `name`, `title` and `scope`, and `path` (an address) if it has a text.
    caveats : list of str
    path : pathlib.Path
        The file.
    """

    name: str
    title: str
    description: str
    aggregation: str
    shape: dict
    columns: dict
    sources: list
    licenses: list
    caveats: list
    path: Path

    @property
    def license(self):
        """The licenses in one line, each with what it covers."""
        return "; ".join(f"{entry['title']} ({entry['scope']})" for entry in self.licenses)

    @property
    def size(self):
        """The shape in one line."""
        s = self.shape
        if "models" not in s:
            return f"{s['rows']} rows"
        low, high = s["attempts_per_cell"]
        each = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        empty = f", {s['empty_cells']:,} cells without attempts" if s["empty_cells"] else ""
        plural = "" if s["models"] == 1 else "s", "" if s["questions"] == 1 else "s"
        return (
            f"{s['models']} model{plural[0]}, {s['questions']} question{plural[1]}, "
            f"{each} attempts each{empty}"
        )

    def __str__(self):
        lines = [f"{self.title} ({self.name})", "", self.description, "", f"Shape: {self.size}"]
        lines += [f"License: {entry['title']} ({entry['scope']})" for entry in self.licenses]
        lines += [f"Source: {entry['title']}, {entry['path']}" for entry in self.sources]
        if self.aggregation:
            lines += [f"Aggregation: {self.aggregation}"]
        lines += ["Columns:"] + [f"  {name}: {text}" for name, text in self.columns.items()]
        lines += ["Caveats:"] + [f"  - {text}" for text in self.caveats]
        return "\n".join(lines)

    def _repr_html_(self):
        def link(entry):
            text = html.escape(entry["title"])
            return f'<a href="{html.escape(entry["path"])}">{text}</a>' if "path" in entry else text

        def listing(items):
            return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"

        rows = {
            "Shape": html.escape(self.size),
            "License": listing(
                f"{link(entry)}: {html.escape(entry['scope'])}" for entry in self.licenses
            ),
            "Source": listing(
                link(entry)
                + (f", commit <code>{entry['commit']}</code>" if "commit" in entry else "")
                for entry in self.sources
            ),
            "Aggregation": html.escape(self.aggregation),
            "Columns": listing(
                f"<code>{name}</code>: {html.escape(text)}" for name, text in self.columns.items()
            ),
            "Caveats": listing(map(html.escape, self.caveats)),
        }
        body = "".join(
            f'<tr><th scope="row" style="text-align: left">{key}</th>'
            f'<td style="text-align: left">{value}</td></tr>'
            for key, value in rows.items()
            if value
        )
        return (
            f"<p><strong>{html.escape(self.title)}</strong> (<code>{self.name}</code>). "
            f"{html.escape(self.description)}</p><table><tbody>{body}</tbody></table>"
        )


def names():
    """List the evaluations that `load` takes.

    Returns
    -------
    list of str
        Sets, each followed by its parts if it has any.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.datasets.names()[:4]
    ['aime_2025', 'aime_2025_i', 'aime_2025_ii', 'hmmt_feb_2025']
    """
    return [name for name, (resource, _) in _entries().items() if _is_evaluation(resource)]


def load(name):
    """Load an evaluation as labelled counts.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Outcomes
        Binary. Models and questions are text labels, in the order of the file. A set with
        parts (`aime_2025`, `pythia_checkpoints`) holds the models of every part, and its
        questions are labelled by part, as ``"II/15"``. A set of one model is `single`. A
        cell without attempts has none planned either.

    Raises
    ------
    ValueError
        If the name is unknown.

    See Also
    --------
    frame : the table itself, with the columns that counts leave out.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.datasets.load("aime_2025")
    Outcomes(16 models, 30 questions, 4 attempts each, categories wrong/right)
    >>> bv.datasets.load("aime_2025_ii").n_models
    19
    """
    resource, part = _find(name)
    if not _is_evaluation(resource):
        raise ValueError(f"name {name!r} is a table without outcomes: read it with `frame`")
    table, question = frame(name), "question"
    parts = {p["benchmark"]: p["label"] for p in resource.get("parts", [])}
    if parts and part is None:
        parts_of_model = table.groupby("model")["benchmark"].transform("nunique")
        table = table[parts_of_model == len(parts)].assign(
            part=lambda rows: rows["benchmark"].map(parts)
        )
        question = ["part", "question"]
    counted = (
        {"outcome": "outcome"}
        if "outcome" in table
        else {"successes": "n_success", "trials": "n_trials"}
    )
    o = Outcomes.from_frame(table, model="model", question=question, **counted)
    return o.select(models=o.models[0]) if o.n_models == 1 else o


def frame(name):
    """Read a set as a tidy table: one row a cell of counts, or one row an attempt.

    Parameters
    ----------
    name : str
        One of `names`, or ``"model_names"``: names of the models that AIME 2025 and HMMT
        February 2025 share.

    Returns
    -------
    pandas.DataFrame
        Labels are text, also those of numbered questions, as in `load`; counts are int64,
        measurements float64, months datetime64 (the first of the month). Counts come as
        `n_trials` and `n_success`, attempts as `trial` and `outcome`. `card` describes every
        column.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.datasets.frame("tau_bench_airline").head(2)
               benchmark   model question  trial  outcome
    0  tau-bench-airline  gpt-4o        0      1        0
    1  tau-bench-airline  gpt-4o        0      2        0
    """
    resource, part = _find(name)
    fields = resource["schema"]["fields"]
    missing = resource["schema"]["missingValues"]
    table = pd.read_csv(
        path(name),
        dtype={f["name"]: _DTYPES[f["type"]] for f in fields},
        keep_default_na=False,
        na_values={f["name"]: f.get("missingValues", missing) for f in fields},
    )
    for f in fields:
        if f["type"] == "yearmonth":
            table[f["name"]] = pd.to_datetime(table[f["name"]], format="%Y-%m")
    if part is not None:
        table = table[table["benchmark"] == part["benchmark"]].reset_index(drop=True)
    return table


def card(name):
    """Describe a set: what was run, shape, columns, source, license, caveats.

    Parameters
    ----------
    name : str
        As for `frame`.

    Returns
    -------
    Card
        Shown as a table in a notebook, as text by `print`.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.datasets.card("hmmt_feb_2025").size
    '64 models, 30 questions, 4 attempts each'
    """
    resource, part = _find(name)
    own = resource if part is None else part
    return Card(
        name=own["name"],
        title=own["title"],
        description=resource["description"],
        aggregation=resource.get("aggregation", ""),
        shape=dict(own["shape"]),
        columns={f["name"]: f["description"] for f in resource["schema"]["fields"]},
        sources=[dict(s) for s in resource["sources"]],
        licenses=[dict(s) for s in resource["licenses"]],
        caveats=list(resource["caveats"]),
        path=path(name),
    )


def path(name):
    """Locate the CSV file of a set.

    Parameters
    ----------
    name : str
        As for `frame`. A part lies in the file of its set.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> import bayeval as bv
    >>> bv.datasets.path("livecodebench_v1").name
    'livecodebench_v1.csv.gz'
    """
    return _folder() / _find(name)[0]["path"]


# -- the package of tables ----------------------------------------------------------------


@cache
def _folder():
    # Inside the package when installed, beside it in a checkout.
    return next(
        folder
        for folder in (_HERE / "data", _HERE.parent / "data")
        if (folder / "datapackage.json").is_file()
    )


@cache
def _entries():
    """Map each name to its resource in the data package and, if it is one, its part."""
    package = json.loads((_folder() / "datapackage.json").read_text(encoding="utf-8"))
    entries = {}
    for resource in package["resources"]:
        entries[resource["name"]] = resource, None
        entries |= {part["name"]: (resource, part) for part in resource.get("parts", [])}
    return entries


def _is_evaluation(resource):
    return any(f["name"] == "model" for f in resource["schema"]["fields"])


def _find(name):
    entries = _entries()
    if not isinstance(name, str) or name not in entries:
        close = difflib.get_close_matches(str(name), entries, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"name must be one of {', '.join(map(repr, entries))}; found {name!r}{hint}"
        )
    return entries[name]

"""Write into `data/datapackage.json` what can be computed, and `data/LICENSES.md` from it.

Run `python tools/describe_data.py` after a table or its description has changed.
"""

import hashlib
import json
from pathlib import Path

from bayeval import datasets

DATA = Path(__file__).resolve().parent.parent / "data"


def shape(name):
    """Count the rows, models, questions and attempts of a set."""
    facts = {"rows": len(datasets.frame(name))}
    if name in datasets.names():
        o = datasets.load(name)
        n = o.n_trials
        facts |= {
            "models": o.n_models,
            "questions": o.n_questions,
            "attempts": int(n.sum()),
            "successes": int(o.successes.sum()),
            "attempts_per_cell": [int(n[n > 0].min()), int(n.max())],
            "empty_cells": int((n == 0).sum()),
        }
    return facts


def describe(package):
    """Return the data package with hashes, sizes and shapes brought up to date."""
    package = json.loads(json.dumps(package))
    for resource in package["resources"]:
        content = (DATA / resource["path"]).read_bytes()
        resource["bytes"] = len(content)
        resource["hash"] = "sha256:" + hashlib.sha256(content).hexdigest()
        for entry in [resource, *resource.get("parts", [])]:
            entry["shape"] = shape(entry["name"])
    return package


def licenses(package):
    """Return the text of `LICENSES.md`."""
    lines = [
        "# Licenses of the tables",
        "",
        "Each table has the license of its source; none covers them all. The code of this "
        "project is under the MIT License, its text under CC BY 4.0; neither extends to the "
        "tables. Where a source states no license, we say so and claim nothing.",
        "",
        "| table | license | covers |",
        "|---|---|---|",
    ]
    for resource in package["resources"]:
        for entry in resource["licenses"]:
            title = f"[{entry['title']}]({entry['path']})" if "path" in entry else entry["title"]
            lines.append(f"| `{resource['path']}` | {title} | {entry['scope']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    file = DATA / "datapackage.json"
    package = describe(json.loads(file.read_text(encoding="utf-8")))
    file.write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (DATA / "LICENSES.md").write_text(licenses(package), encoding="utf-8")

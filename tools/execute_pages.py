"""Execute the pages that the cache does not hold, several at a time; collect claims and times.

The strict build then finds every result in the cache. A page that fails is not kept: the build
executes it again, and reports the fault in its place.
"""

import ast
import contextlib
import json
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
# These pages read what all others told and took, so they come after them.
READERS = {
    "claims.json": ROOT / "chapters" / "14-scorecard.md",
    "timings.json": ROOT / "appendix" / "build-status.md",
}
TIMEOUT = 900  # seconds a cell


def pages():
    """Every page with code; the later ones first, for they take longer."""
    found = [*ROOT.glob("chapters/*.md"), *ROOT.glob("appendix/*.md"), ROOT / "index.md"]
    return [p for p in sorted(found, reverse=True) if is_myst_markdown_notebook(p.read_text())]


def read(page):
    return read_myst_markdown_notebook(page.read_text(), add_source_map=True, path=page)


def cached(cache, notebook):
    """The executed notebook with these cells, or None."""
    try:
        return cache.merge_match_into_notebook(notebook)[1]
    except KeyError:
        return None


def cell_times(notebook):
    """Seconds, section and first line of each cell of an executed notebook."""
    section = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            section = (re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE) or [section])[-1]
        times = cell.metadata.pop("execution", {})
        if "shell.execute_reply" in times:
            start, end = (
                datetime.fromisoformat(times[key].replace("Z", "+00:00"))
                for key in ("iopub.status.busy", "shell.execute_reply")
            )
            lines = [line for line in cell.source.splitlines() if line.strip()]
            yield {
                "seconds": (end - start).total_seconds(),
                "section": section,
                "first_line": lines[0],
            }


def execute(cache, paths):
    """Execute the pages that the cache lacks, as many at a time as there are cores, up to four."""
    missing = {p: nb for p in paths if cached(cache, nb := read(p)) is None}

    def run(page):
        return single_nb_execution(
            missing[page],
            cwd=str(page.parent),
            timeout=TIMEOUT,
            allow_errors=False,
            record_timing=True,
        )

    with ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
        runs = {pool.submit(run, page): page for page in missing}
        for done in as_completed(runs):
            page, result = runs[done], done.result()
            state = "failed" if result.err else f"{result.time:.0f} s"
            print(f"{page.relative_to(ROOT)}: {state}", file=sys.stderr, flush=True)
            if not result.err:
                data = {"execution_seconds": result.time, "cells": [*cell_times(result.nb)]}
                bundle = CacheBundleIn(result.nb, str(page), data=data)
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def glued(cache, paths, prefix):
    """Name -> dictionary, of what the pages glued under names that start with `prefix`."""
    result = {}
    for page in paths:
        notebook = cached(cache, read(page))
        for cell in notebook.cells if notebook else ():
            for output in cell.get("outputs", ()):
                name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
                if name.startswith(prefix):
                    # A dictionary of plain values, as Python writes it.
                    text = next(v for kind, v in output["data"].items() if "text/plain" in kind)
                    place = page.relative_to(ROOT).with_suffix("").as_posix()
                    result[name.removeprefix(prefix)] = ast.literal_eval(text) | {"page": place}
    return result


def timings(cache, paths):
    """What each cell took when its page was executed, page by page."""
    result = {}
    for page in paths:
        with contextlib.suppress(KeyError):
            data = cache.match_cache_notebook(read(page)).data
            result[page.relative_to(ROOT).with_suffix("").as_posix()] = data.get("cells", [])
    return result


def tell(cache, name, found):
    """Write what was found for the page that reads it; if it changed, its old results are void."""
    text, page = json.dumps(found, indent=1), READERS[name]
    beside = "".join(path.read_text() for path in sorted(page.parent.glob("*.toml")))
    stamp = BUILD / f"{name}.key"
    if not (stamp.is_file() and stamp.read_text() == text + beside) and page.is_file():
        with contextlib.suppress(KeyError):
            cache.remove_cache(cache.match_cache_notebook(read(page)).pk)
    (BUILD / name).write_text(text)
    stamp.write_text(text + beside)


def main():
    start = time.perf_counter()
    cache = get_cache(str(BUILD / ".jupyter_cache"))
    readers = [page for page in READERS.values() if page.is_file()]
    others = [page for page in pages() if page not in readers]
    collect_only = "--collect" in sys.argv
    if not collect_only:
        execute(cache, others)
    # What a page measured of a published claim is glued under the name of the claim.
    tell(cache, "claims.json", glued(cache, others, "claim-"))
    tell(cache, "timings.json", timings(cache, others))
    if not collect_only:
        execute(cache, readers)
        # Offered for download beside the page.
        for found in glued(cache, readers, "scorecard").values():
            (BUILD / "scorecard.json").write_text(json.dumps(found, indent=1))
        print(f"Executed in {time.perf_counter() - start:.0f} s.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Execute the pages that the cache does not hold, several at a time, and collect their claims.

The strict build then finds every result in the cache. A page that fails is not kept: the build
executes it again, and reports the fault in its place.
"""

import contextlib
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook

ROOT = Path(__file__).resolve().parent.parent
CLAIMS = ROOT / "_build" / "claims.json"
# What another page measured, and this one tells, is glued under a name that starts like this.
PREFIX = "claim-"
# This page reads the claims of the others, so it comes after them.
SCORECARD = ROOT / "chapters" / "14-scorecard.md"
TIMEOUT = 600


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


def execute(cache, paths):
    """Execute the pages that the cache lacks, as many at a time as there are cores, up to four."""
    missing = {p: nb for p in paths if cached(cache, nb := read(p)) is None}
    with ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
        runs = {
            pool.submit(
                single_nb_execution,
                notebook,
                cwd=str(page.parent),
                timeout=TIMEOUT,
                allow_errors=False,
            ): page
            for page, notebook in missing.items()
        }
        for run in as_completed(runs):
            page, result = runs[run], run.result()
            state = "failed" if result.err else f"{result.time:.0f} s"
            print(f"{page.relative_to(ROOT)}: {state}", file=sys.stderr, flush=True)
            if not result.err:
                bundle = CacheBundleIn(
                    result.nb, str(page), data={"execution_seconds": result.time}
                )
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def claims(cache, paths):
    """Name of each claim -> what was measured, and the page that measured it."""
    result = {}
    for page in paths:
        notebook = cached(cache, read(page))
        for cell in notebook.cells if notebook else ():
            for output in cell.get("outputs", ()):
                name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
                if name.startswith(PREFIX):
                    data = next(
                        value
                        for kind, value in output["data"].items()
                        if kind.endswith("application/json")
                    )
                    page_name = page.relative_to(ROOT).with_suffix("").as_posix()
                    result[name.removeprefix(PREFIX)] = {**data, "page": page_name}
    return dict(sorted(result.items()))


def collect_claims(cache, paths):
    """Write the claims for the scorecard; if they changed, its old results are void."""
    text = json.dumps(claims(cache, paths), indent=1)
    if not (CLAIMS.is_file() and CLAIMS.read_text() == text) and SCORECARD.is_file():
        with contextlib.suppress(KeyError):
            cache.remove_cache(cache.match_cache_notebook(read(SCORECARD)).pk)
    CLAIMS.write_text(text)


def main():
    start = time.perf_counter()
    cache = get_cache(str(ROOT / "_build" / ".jupyter_cache"))
    others = [page for page in pages() if page != SCORECARD]
    if "--collect" not in sys.argv:
        execute(cache, others)
    collect_claims(cache, others)
    if "--collect" not in sys.argv and SCORECARD.is_file():
        execute(cache, [SCORECARD])
    print(f"Executed in {time.perf_counter() - start:.0f} s.", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

"""Build the book strictly, and only when something that it is made of has changed."""

import argparse
import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "_build"
# What a chapter's results depend on besides its own cells.
EXECUTION_INPUTS = ("bayeval", "data", "studies", "benchmarks", "requirements.lock")
EXECUTION_SETTINGS = ("BAYEVAL_PAPER_NPZ",)
BOOK_SETTINGS = (*EXECUTION_SETTINGS, "BOOK_URL", "BOOK_REPOSITORY", "BOOK_BRANCH")
BOOK_INPUTS = (
    *EXECUTION_INPUTS,
    *("chapters", "appendix", "index.md", "references.bib"),
    *("_config.yml", "_toc.yml", "_static", "_ext"),
    *("tools/build_book.py", "tools/execute_pages.py"),
)


def digest(names, settings):
    """Hash of the Python version, of `settings`, and of every file under `names` with its place."""
    result = hashlib.sha256(sys.version.encode())
    for name in settings:
        result.update(f"{name}={os.environ.get(name, '')}\0".encode())
    for name in names:
        top = ROOT / name
        files = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                result.update(f"{path.relative_to(ROOT).as_posix()}\0".encode())
                result.update(hashlib.sha256(path.read_bytes()).digest())
    return result.hexdigest()


def keyed(stamp, key):
    """Whether `stamp` holds `key`: what it stands for is up to date."""
    return stamp.is_file() and stamp.read_text() == key


def drop_stale_cache(fresh):
    """The execution cache knows the cells only; drop it when anything else has changed."""
    cache, stamp = BUILD / ".jupyter_cache", BUILD / "cache.key"
    key = digest(EXECUTION_INPUTS, EXECUTION_SETTINGS)
    if fresh or not keyed(stamp, key):
        shutil.rmtree(cache, ignore_errors=True)
    stamp.write_text(key)


def environment():
    """What the pages run in; what their programs keep for the next time stays in the project."""
    keep = Path(sys.prefix) / "cache"
    result = {
        **os.environ,
        "XDG_CACHE_HOME": str(keep),
        "MPLCONFIGDIR": str(keep / "matplotlib"),
        "IPYTHONDIR": str(keep / "ipython"),
        "PYTENSOR_FLAGS": f"cxx=,linker=numba,base_compiledir={keep / 'pytensor'}",
        # Pages run side by side, and joblib takes the cores: threads under these only wait.
        "OPENBLAS_NUM_THREADS": "1",
        # ArviZ announces its next version once a day, and a warning fails the build.
        "PYTHONWARNINGS": "ignore::FutureWarning:arviz",
    }
    if not any(keep.glob("matplotlib/fontlist*")):
        # On a slow machine matplotlib says on its error stream that it looks for fonts.
        command = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(command, env=result, capture_output=True, check=True)
    return result


def execute_pages(*options):
    """Fill the cache, several pages at a time, before the pages are written one by one."""
    program = ROOT / "tools" / "execute_pages.py"
    subprocess.run([sys.executable, program, *options], env=environment(), cwd=ROOT, check=True)


def jupyter_book(*options, chapter="", **kwargs):
    program = Path(sys.executable).with_name("jupyter-book")
    # Jupyter Book greets on stdout; warnings and our progress come on stderr.
    return subprocess.run(
        [program, "build", ROOT, "-q", *options],
        stdout=subprocess.DEVNULL,
        env={**environment(), "BOOK_KEEP_GOING": "1", "BOOK_CHAPTER": chapter},
        cwd=ROOT,
        **kwargs,
    )


def build_book(fresh):
    html, stamp = BUILD / "html", BUILD / "book.key"
    key = digest(BOOK_INPUTS, BOOK_SETTINGS)
    if fresh or not (keyed(stamp, key) and (html / "index.html").is_file()):
        stamp.unlink(missing_ok=True)
        drop_stale_cache(fresh)
        # Left-over doctrees would hide warnings of pages that did not change,
        # and left-over pages would hide broken links.
        for leftover in (".doctrees", "jupyter_execute", "html"):
            shutil.rmtree(BUILD / leftover, ignore_errors=True)
        start = time.perf_counter()
        execute_pages()
        if jupyter_book("-W", "--keep-going", "--all").returncode:
            sys.exit("The book was not built: see the warnings and errors above.")
        stamp.write_text(key)
        print(f"Built in {time.perf_counter() - start:.0f} s.")
    else:
        print("Nothing has changed since the last build.")
    return html / "index.html"


def build_chapter(number):
    pages = [*ROOT.glob(f"chapters/{number}*.md"), *ROOT.glob(f"appendix/{number}*.md")]
    if len(pages) != 1:
        found = ", ".join(page.stem for page in sorted(ROOT.glob("chapters/*.md")))
        sys.exit(f"C={number} names {len(pages)} chapters; there are: {found}")
    page = pages[0].relative_to(ROOT)
    drop_stale_cache(fresh=False)
    execute_pages("--collect")
    output = BUILD / "chapter"
    # Read again, so that its warnings show again.
    (output / "_build" / ".doctrees" / page.with_suffix(".doctree")).unlink(missing_ok=True)
    run = jupyter_book("--path-output", output, chapter=number, stderr=subprocess.PIPE, text=True)
    # The other pages were not executed and lack their results: only this page's warnings count.
    blocks = re.split(r"\n(?=\S*?(?:/|\[ *\d+/))", run.stderr)
    mine = [block for block in blocks if page.stem in block]
    print("\n".join(mine))
    if run.returncode or any("Executing notebook failed" in block for block in mine):
        sys.exit(f"{page} was not built.")
    return output / "_build" / "html" / page.with_suffix(".html")


@contextlib.contextmanager
def alone():
    """Builds share their folder and their cache: one at a time."""
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is running; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chapter", metavar="03", help="execute this chapter only")
    parser.add_argument("--fresh", action="store_true", help="execute everything anew")
    options = parser.parse_args()
    with alone():
        page = build_chapter(options.chapter) if options.chapter else build_book(options.fresh)
    print(f"Open {page.as_uri()} (or run `make serve`).")


if __name__ == "__main__":
    main()

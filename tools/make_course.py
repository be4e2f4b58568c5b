"""Make notebooks and problem sets for a course from the built book, in `_build/course`.

`make course` writes, for every chapter, a notebook without solutions for students and one with
solutions and results; the problem sets as a course of nbgrader; and two archives, one to hand out
and one to keep. `make course CHECK=1` then runs all of it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jupytext
import nbformat
import plain_notebooks as plain
import problem_sets
from build_book import BUILD, ROOT, alone, environment
from jupyter_cache.executors.utils import single_nb_execution

COURSE = BUILD / "course"
# Chapters read these beside or above their folder.
BESIDE, ABOVE = ("*.toml", "*.csv"), ("data", "studies")
TOLD = "claims.json"
EXTRAS = "plot,interactive,mcmc,io,cli,logs"
WORKERS = 2


def chapters(site):
    """Name -> (text, executed notebook) of each chapter, as it is in the built book."""
    sources = site / "_sources" / "chapters"
    found = {}
    for path in sorted(sources.glob("*.md")):
        executed = nbformat.read(path.with_suffix(".ipynb"), as_version=4)
        found[path.stem] = jupytext.read(path, fmt="md:myst"), executed
    return found


class Converter:
    """Turns the chapters of a built book into notebooks.

    Parameters
    ----------
    site : Path
        The folder of the built pages.
    """

    def __init__(self, site):
        self.site, self.chapters = site, chapters(site)
        self.labels, self.works = plain.read_labels(site), plain.Works(ROOT / "references.bib")

    def page(self, name, values=()):
        return plain.Plain(name, self.labels, self.works, dict(values))

    def chapter(self, name, *, solutions):
        source, executed = self.chapters[name]
        page = self.page(f"chapters/{name}", plain.glued(executed))
        return plain.convert(source, executed, page, solutions=solutions)

    def appendix(self, name):
        text = (self.site / "_sources" / "appendix" / f"{name}.md").read_text(encoding="utf-8")
        page = self.page(f"appendix/{name}")
        body = page.text(text.split("\n"))
        works = page.works.listing(page.cited)
        parts = [body, *(["## References", *works] if works else [])]
        # Links are written for notebooks, which lie in a folder; this page does not.
        return "\n\n".join(parts).replace("](../", "](") + "\n"


def write_notebooks(folder, converter):
    for kind in ("student", "solutions"):
        place = folder / kind
        place.mkdir()
        for name in converter.chapters:
            notebook = converter.chapter(name, solutions=kind == "solutions")
            nbformat.write(notebook, place / f"{name}.ipynb")
        for pattern in BESIDE:
            for path in ROOT.glob(f"chapters/{pattern}"):
                shutil.copy(path, place)


def write_surroundings(folder, converter):
    """What the notebooks need around them: data, words, the package and its versions."""
    for name in ABOVE:
        unused = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=unused)
    (folder / "_build").mkdir()
    if (BUILD / TOLD).is_file():
        shutil.copy(BUILD / TOLD, folder / "_build")
    for name in ("glossary", "notation"):
        (folder / f"{name}.md").write_text(converter.appendix(name), encoding="utf-8")
    for name in ("LICENSE", "LICENSE-TEXT.md"):
        shutil.copy(ROOT / name, folder)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    (folder / "requirements.txt").write_text(requirements(wheel.name), encoding="utf-8")
    (folder / "constraints.txt").write_text(constraints(), encoding="utf-8")
    shutil.copy(ROOT / "course" / "README.md", folder)


def requirements(wheel):
    """What the notebooks need, for pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = [f"./{wheel}[{EXTRAS}]", *dict.fromkeys(optional["lab"] + optional["course"])]
    return "\n".join(["-c constraints.txt", *lines]) + "\n"


def constraints():
    """The versions that the book was built with, without their hashes."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    kept = [
        line.rstrip(" \\") for line in lines if "==" in line and not line.startswith((" ", "#"))
    ]
    return "\n".join(kept) + "\n"


def teachers_notes():
    """Points and usual mistakes of all problem sets, in Markdown."""
    lines = ["# Points and usual mistakes", ""]
    for name in problem_sets.names():
        points, mistakes = problem_sets.points(name), problem_sets.mistakes(name)
        title = problem_sets.read(name).cells[0].source.split("\n")[0].lstrip("# ")
        lines += [f"## {title}", "", f"`{name}`, {sum(points.values())} points.", ""]
        lines += ["| problem | points | a usual mistake | it earns |", "|---|---|---|---|"]
        lines += [
            f"| {m.problem} | {points[m.problem]} | {m.what} | {m.points} |" for m in mistakes
        ]
        lines += ["", *(f"```python\n# {m.problem}\n{m.code}\n```\n" for m in mistakes)]
    return "\n".join(lines)


def write_problem_sets(folder):
    course = problem_sets.Course(folder / "problem-sets")
    course.generate()
    course.solve()
    # Whoever grades makes a data base of their own, with their students.
    (folder / "problem-sets" / "gradebook.db").unlink()
    (folder / "problem-sets" / "NOTES.md").write_text(teachers_notes(), encoding="utf-8")


def pack(folder, archive, *, for_students):
    """Everything in an archive, or what students may see; always the same bytes."""
    secret = ("solutions/", "problem-sets/")
    shown = "problem-sets/release/"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_dir() or path.suffix == ".zip":
                continue
            if for_students and name.startswith(secret) and not name.startswith(shown):
                continue
            entry = zipfile.ZipInfo(f"bayeval-course/{name}")
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, path.read_bytes())


def make(folder, site):
    """Write the course into an empty folder."""
    folder.mkdir(parents=True)
    converter = Converter(site)
    write_notebooks(folder, converter)
    write_surroundings(folder, converter)
    write_problem_sets(folder)
    pack(folder, folder / "course-for-students.zip", for_students=True)
    pack(folder, folder / "course-for-teachers.zip", for_students=False)


# --- Check -----------------------------------------------------------------------------------


def shown(notebook):
    """What each cell shows, by the cell's source, without the marks of one run."""
    found = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source:
            outputs = [o.get("data", {"text/plain": o.get("text", "")}) for o in cell.outputs]
            best = [
                next((o[kind] for kind in ("image/png", "text/html") if kind in o), o["text/plain"])
                for o in outputs
            ]
            text = re.sub(r"T_[0-9a-f]+|0x[0-9a-f]+", "", "".join(best))
            found.setdefault(cell.source, text)
    return found


def run(path):
    """Execute a notebook where it lies; return what failed, seconds, and the notebook."""
    notebook = nbformat.read(path, as_version=4)
    result = single_nb_execution(notebook, cwd=str(path.parent), timeout=900, allow_errors=False)
    return str(result.exc_string or ""), result.time, result.nb


def check(folder):
    """Run all notebooks and solutions; say which fail, and whose cells show other results."""
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "course"
        shutil.copytree(folder, copy)
        paths = sorted([*copy.glob("student/*.ipynb"), *copy.glob("solutions/*.ipynb")])
        with ThreadPoolExecutor(WORKERS) as pool:
            for path, (error, seconds, notebook) in zip(paths, pool.map(run, paths)):
                name = path.relative_to(copy).as_posix()
                if error:
                    failed += 1
                    print(f"{name}: failed\n{error}", flush=True)
                    continue
                book = shown(nbformat.read(copy / "solutions" / path.name, as_version=4))
                ours = shown(notebook)
                other = [s for s in ours if s in book and ours[s] != book[s]]
                print(
                    f"{name}: {seconds:.0f} s, {len(ours)} cells, {len(other)} show something else"
                )
                for source in other:
                    print(f"    {source.splitlines()[-1][:90]}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="run every notebook")
    options = parser.parse_args()
    site, start = BUILD / "html", time.perf_counter()
    if not (site / "index.html").is_file():
        sys.exit("The book is not built: run `make book`.")
    with alone():
        shutil.rmtree(COURSE, ignore_errors=True)
        make(COURSE, site)
    print(f"Made in {time.perf_counter() - start:.0f} s: {COURSE}")
    if options.check:
        os.environ.update(environment())
        if check(COURSE):
            sys.exit("Some notebooks of the course do not run: see above.")


if __name__ == "__main__":
    main()

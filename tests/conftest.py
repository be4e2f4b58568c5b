"""What all tests share: the environment, the built book, small books to build."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

# Before anything imports PyTensor, which compiles with numba and without a C compiler as for the
# book. What programs keep for the next time stays in the project.
KEEP = Path(sys.prefix) / "cache"
os.environ["PYTENSOR_FLAGS"] = f"cxx=,linker=numba,base_compiledir={KEEP / 'pytensor'}"
os.environ["XDG_CACHE_HOME"] = str(KEEP)
os.environ["XDG_CONFIG_HOME"] = str(KEEP / "config")
os.environ["MPLCONFIGDIR"] = str(KEEP / "matplotlib")
os.environ["IPYTHONDIR"] = str(KEEP / "ipython")
os.environ.setdefault("MPLBACKEND", "agg")

ROOT = Path(__file__).resolve().parent.parent
IN_CI = os.environ.get("CI", "").lower() not in ("", "0", "false")


def missing(what):
    """A reader sees a skip that says what is missing; the gate fails."""
    if IN_CI:
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


class SmallBook:
    """A book of two pages in a folder of its own, built as this one is."""

    def __init__(self, folder, index, words=()):
        self.html = folder / "_build" / "html"
        self.folder = folder
        terms = "\n\n".join(f"{word}\n  A word." for word in words)
        glossary = f"```{{glossary}}\n{terms}\n```\n\n" if words else ""
        (folder / "index.md").write_text(index, encoding="utf-8")
        (folder / "appendix").mkdir()
        (folder / "appendix" / "words.md").write_text(
            f"# Words\n\n{glossary}```{{bibliography}}\n```\n", encoding="utf-8"
        )
        toc = {"format": "jb-book", "root": "index", "chapters": [{"file": "appendix/words"}]}
        (folder / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
        for name in ("_config.yml", "references.bib"):
            shutil.copy(ROOT / name, folder)
        for name in ("_ext", "_static", "tools"):
            shutil.copytree(ROOT / name, folder / name)

    def build(self, **settings):
        """Run the build of the Makefile; return the finished process."""
        # The tests' matplotlib draws into the void, that of the pages into the page.
        env = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | settings
        command = [sys.executable, "tools/build_book.py"]
        return subprocess.run(command, capture_output=True, text=True, env=env, cwd=self.folder)


@pytest.fixture
def small_book(tmp_path):
    return lambda index, words=(): SmallBook(tmp_path, index, words)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def site():
    """The folder of the built book."""
    html = ROOT / "_build" / "html"
    if not (html / "index.html").is_file():
        missing("The book is not built: run `make book`.")
    return html


@pytest.fixture(scope="module")
def server(site):
    """The address of the built book."""
    from browsing import serving

    with serving(site) as address:
        yield address


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium."""
    from browsing import chromium

    with chromium() as browser:
        yield browser

"""Open JupyterLab on the chapters, in the environment in which the book runs them."""

import os
import shutil
import sys
from pathlib import Path

from build_book import ROOT, environment

LAB = Path(sys.executable).with_name("jupyter-lab")
# Text files open as notebooks; Lab asks no other host for news.
SETTINGS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings" / "overrides.json"


def main():
    SETTINGS.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tools" / "lab_settings.json", SETTINGS)
    # What is typed after `make lab ARGS=` goes to JupyterLab.
    command = [LAB, f"--ServerApp.root_dir={ROOT}", "--LabApp.default_url=/lab/tree/chapters"]
    os.execve(LAB, [*command, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()

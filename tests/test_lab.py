"""JupyterLab, as `make lab` and Binder open it: a chapter is a notebook, its text is rendered."""

import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import ROOT, missing

CHAPTER = "chapters/01-passk-pitfalls.md"
TOKEN = "loopback"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address of a running JupyterLab."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    home = tmp_path_factory.mktemp("home")  # no settings or workspaces of this machine
    log = home / "log"
    command = [sys.executable, ROOT / "tools" / "open_lab.py", "--no-browser", "--allow-root",
               f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    with log.open("w") as stream:
        server = subprocess.Popen(command, stdout=stream, stderr=stream, cwd=home,
                                  env={**os.environ, "HOME": str(home)})
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            if server.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5).close()
                yield address
                return
            except OSError:
                time.sleep(0.5)
        pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:  # a kernel that was still starting
            server.kill()
            server.wait()


def test_a_chapter_is_served_as_a_notebook(lab):
    url = f"{lab}/api/contents/{CHAPTER}?type=notebook&token={TOKEN}"
    with urllib.request.urlopen(url) as answer:
        contents = json.load(answer)
    assert contents["type"] == "notebook"
    assert {"markdown", "code"} == {cell["cell_type"] for cell in contents["content"]["cells"]}


def test_lab_opens_a_chapter_and_renders_its_text(lab):
    """The two extensions and JupyterLab fit together, and no other host is asked."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        missing("Chromium is not installed: JupyterLab was not opened.")
    foreign = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu",
                                            "--disable-background-networking"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: foreign.append(request.url)
                if not request.url.startswith((lab, lab.replace("http", "ws"), "data:", "blob:"))
                else None)
        page.goto(f"{lab}/lab/tree/{CHAPTER}?token={TOKEN}&reset")
        page.wait_for_selector(".jp-NotebookPanel", timeout=120_000)
        # An admonition of MyST, not its source.
        page.wait_for_selector(".jp-MarkdownCell aside.myst-admonition, .jp-MarkdownCell aside",
                               timeout=120_000)
        browser.close()
    assert not foreign


def test_binder_prepares_the_same():
    """Binder cannot be tried here; its files name what exists, and give what `make lab` gives."""
    folder = ROOT / ".binder"
    assert (folder / "requirements.txt").read_text() == "-r ../requirements.lock\n"
    assert (folder / "runtime.txt").read_text() == "python-3.11\n"
    for name in ("postBuild", "start"):
        script = folder / name
        assert script.stat().st_mode & stat.S_IXUSR, f"{name} cannot be executed"
        subprocess.run(["bash", "-n", script], check=True)
    for path in re.findall(r"\btools/[\w.]+", (folder / "postBuild").read_text()):
        assert (ROOT / path).is_file(), path
    flags = re.search(r'PYTENSOR_FLAGS="([^"]*)"', (folder / "start").read_text())[1]
    assert f'"{flags},' in (ROOT / "tools" / "build_book.py").read_text().replace("f\"", '"')
    settings = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    if settings.is_file():
        assert json.loads(settings.read_text()) == json.loads(
            (ROOT / "tools" / "lab_settings.json").read_text())

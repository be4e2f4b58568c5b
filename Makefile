# `make book` builds the book, `make test` builds it and runs every test.
# Needs Python 3.11 or newer with venv, git and make. The rest comes from requirements.lock.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
PORT ?= 8000

# Compiled modules are kept: without them, each start of Python compiles anew what it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help env book chapter test serve lab pdf hooks course clean lock

help:
	@echo "make book           build the book into _build/html"
	@echo "make test           build what is missing and run every test"
	@echo "make chapter C=03   execute one chapter alone"
	@echo "make lab            open JupyterLab with the chapters as notebooks"
	@echo "make course         write notebooks and problem sets for a course; CHECK=1 also runs them"
	@echo "make serve          show the book on http://127.0.0.1:$(PORT)"
	@echo "make pdf            print the built pages into one PDF (needs Chromium)"
	@echo "make hooks          check each commit before it is made"
	@echo "make lock           resolve pyproject.toml anew into requirements.lock"
	@echo "make clean          remove everything that was built, also $(VENV)"

env: $(READY)

$(READY): requirements.lock
	@$(PYTHON) tools/check_python.py
	@echo "Setting up $(VENV) (about a minute, once)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@# Kernels on loopback warn, at each start, that they do not encrypt.
	@mkdir -p $(VENV)/etc/ipython
	@echo 'get_config().IPKernelApp.log_level = "ERROR"' > $(VENV)/etc/ipython/ipython_kernel_config.py
	@touch $@

book: $(READY)
	@$(BIN)/python tools/build_book.py $(if $(CI),--fresh)

chapter: $(READY)
	@test -n "$(C)" || { echo "Say which chapter: make chapter C=03"; exit 2; }
	@$(BIN)/python tools/build_book.py --chapter $(C)

test: book
	@$(BIN)/python -m pytest $(ARGS)

serve: book
	@echo "http://127.0.0.1:$(PORT) (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

lock: $(READY)
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --fork-strategy fewest --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --no-annotate --no-emit-package bayeval $(if $(UPGRADE),--upgrade) \
	  --quiet --output-file requirements.lock

lab: $(READY)
	@$(BIN)/python tools/open_lab.py $(ARGS)

pdf: book
	@$(BIN)/python tools/make_pdf.py

course: book
	@$(BIN)/python tools/make_course.py $(if $(CHECK),--check)

hooks: $(READY)
	@$(BIN)/pre-commit install

clean:
	rm -rf _build dist $(VENV) .pytest_cache .ruff_cache .hypothesis .benchmarks

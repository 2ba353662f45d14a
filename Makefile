# `make demo` and `make test` need Python 3.10 or newer and make: they set up .venv and install what is missing there.
# Another interpreter: make test PYTHON=python3.13 VENV=.venv313

VENV ?= .venv
PYTHON ?= $(shell for python in python3.11 python3 python3.13 python3.12 python3.14 python3.10 python; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo "$$python" && break; done)

RUN := $(VENV)/bin/python -m
READY := $(VENV)/.eaglelint-installed
EXAMPLE := examples/kimi-k25-wiring

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench hostile fuzz accuracy launch-accuracy derive-accuracy audit docs docs-data build package-test clean
.DELETE_ON_ERROR:

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(READY) ## Lint the example: a drafter that is served other states than it was trained on
	@echo '$$ eaglelint check $(EXAMPLE)'
	@$(RUN) eaglelint check --exit-zero $(EXAMPLE)

test: lint types ## Everything that must hold: lint, types, tests
	$(RUN) pytest

lint: $(READY) ## ruff
	$(RUN) ruff check --quiet

types: $(READY) ## mypy, strict
	$(RUN) mypy --no-error-summary

bench: $(READY) ## How long eaglelint takes to start
	$(VENV)/bin/python benchmarks/startup.py

hostile: $(READY) ## A hundred thousand damaged files of tensors: no crash, nothing runs, 64 MiB and a second at most
	$(VENV)/bin/python benchmarks/hostile_files.py --files 100000

fuzz: $(READY) ## A hundred thousand damaged project files through every reader, half an hour (FUZZ="--inputs 1000000")
	$(VENV)/bin/python benchmarks/fuzz_readers.py --inputs 100000 $(FUZZ)

audit: $(READY) ## The tables against the source of every release: downloads them, takes an hour (AUDIT="--engine vllm")
	$(VENV)/bin/python benchmarks/audit.py $(AUDIT)

docs-data: $(READY) ## What is computed from the tables, into the pages of docs/
	$(VENV)/bin/python docs/generate.py

accuracy: $(READY) ## Generated capture code and string literals by the thousand; CORPUS="DIR..." TREE="DIR..." for more
	$(VENV)/bin/python benchmarks/accuracy.py --variants 2000 --literals 20000 \
		$(if $(CORPUS),--corpus $(CORPUS)) $(if $(TREE),--tree $(TREE))

launch-accuracy: $(READY) ## The launch commands of TREE="DIR..." as shfmt sees them (installs shfmt-py)
	$(RUN) pip install --disable-pip-version-check --quiet shfmt-py
	$(VENV)/bin/python benchmarks/launch_accuracy.py --tree $(TREE)

derive-accuracy: $(READY) ## How often derive agrees with the tables, over all releases (downloads them; an hour)
	$(VENV)/bin/python benchmarks/derive_accuracy.py --write docs/accuracy.md

docs: $(READY) ## The pages as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict

build: $(READY) ## The wheel and the sdist, in dist/
	$(RUN) build

package-test: $(READY) ## Install the wheel, the sdist, a checkout and the pre-commit hook, each in an environment of its own
	$(RUN) pytest -m packaging tests/install

clean: ## Remove what can be made again, but for $(VENV)
	rm -rf dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
	find eaglelint tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The file says where this checkout was when the environment was completed. After a move, or when the interpreter is gone,
# that does not count.
ifneq ($(shell '$(VENV)/bin/python' -c pass 2>/dev/null && cat '$(READY)' 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

# An environment without a working pip is made anew; one that works is only completed.
$(READY): pyproject.toml
	@test -n '$(PYTHON)' || { echo 'no Python 3.10 or newer found: install one, or say PYTHON=...' >&2; exit 1; }
	@$(RUN) pip --version >/dev/null 2>&1 || { echo 'creating $(VENV)'; '$(PYTHON)' -m venv --clear '$(VENV)'; }
	@echo 'installing eaglelint and its tools in $(VENV)'
	@$(RUN) pip install --disable-pip-version-check --quiet --editable '.[dev]'
	@echo '$(CURDIR)' > '$@'

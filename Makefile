# Trundle: everything a user or a developer runs. `make` lists the targets.
# Each target sets up what it needs first, in .venv inside the checkout, with pinned versions and hashes.

PYTHON ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes
WORKERS ?= 2
# Of campaigns: all of them in make prove, none in make test-slow, where nothing is said.
SHARE ?=
# What slow tests and hostile input may take; without it all slow tests run, and one minute of hostile input.
MINUTES ?=
# Work stealing leaves no process idle; the clock needs the items in order, so processes take one at a time.
SLOW := "(slow$(if $(SHARE), or campaign))$(if $(MINUTES), and not example)"
DIST := $(if $(MINUTES),--minutes $(MINUTES) --dist load --maxschedchunk 1,--dist worksteal)
# pip-compile writes no registry, no path and no date, so a lock file changes only when a version does.
LOCK := $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras \
	--no-header --no-annotate --no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-peers setup-bench setup-docs demo test test-slow examples prove fuzz plain anywhere lint format bench ci release gallery docs lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.run ## Create .venv and install Trundle with what it needs to run

setup-dev: $(VENV)/.dev ## ... and the tools for tests and checks

setup-peers: $(VENV)/.peers ## ... and the peers that tests and benchmarks compare with (MuJoCo, Pinocchio)

setup-bench: $(VENV)/.pydy ## ... and PyDy, which only the benchmarks compare with (it needs a C compiler)

setup-docs: $(VENV)/.docs ## ... and what the site is built with

demo: $(VENV)/.run ## Run the main example: a differential drive on a circle
	$(BIN)/trundle run examples/diff_drive/circle.yaml

test: $(VENV)/.peers ## Run the tests (without the slow ones)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-slow: $(VENV)/.peers ## Run the slow tests (MINUTES=8: those that are drawn in that time; SHARE=0.03: of campaigns, too)
	$(BIN)/python -m pytest --slow $(if $(SHARE),--share $(SHARE)) -m $(SLOW) -n $(WORKERS) $(DIST)

examples: $(VENV)/.peers ## Run every example, and every command in the README
	$(BIN)/python -m pytest --slow -m example -n $(WORKERS) --dist worksteal tests/test_examples.py tests/test_docs_blocks.py

anywhere: $(VENV)/.dev ## Run some tests in other locales, time zones, folders and Pythons (python -m tools.anywhere)
	$(BIN)/python -m tools.anywhere $(WORKERS)

prove: $(VENV)/.peers ## Run the campaigns, all their random cases (SHARE=0.1: a tenth of them)
	$(BIN)/python -m pytest --share $(or $(SHARE),1) -m campaign -n $(WORKERS)

plain: $(VENV)/.run ## Install Trundle plainly in a new environment and try all of it there, every extra alone
	$(BIN)/python -m tools.plain

fuzz: $(VENV)/.peers ## Try hostile input of every kind for MINUTES=1 (SEED=N repeats; python -m tools.fuzz --help)
	$(BIN)/python -m tools.fuzz --minutes $(or $(MINUTES),1) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.peers $(VENV)/.docs ## Check style, types, the order of imports, docstrings and gauges of the package
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 .  # text is UTF-8, whatever the system prefers
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports
	$(BIN)/python -m tools.docstrings
	$(BIN)/python -m tools.gauges

format: $(VENV)/.dev ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.pydy ## Measure the speed, beside the peers, into site/benchmarks.json for the site
	$(BIN)/python -m benchmarks --table site/benchmarks.json

gallery: $(VENV)/.peers ## Write out/gallery: a page for every robot and example, and draw the README's pictures
	$(BIN)/python -m tools.gallery out/gallery --pictures

docs: $(VENV)/.docs ## Build the site into out/site: pages, tutorials, reference, gallery (warnings are errors)
	$(BIN)/python -m tools.site out/site

release: $(VENV)/.release ## Build wheel and source archive twice, check them, try them in new environments (dist/)
	$(BIN)/python -m tools.release dist

ci: ## Everything that must pass before a change lands
	bash .ci/run

lock: $(VENV)/.dev ## Renew the pinned versions in requirements/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	$(LOCK) --upgrade --build-deps-for editable -o requirements/run.txt pyproject.toml
	$(LOCK) --upgrade -o requirements/dev.txt requirements/dev.in
	$(LOCK) --upgrade -o requirements/peers.txt requirements/peers.in
	$(LOCK) --upgrade -o requirements/pydy.txt requirements/pydy.in
	$(LOCK) --upgrade -o requirements/release.txt requirements/release.in
	$(LOCK) --upgrade -o requirements/docs.txt requirements/docs.in

clean: ## Remove .venv and everything that was made here
	rm -rf $(VENV) build dist runs out src/*.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: a file newer than what it depends on means that this step is done.
# pyproject.toml is in the first one because the command `trundle` is made from it.

$(VENV)/.run: requirements/run.txt pyproject.toml
	@if [ ! -x $(BIN)/python ]; then \
	  for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      echo "setting up $(VENV) with $$("$$python" --version)"; \
	      "$$python" -m venv $(VENV) && exit 0; \
	      echo "could not create $(VENV): is the venv module installed (on Debian: python3-venv)?" >&2; exit 1; \
	    fi; \
	  done; \
	  echo "Trundle needs Python 3.11 or newer; name one with: make setup PYTHON=/path/to/python3" >&2; exit 1; \
	fi
	$(PIP) -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) -r requirements/dev.txt
	@touch $@

$(VENV)/.peers: $(VENV)/.dev requirements/peers.txt
	$(PIP) -r requirements/peers.txt
	@touch $@

$(VENV)/.pydy: $(VENV)/.peers requirements/pydy.txt
	$(PIP) -r requirements/pydy.txt
	@touch $@

$(VENV)/.docs: $(VENV)/.dev requirements/docs.txt
	$(PIP) -r requirements/docs.txt
	@touch $@

$(VENV)/.release: $(VENV)/.dev requirements/release.txt
	$(PIP) -r requirements/release.txt
	@touch $@

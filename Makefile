# Needs Python 3.11 or newer and make; everything else is installed into .venv, by the hashes in requirements/.

# The first of these that runs: a version manager's stand-in for a Python that it does not have is on PATH too.
# `ensurepip` is what a Debian python3 without python3-venv lacks.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)

BIN := .venv/bin
BENCH := .venv-bench/bin
# -qq: errors only; a machine's own pip settings may warn on every run.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check

# Many tests wait for a process or a server, so there are two at once for each core; bytecode is kept, as they
# start the program hundreds of times.
unexport PYTHONDONTWRITEBYTECODE
AT_ONCE ?= $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

.PHONY: help demo test check lint format lock components bench clean

help:
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

demo: .venv/ready  ## show what hookline does
	@PATH="$(CURDIR)/$(BIN):$$PATH" scripts/demo

test: .venv/ready  ## every test, the slow ones too
	@$(BIN)/python -m pytest -n $(AT_ONCE) --dist worksteal

check:  ## all that CI checks: lint, types, layers, tests
	@scripts/check

lint: .venv/ready  ## ruff only
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

format: .venv/ready  ## let ruff repair what it can
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock: .venv/locked  ## pin in requirements/ what pyproject.toml asks for
	@scripts/lock

components:  ## build the shipped hooks from their C sources (clang, wasi-libc, Node)
	@scripts/components

bench: .venv-bench/ready  ## install what the benchmarks in bench/ need
	@echo "ready: $(BENCH)/python bench/NAME.py"

clean:  ## remove all that make and the tools have made
	@rm -rf .venv .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	@rm -rf components/build components/node_modules
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Made anew (--clear) when the lock changes, so that nothing stays which the lock no longer names.
.venv/locked: requirements/dev.lock
.venv-bench/locked: requirements/bench.lock
.venv/locked .venv-bench/locked:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer (with its venv module) found: make PYTHON=python3.x" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hookline needs Python 3.11 or newer; %s is %s" % (sys.executable, sys.version.split()[0]))'
	@echo "installing $< into $(@D)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python $(PIP_INSTALL) --require-hashes -r $<
	@touch $@

.venv/ready: .venv/locked pyproject.toml
	@$(BIN)/python $(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# Not editable: start-up is measured on what a user installs, byte-compiled.
.venv-bench/ready: .venv-bench/locked pyproject.toml $(shell find src -name '*.py')
	@$(BENCH)/python $(PIP_INSTALL) --no-deps --no-build-isolation .
	@touch $@

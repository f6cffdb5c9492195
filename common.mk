# Settings and targets that all Makefiles of this repository share.
# Each sets ROOT, the path from its folder to the root of the repository, and then includes this file. Paths here are
# relative to the root: recipes in other folders begin with `cd $(ROOT) &&`.

PYTHON ?= python3
# uv builds .venv from uv.lock. Where uv is not installed, the target `uv` installs it with pip into .uv.
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
BIN := .venv/bin
PY := $(BIN)/python
export UV_PYTHON_DOWNLOADS := never
export PYTHONUNBUFFERED := 1
# Write bytecode even where the machine turns it off: the tests start many processes, and each would compile its imports.
export PYTHONDONTWRITEBYTECODE :=

export PG_URL ?= postgres://postgres@127.0.0.1:5432/postgres
export CHROMIUM ?= /usr/bin/chromium
export CHROMIUM_SHELL ?= /usr/bin/chromium-headless-shell

CORES := $(shell getconf _NPROCESSORS_ONLN)
# Number of test processes. Each has its own database and browser. One more than cores, because some tests wait.
JOBS ?= $(shell echo $$(($(CORES) + 1)))
# Options of pytest, for every target that runs tests.
PYTEST ?=
# One file of tests at a time per process, slow files first: the tests of a file share data that is created once.
# (The groups of pytest-xdist 3.8 would be finer, but pytest 9.2 ignores them without a message.)
DIST := loadfile
RUN = $(PY) -m pytest -n $(JOBS) --dist $(DIST) --no-loadscope-reorder
# Tests that kill processes or depend on the wall clock can fail on a busy machine: retry once, and report the failure.
RETRY = --reruns 1 --rerun-show-tracebacks

# Ignore `make -j`: the tests use all cores already, and two targets must not change .venv at the same time.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help

help: ## list the targets (this is the default)
	@awk -F ':.*## ' '/^## /{print substr($$0, 4)} /^[a-z][a-z-]*:.*## /{printf "  %-14s %s\n", $$1, $$2}' \
		$(firstword $(MAKEFILE_LIST)) $(ROOT)/common.mk

ifneq ($(ROOT),.)
.PHONY: uv dev-env browser
uv dev-env browser:
	@$(MAKE) --silent --no-print-directory -C $(ROOT) $@
endif

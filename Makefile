ROOT := .
include common.mk

PORT ?= 8000
STAND_IN_PORT ?= 8801
# Extras of pyproject.toml to install, separated by spaces. They stay installed: later syncs update them.
EXTRAS ?=
TESTED_EXTRAS := aggregation anserini cluster figures static zh
OPTIONAL_TESTS := test-vllm test-writer test-finetune test-tools

.PHONY: demo serve env dev-env uv browser pooler lint lint-words lint-css
.PHONY: test test-fast test-sqlite test-browser test-postgres test-timing test-optional $(OPTIONAL_TESTS)
.PHONY: coverage soak bench pictures messages wheel new-run-files

# A wheel of the site, for `uvx --from dist/*.whl crux-workbench demo`: see docs/admins.md.
wheel: uv
	$(UV) build --wheel --out-dir dist

# Public targets: those with a `##` text, which `make help` prints.

demo: env .venv/extra-figures.stamp ## install the site and serve it with demo data (PORT=8001: another port)
	@$(PORT_CHECK)
	@echo "== demo data"
	@$(SERVE) --fill

# Two servers can share a port without an error, each with its own database. This check stops if a port is taken.
SERVE = $(PY) manage.py serve --demo --port $(PORT) --model-port $(STAND_IN_PORT)
PORT_CHECK = $(PY) -m crux_site.port_check PORT=$(PORT) STAND_IN_PORT=$(STAND_IN_PORT)

serve: ## serve the demo again, without new data
	@$(PORT_CHECK)
	@$(SERVE)

env: ## install .venv for a site (EXTRAS="cluster figures": with these extras, too)
env: .venv/env.stamp $(sort $(wildcard .venv/extra-*.stamp) $(EXTRAS:%=.venv/extra-%.stamp))

dev-env: .venv/dev.stamp ## install .venv with what the tests need

# mypy takes one core for most of a minute, so the rest runs beside it. The last of it reads all tests: an import that
# fails is reported before the first test runs.
lint: dev-env ## run all linters
	@echo "== lint"
	@$(BIN)/mypy . & types=$$!; trap "kill $$types" INT TERM; set -x; \
	$(BIN)/ruff check . && \
	$(BIN)/ruff format --check . && \
	$(BIN)/djangofmt --check --quiet templates && \
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files 'templates/*.html') && \
	$(BIN)/oxlint --deny-warnings static/js && \
	$(BIN)/lint-imports --no-logo && \
	$(PY) manage.py makemigrations --check --dry-run && \
	$(PY) -m tests.words && \
	{ $(PY) -m pytest --collect-only -qq > .venv/collected.txt || { cat .venv/collected.txt; false; }; }; \
	quick=$$?; { set +x; } 2>/dev/null; [ $$quick = 0 ] || kill $$types 2> /dev/null; wait $$types && exit $$quick

test: ## run the linters and all tests (PYTEST="-k skip -x": options of pytest)
test: export RUN_FILES := $(CURDIR)/.venv/run_files
test: new-run-files lint test-sqlite test-browser test-postgres test-timing $(if $(PYTEST),,bench-smoke)

# One process per core: none of these tests waits.
test-fast: JOBS := $(CORES)
test-fast: dev-env ## run the quick tests, on SQLite and without the browser: before each commit
	$(RUN) -m "not browser and not soak and not timing" $(PYTEST)

test-browser: dev-env browser ## run the tests in Chromium
	@echo "== tests in Chromium"
	$(RUN) $(if $(PYTEST),,tests/browser) -m "browser and not timing" $(PYTEST) $(END)

# Tests that use no database, or behave the same on each, run on SQLite only.
test-postgres: dev-env ## run the tests of the database on PostgreSQL (PG_URL=...), if one answers
	@if $(HAS_POSTGRES); then \
		echo "== tests of the database, PostgreSQL"; \
		DATABASE_URL=$(PG_URL) $(RUN) -m "database and not browser and not any_database and not timing" $(PYTEST) $(END); \
	else \
		echo "== NO PostgreSQL at $(PG_URL): its tests are skipped (PG_URL=... names another)"; \
	fi

test-optional: $(OPTIONAL_TESTS) ## run the tests that need large packages, each in an environment of its own

bench: ## list the benchmarks; `make bench-NAME` runs one
	@$(MAKE) --no-print-directory -C bench

# Parts of the public targets, and targets for rare occasions. CONTRIBUTING.md names those that you may need.

# `make test-vllm` is `make -C tests/vllm test`.
$(OPTIONAL_TESTS):
	@$(MAKE) --no-print-directory -C tests/$(@:test-%=%) test

# `make bench-judge` is `make -C bench judge`.
bench-%:
	@$(MAKE) --no-print-directory -C bench $*

# Where PYTEST selects tests, a part may have none of them: pytest then exits with 5.
END = $(if $(PYTEST),|| [ $$? = 5 ])
HAS_POSTGRES = $(PY) -c "import psycopg; psycopg.connect('$(PG_URL)', connect_timeout=2)" 2>/dev/null

# Migrated and seeded databases, which all parts of `make test` copy. They are made again for each run: seeds depend
# on the code and on the time.
new-run-files: dev-env
	@rm -rf $(RUN_FILES) && mkdir $(RUN_FILES)

test-sqlite: dev-env pooler
	@echo "== tests, SQLite"
	$(RUN) -m "not browser and not timing" $(PYTEST) $(END)

# At most two at a time, and no other tests at the same time. Only their files are read: it takes each process longer to
# collect all tests than to run these. The tests of a file are divided, because few share data.
test-timing: JOBS := 2
test-timing: DIST := worksteal
test-timing: FILES = $(if $(PYTEST),,$$(grep -rl --include='test_*.py' --exclude-dir=browser 'mark\.timing' tests))
test-timing: dev-env browser
	@echo "== tests of killed processes and of the wall clock"
	$(RUN) $(RETRY) $(FILES) -m "timing and not browser" $(PYTEST) $(END)
	$(RUN) $(RETRY) $(if $(PYTEST),,tests/browser) -m "timing and browser" $(PYTEST) $(END)
	@if $(HAS_POSTGRES); then \
		DATABASE_URL=$(PG_URL) $(RUN) $(RETRY) $(FILES) -m "timing and database and not browser and not any_database" $(PYTEST) $(END); \
	fi

coverage: dev-env
	@echo "== tests, SQLite, with the coverage of lines and branches: pages in var/coverage/html"
	$(RUN) -m "not browser" --cov --cov-report term --cov-report html $(PYTEST) $(END)

# Random acts of two clients, with checks after each step, and all cases of which `make test` runs samples
# (tests/toolbox/samples.py). `make test` runs a few steps of one seed; this takes an hour or more. SOAK_FIRST=7 SOAK_SEEDS=7 runs seed 7 alone; DATABASE_URL names the database.
soak: export SOAK_STEPS ?= 200
soak: export SOAK_SEEDS ?= 20
soak: dev-env
	@echo "== random acts of two clients: $(SOAK_STEPS) steps, seeds to $(SOAK_SEEDS)"
	$(PY) -m pytest -n $(CORES) tests/soak $(PYTEST)
	@echo "== all links, forms and random requests"
	ALL_CASES=1 $(RUN) -m "soak and not browser and not timing" tests/api tests/crux_site tests/evaluation $(PYTEST) $(END)

# Names, docstrings, page texts and docs against tests/words/words.toml. WORDS="--report", or "--list variables".
WORDS ?=
lint-words: dev-env
	$(PY) -m tests.words $(WORDS)

# Format and rules of the stylesheets. Needs npx (Node): no wheel of such a linter is kept up to date.
lint-css:
	npx --yes @biomejs/biome@2.6.8 check --error-on-warnings static/css

# All files of docs/images, from the demo as it is now.
pictures: dev-env browser
	@echo "== pictures"
	$(PY) -m tests.browser.pictures

# Texts for raters: collect them for translation and compile the translations. The compiled files are committed too,
# because a machine that serves the site has no gettext.
messages: env
	@command -v msgfmt >/dev/null || { echo "make messages needs gettext (xgettext, msgmerge, msgfmt)."; exit 1; }
	$(PY) manage.py makemessages --all --add-location file --no-obsolete \
		--ignore tests --ignore bench --ignore var
	$(PY) manage.py compilemessages --ignore .venv --ignore .uv

uv: $(filter .uv/bin/uv,$(UV))

.uv/bin/uv:
	@echo "== uv (not on this machine: installing it into .uv)"
	@$(PYTHON) -m venv .uv && .uv/bin/pip install --disable-pip-version-check uv

.venv/env.stamp: pyproject.toml uv.lock | uv
	@echo "== environment"
	@$(UV) sync --locked --no-dev --inexact --python $(PYTHON)
	@touch $@

.venv/extra-%.stamp: pyproject.toml uv.lock | uv
	@echo "== environment, with the extra $*"
	@$(UV) sync --locked --no-dev --inexact --extra $* --python $(PYTHON)
	@touch $@

.venv/dev.stamp: pyproject.toml uv.lock | uv
	@echo "== environment, with what the tests need"
	@$(UV) sync --locked $(TESTED_EXTRAS:%=--extra %) --python $(PYTHON)
	@rm -f .venv/extra-*.stamp
	@touch $@ .venv/env.stamp $(TESTED_EXTRAS:%=.venv/extra-%.stamp)

# PgBouncer, of tests/load/test_pooling.py.
pooler:
	@if ! PATH="$$PATH:/usr/sbin" command -v pgbouncer >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "== PgBouncer"; \
			apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends pgbouncer \
				|| echo "== NO pgbouncer: its tests are skipped"; \
		else \
			echo "== NO pgbouncer: its tests are skipped"; \
		fi; \
	fi

# Chromium, and the two sets of fonts with which tests/browser/fonts shows the pages.
browser:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		! dpkg -s fonts-liberation fonts-noto-core fontconfig >/dev/null 2>&1; then \
		echo "== fonts"; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
			fontconfig fonts-liberation fonts-noto-core; \
	fi
	@if [ ! -x "$(CHROMIUM)" ] || [ ! -x "$(CHROMIUM_SHELL)" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "== Chromium"; \
			apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
				chromium chromium-headless-shell; \
		elif [ ! -x "$(CHROMIUM)" ]; then \
			echo "The browser tests need Chromium at $(CHROMIUM) (or CHROMIUM=...)."; exit 1; \
		else \
			echo "== NO headless shell at $(CHROMIUM_SHELL) (or CHROMIUM_SHELL=...): Chromium itself takes longer"; \
		fi; \
	fi

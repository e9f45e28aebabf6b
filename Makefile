# Everything a newcomer needs: `make demo`, `make dev`, `make check`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH ?= torch==2.13.0
BENCH_TOOLS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hwtop-bench
WILD ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hwtop-wild

MINUTES ?=

.PHONY: demo dev fast test check format lint coverage shuffled oldest mutation bench fuzz chaos soak kills matrix renamed wild screenshots docs clean

demo: $(BIN)/hwtop ## install and watch a real two-rank training job with a planted fault
	$(BIN)/hwtop demo

dev: $(VENV)/.dev ## install what `make lint` and `make fast` need: seconds, no torch

fast: $(VENV)/.dev ## the tests that start no jobs
	$(BIN)/python -m pytest

test: $(VENV)/.test ## install what the tests need and run all of them; one that fails gets a second try, which is printed
	$(BIN)/python -m pytest -m "" --reruns 1 -raR --ignore tests/diagnosis/test_diagnosis.py
	$(BIN)/python -m pytest -m "" --reruns 1 -raR tests/diagnosis/test_diagnosis.py # real jobs that share out the cores among themselves

check: lint test ## what CI runs

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

coverage: $(VENV)/.dev ## lines and branches that the fast tests reach: fails where one of these packages has less than 95 %
	$(BIN)/python -m pytest --cov --cov-report=
	for package in model job symptoms feed; do $(BIN)/coverage report --include="hwtop/$$package/*" --fail-under=95 || exit 1; done

shuffled: $(VENV)/.dev ## the fast tests in an order drawn by chance, which it prints: make shuffled SEED=16
	$(BIN)/python -m pytest --random-order-bucket=global --random-order-seed=$(or $(SEED),$(shell date +%s))

oldest: $(VENV)/.dev ## the fast tests with the oldest Python at hand and the lowest versions that pyproject.toml allows
	$(BIN)/python -m tests.oldest

mutation: $(VENV)/.dev ## are changed lines of the rules noticed by a test? A sample: make mutation MUTANTS=200
	$(PIP) install --quiet "mutmut>=3.8,<4"
	$(BIN)/python bench/mutation.py --mutants $(or $(MUTANTS),200)

bench: $(VENV)/.test $(BENCH_TOOLS)/.packages ## what hwtop costs, beside nvitop, glances, and htop and btop where installed
	$(BIN)/python bench/cold_start.py
	$(BIN)/python bench/frame_cost.py
	$(BIN)/python bench/monitor_cost.py --tools $(BENCH_TOOLS)/bin
	$(BIN)/python bench/psutil_cost.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/stack_grouping.py
	$(BIN)/python bench/attach_cost.py

fuzz: $(VENV)/.dev ## spoilt input for all that hwtop reads; failures are kept in tests/data/fuzz: make fuzz MINUTES=30
	$(BIN)/python -m tests.fuzz.run --minutes $(or $(MINUTES),5)

chaos: $(VENV)/.dev ## feed, rules and a headless screen on sources that fail, hang, lag or return garbage: make chaos MINUTES=30
	$(BIN)/python -m tests.chaos.run --minutes $(or $(MINUTES),5)

soak: $(VENV)/.dev ## a live hwtop on a demo job for two hours: fails where memory, threads, descriptors or CPU grow
	$(BIN)/python bench/soak.py --minutes $(or $(MINUTES),120)

kills: $(VENV)/.dev ## hwtop and py-spy killed while they are attached, 1,000 times: is the process ever left stopped?
	$(BIN)/python bench/attach_kills.py --attaches $(or $(ATTACHES),1000)

matrix: $(VENV)/.test ## real jobs, healthy and with planted faults: what is found, missed, false, and how soon
	$(BIN)/python bench/matrix.py

wild: $(VENV)/.dev $(WILD)/.packages ## real trainers of many packages, with faults planted from outside
	$(BIN)/python bench/wild/run.py --env $(WILD)

renamed: $(VENV)/.test ## the same jobs with all their own names replaced at random
	$(BIN)/python bench/matrix.py --renamed 1

screenshots: $(VENV)/.test ## every page of healthy and sick jobs, as SVG and PNG
	$(BIN)/python -m tests.pictures
	$(BIN)/python -m tests.web_picture

docs: $(VENV)/.docs ## the documentation as a site in build/docs
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml

$(BIN)/hwtop: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "hwtop needs Python 3.10 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable .
	touch $@

$(VENV)/.dev: $(BIN)/hwtop pyproject.toml
	$(PIP) install --quiet --editable ".[dev]"
	touch $@

$(VENV)/.test: $(VENV)/.dev tests/install_needs.sh
	tests/install_needs.sh
	$(PIP) install --quiet --editable ".[test]" "$(TORCH)" setuptools
	$(PIP) install --quiet --no-build-isolation deepspeed # a source package whose build imports torch
	touch $@

$(BENCH_TOOLS)/.packages: # a venv of their own: neither is needed by hwtop
	$(PYTHON) -m venv $(BENCH_TOOLS)
	$(BENCH_TOOLS)/bin/python -m pip --disable-pip-version-check install --quiet nvitop glances
	touch $@

$(WILD)/.packages: bench/wild/requirements.txt
	$(PYTHON) -m venv $(WILD)
	$(WILD)/bin/python -m pip --disable-pip-version-check install --quiet "$(TORCH)" setuptools ninja py-cpuinfo
	$(WILD)/bin/python -m pip --disable-pip-version-check install --quiet --no-build-isolation --requirement bench/wild/requirements.txt
	TORCH_EXTENSIONS_DIR=$(WILD)/extensions $(WILD)/bin/python -c 'from deepspeed.ops.op_builder.cpu import *; ShareMemCommBuilder().load()' # seconds of every job else
	touch $@

$(VENV)/.docs: $(BIN)/hwtop pyproject.toml
	$(PIP) install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

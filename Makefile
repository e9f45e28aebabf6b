# Everything a newcomer needs: `make demo`, `make test`, `make check`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH ?= torch==2.13.0

.PHONY: demo test check format lint bench matrix screenshots clean

demo: $(BIN)/hwtop ## install and watch a real two-rank training job with a planted fault
	$(BIN)/hwtop demo

test: $(VENV)/.test ## install what the tests need and run all of them
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --ignore tests/diagnosis
	$(BIN)/python -m pytest tests/diagnosis # real jobs that share out the cores among themselves

check: lint test ## what CI runs

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.test ## what hwtop costs
	$(BIN)/python bench/cold_start.py
	$(BIN)/python bench/frame_cost.py
	$(BIN)/python bench/monitor_cost.py
	$(BIN)/python bench/stack_grouping.py
	$(BIN)/python bench/attach_cost.py

matrix: $(VENV)/.test ## real jobs, healthy and with planted faults: what is found, missed, false, and how soon
	$(BIN)/python bench/matrix.py

screenshots: $(VENV)/.test ## every page of healthy and sick jobs, as SVG and PNG
	$(BIN)/python -m tests.pictures
	$(BIN)/python -m tests.web_picture

$(BIN)/hwtop: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "hwtop needs Python 3.10 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --editable .
	touch $@

$(VENV)/.test: $(BIN)/hwtop pyproject.toml tests/install_needs.sh
	tests/install_needs.sh
	$(PIP) install --quiet --editable ".[test]" "$(TORCH)" setuptools
	$(PIP) install --quiet --no-build-isolation deepspeed # a source package whose build imports torch
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

# Everything a developer runs, and CI runs the same. `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEALS ?= 40
JOBS ?= auto
SOURCES := arena tests bots/random-python bots/greedy-python bots/careful-python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test check format fuzz chaos soak golden wheel clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.ready ## set everything up and play a round robin of the bots in bots/ (about half a minute)
	@$(BIN)/arena run --deals $(DEALS)

test: $(VENV)/.ready-dev ## set everything up and run the tests; ARGS="-k name" picks some
	@$(BIN)/python -m pytest -q -n $(JOBS) $(ARGS)

check: $(VENV)/.ready-dev ## ruff, mypy and import-linter
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(VENV)/.ready-dev ## put the code into form
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)

fuzz: $(VENV)/.ready-dev ## the rules against the slow referee, some 20,000 random games (about a quarter of an hour)
	@ARENA_DIFFERENTIAL_GAMES=250 $(BIN)/python -m pytest -q -n $(JOBS) tests/rules/test_differential.py --timeout 3600

chaos: $(VENV)/.ready-dev ## 100 rounds of kills, signals, full disks and torn journals against a run (about ten minutes)
	@ARENA_CHAOS_ROUNDS=$${ARENA_CHAOS_ROUNDS:-100} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_chaos.py

soak: $(VENV)/.ready-dev ## 20,000 games, in which memory and open files have to stay flat (about ten minutes)
	@ARENA_SOAK_GAMES=$${ARENA_SOAK_GAMES:-20000} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_soak.py

golden: $(VENV)/.ready-dev ## write protocol/transcripts/ anew, after a change of the protocol
	@ARENA_GOLDEN=write $(BIN)/python -m pytest -q tests/protocol/test_transcripts.py

wheel: $(VENV)/.ready-dev ## build the wheel into dist/
	@$(BIN)/pip wheel -q --no-deps --no-build-isolation -w dist .

clean: ## remove what was built, but no results
	@rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "expected Python 3.11 or newer, got $$($(PYTHON) --version 2>&1); name one with PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "expected 'python3 -m venv' to work; on Debian: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.ready: $(VENV)/.made pyproject.toml
	@echo "installing into $(VENV)"
	@$(BIN)/pip install -q -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.made pyproject.toml
	@echo "installing into $(VENV)"
	@$(BIN)/pip install -q -e '.[dev]'
	@touch $@ $(VENV)/.ready

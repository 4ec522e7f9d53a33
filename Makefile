# Everything a developer runs, and CI runs the same. `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= auto
TRIES ?= 400
COMMA := ,
# Looked up when the demo starts. With the pure core the bot that looks ahead stays out: it alone would take most of a minute.
IS_NATIVE = $(shell $(BIN)/arena --version | grep -o 'core native')
# The demo itself says that the rules are slow, so its runs need not.
PURE = $(if $(IS_NATIVE),,ARENA_RULES=pure )
NATIVE_SOURCES = $(wildcard arena/*/native/*.[ch] arena/*/native/*.inc)
DEMO_BOTS = greedy-python careful-python$(if $(IS_NATIVE), lookahead-python)
DEMO_DEALS = $(if $(IS_NATIVE),10,4)
SOURCES := setup.py arena tests .ci/site.py .ci/first-run .ci/languages .ci/suite bots/random-python bots/greedy-python bots/careful-python bots/lookahead-python bots/flatmc-python bots/ismcts-python bots/learner-python bots/engine-cpp
# ARGS, where "-k a or b" is one option also without quotes around what follows -k.
PICKED = $$(printf %s "$$ARGS" | sed -E "s/-k +((not +)?[^ '\"]+( +(and|or) +(not +)?[^ '\"]+)*)/-k '\1'/")
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# With this variable every process would compile the arena again, which makes a short run four times as long.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo first-run test test-all check docs format fuzz proof sanitize chaos soak league-hour fair slow snapshots golden bench leaks wheel release-check clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

demo: $(VENV)/.ready ## set everything up and let bots play, in three acts (half a minute)
	$(if $(IS_NATIVE),,@printf '\nThere was no C compiler, so the rules run in Python: ten to fifty times slower. Fewer bots play, and fewer games.\nTo cure it: apt install gcc python3-dev (on Debian), then make clean demo\n')
	@printf '\n1. Built-in bots play each other\n\n'
	@$(PURE)$(BIN)/arena run random careful-2 greedy-4 careful-8 greedy --deals 30 --seed demo --strict
	@printf '\n2. Bots of bots/, programs of their own, play each other and a built-in bot\n\n'
	@$(PURE)$(BIN)/arena run $(DEMO_BOTS) careful-32 --seed demo --deals $(DEMO_DEALS) --move-ms 10000 --game-ms 10000 --trust $(subst $() ,$(COMMA),$(DEMO_BOTS)) --strict
	@printf '\n3. Your turn. Type\n\n'
	@printf '  %-41s %s\n' \
		'$(BIN)/arena report' 'for that table as a web page' \
		'$(BIN)/arena play greedy --human 0' 'to play a bot yourself' \
		'$(BIN)/arena new my-bot' 'to start a bot of your own'
	@printf '\nAfter "source $(BIN)/activate" the word arena is enough.\n'

first-run: ## install what is committed in every usual way, as a plain user with and without bubblewrap and a compiler, and play (three minutes); ARGS="bare --without bubblewrap"
	@.ci/first-run $(ARGS)

test: $(VENV)/.ready-dev ## set everything up and run the tests that every change needs (about two minutes on two cores); ARGS="-k name" or ARGS="-k 'a or b'" picks from all tests
	@eval "JOBS=$(JOBS) .ci/apart $(BIN)/python .ci/suite $(if $(LONG),--long) $(if $(ARGS),--once) $(PICKED)"

test-all: $(VENV)/.ready-dev ## all tests: every seed, every attack, every page (about 15 minutes on two cores); ARGS="-m long" leaves out those of `make test`
	@$(MAKE) --no-print-directory test LONG=1

check: docs ## ruff, mypy, import-linter, compilers and linters of the other languages, and the site with all its links
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python .ci/languages

docs: $(VENV)/.ready-dev ## build the site of docs/ and protocol/ into build/site/, and check its links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

format: $(VENV)/.ready-dev ## put the code of every language into form
	@$(BIN)/ruff format $(SOURCES)
	@$(BIN)/ruff check --fix $(SOURCES)
	@$(BIN)/python .ci/languages --write

fuzz: $(VENV)/.ready-dev ## what `make test` tries a few times, thousands of times: random games, inputs and simulated runs (about an hour)
	@HYPOTHESIS_PROFILE=night ARENA_IDENTITY_GAMES=20000 ARENA_DIFFERENTIAL_GAMES=600 ARENA_SLOW_PERFT=20000 \
		ARENA_RATING_TRIES=2000 $(BIN)/python -m pytest -q -n $(JOBS) --timeout 7200 \
		tests/rules/test_cores.py tests/simulations/test_differential.py tests/rules/test_vectors.py \
		tests/ratings/test_company.py tests/simulations/test_coverage.py tests/ratings/test_margins.py \
		tests/simulations/test_stopping.py \
		$$(grep -l '^from hypothesis' -r tests --include='test_*.py') $(ARGS)

proof: $(VENV)/.ready-dev ## simulate runs, and write how often their error bars held into docs/proof.csv and docs/statistics.md (about half an hour on two cores); TRIES=400, ONLY="planned company"
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.ratings.proof --write --tries $(TRIES) $(if $(ONLY),--only $(ONLY))

sanitize: $(VENV)/.ready-dev ## the tests of rules and channel, and games of the bots in C and C++, built with the address and undefined-behaviour sanitizers (about two minutes)
	@JOBS=$(JOBS) PYTHON=$(BIN)/python .ci/apart .ci/sanitize $(ARGS)

chaos: $(VENV)/.ready-dev ## 100 rounds of kills, signals, full disks and torn journals against a run, and 50 kills of workers and keepers in one (about ten minutes)
	@ARENA_CHAOS_ROUNDS=$${ARENA_CHAOS_ROUNDS:-100} ARENA_CHAOS_KILLS=$${ARENA_CHAOS_KILLS:-50} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_chaos.py

soak: $(VENV)/.ready-dev ## 20,000 games, in which memory and open files have to stay flat (about ten minutes)
	@ARENA_SOAK_GAMES=$${ARENA_SOAK_GAMES:-20000} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_soak.py

league-hour: $(VENV)/.ready-dev ## a league of an hour with a submission or a kill every two minutes, at a low priority; MINUTES=60
	@$(BIN)/python -m tests.e2e.league_hour --minutes $(or $(MINUTES),60)

slow: $(VENV)/.ready-dev ## starters on a busy machine: 200 games of each that thinks at 100 ms a move, none late, all stronger than plain; 20 games in each language at 20 and at 50 ms, at most one late (about twenty minutes)
	@ARENA_STARTER_GAMES=$${ARENA_STARTER_GAMES:-200} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_starters.py

fair: $(VENV)/.ready-dev ## 1,000 games beside programs that burn every core, and bots that take the processor from others (about ten minutes)
	@ARENA_FAIR_GAMES=$${ARENA_FAIR_GAMES:-1000} $(BIN)/python -m pytest -q -s -n 0 tests/e2e/test_fair.py

snapshots: $(VENV)/.ready-dev ## write anew what the tests expect commands and messages to say, after a change of the words; ARGS="tests/cli" writes that of some tests
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --snapshot-update $(or $(ARGS),$(subst /__snapshots__/,/,$(patsubst %.ambr,%.py,$(wildcard tests/__snapshots__/*.ambr tests/*/__snapshots__/*.ambr))))

golden: $(VENV)/.ready-dev ## write protocol/transcripts/, vectors/, pictures/ and the lists of columns anew, after a change of the protocol, the rules, the drawing or the columns
	@ARENA_GOLDEN=write $(BIN)/python -m pytest -q tests/protocol/test_transcripts.py tests/protocol/test_vectors.py tests/protocol/test_pictures.py tests/docs/test_pictures.py tests/docs/test_columns.py tests/browser/test_pictures.py

wheel: $(VENV)/.ready-dev ## build the wheel, with its native parts, into dist/
	@rm -f dist/*.whl
	@$(BIN)/pip wheel -q --no-deps --no-build-isolation -w dist .
	@[ $$($(BIN)/python -m zipfile -l dist/*.whl | grep -cE 'abi3[.]so|native/keeper ') = 3 ] || \
		{ rm dist/*.whl; echo "expected a C compiler for the native parts of the wheel; on Debian: apt install gcc python3-dev"; exit 1; }

release-check: $(VENV)/.ready-dev ## build the sdist and the wheel into dist/, look into both, and play with what they install (about two minutes)
	@rm -rf dist
	@mkdir -p build
	@$(BIN)/python -m build --outdir dist . >build/release.log 2>&1 || { cat build/release.log; exit 1; }
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/abi3audit --strict dist/*.whl
	@ARENA_DIST=dist JOBS=0 .ci/apart $(BIN)/python .ci/suite tests/release $(ARGS)

bench: $(VENV)/.ready-dev ## measure rules, referee, start-up, tables, ratings and memory (a quarter of an hour); ARGS="rules referee" picks some, ARGS="tables --against DIR" compares with another checkout
	@$(BIN)/arena bench $(ARGS)

leaks: $(VENV)/.ready-dev ## search 10,000 states for lines that tell a seat what it cannot know (about half a minute)
	@$(BIN)/arena audit-leaks $(ARGS)

clean: ## remove what was built, but no results
	@rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "expected Python 3.11 or newer, got $$($(PYTHON) --version 2>&1); name one with PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "expected 'python3 -m venv' to work; on Debian: apt install python3-venv"; exit 1; }
	@touch $@

$(VENV)/.ready: $(VENV)/.made pyproject.toml setup.py $(NATIVE_SOURCES)
	@echo "installing into $(VENV); this takes half a minute"
	@$(BIN)/pip install -q -e .
	@$(BIN)/python -m compileall -q arena bots
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.made pyproject.toml setup.py $(NATIVE_SOURCES)
	@echo "installing into $(VENV); this takes half a minute"
	@$(BIN)/pip install -q --no-compile -e '.[dev]'
	@$(BIN)/python -m compileall -q arena bots tests
	@touch $@ $(VENV)/.ready

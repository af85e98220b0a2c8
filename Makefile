# Targets: demo, test, test-rest, test-all, coverage, soak, soak-train, faults, mutants, playthroughs, perft, bench, bench-peers, leaderboard, check, lint, types, install, clean. `make demo` works on a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WORKERS ?= 2

.DEFAULT_GOAL := check
.PHONY: install demo test test-rest test-all coverage soak soak-train faults mutants playthroughs perft bench bench-peers leaderboard check lint types clean
# A failed recipe must not leave its target behind.
.DELETE_ON_ERROR:

install: $(INSTALLED)

# Entry points are fixed at install time, so a changed pyproject.toml triggers a new install.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "gunzi needs Python 3.11 or later; set PYTHON=python3.11")'
	@echo "installing into $(VENV), this takes a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt setuptools
	$(BIN)/python -m pip install --quiet -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-build-isolation -e ".[all]"
	touch $@

# Train for three minutes, then evaluate the network on duplicate deals against the rule bots and the untrained network.
# An existing runs/demo is renamed first: two runs never share a folder.
demo: install
	@if [ -e runs/demo ]; then aside="runs/demo-$$(date +%Y%m%d-%H%M%S)-$$$$"; mv runs/demo "$$aside"; echo "the older run is now $$aside"; fi
	$(BIN)/gunzi train configs/train/demo.toml --run demo
	$(BIN)/gunzi arena runs/demo runs/demo/untrained.safetensors greedy uniform --deals 1000 --json runs/demo/arena.json
	@echo "the trained bot is in runs/demo, its results in runs/demo/arena.json"

# Tiers of tests, see tests/support/tiers.py: the fast one, then the slow tests and those that start processes.
test: install
	$(BIN)/python -m pytest -q -n $(WORKERS) -m fast

test-rest: install
	$(BIN)/python -m pytest -q -n $(WORKERS) -m "slow or process"

test-all: test test-rest

# Branch coverage of gunzi_env; fails below the threshold in pyproject.toml.
coverage: install
	$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term-missing:skip-covered --cov-report=json:.coverage.json
	@$(BIN)/python -c "import json; p = json.load(open('.coverage.json'))['totals']['percent_branches_covered']; \
	print(f'branches covered: {p:.1f} %'); raise SystemExit('at least 97 % is required' if p < 97 else 0)"

# Long run: 10^6 random hands with all laws checked, 10^5 against the oracle. make soak SHARE=0.01 plays 1 % of them.
SHARE ?= 1
soak: install
	$(BIN)/python -m tests.support.soak --share $(SHARE) --workers $(WORKERS)

# Train for MINUTES minutes and check that memory, open files and speed stay constant.
MINUTES ?= 30
soak-train: install
	$(BIN)/python -m tests.support.soak_training --minutes $(MINUTES)

# Kill training runs at random times and during saves, resume them, and compare each with an uninterrupted run.
KILLS ?= 50
faults: install
	$(BIN)/python -m tests.support.faults --kills $(KILLS)

# Mutation testing: apply known faults one at a time; the test suite must catch each.
mutants: install
	$(BIN)/python -m tests.support.mutants --workers $(WORKERS)

# Regenerate the golden files after an intended change; git diff shows the effect.
playthroughs: install
	$(BIN)/python -m tests.support.playthroughs

perft: install
	$(BIN)/python -m tests.support.perft

# Speed and memory on one core. JSON=benchmarks/results.json saves the figures for docs/performance.md.
bench: install
	$(BIN)/python -m benchmarks.ours $(if $(JSON),--json $(JSON))

# Comparison with OpenSpiel, PettingZoo, RLCard and Pgx, which are installed in a separate virtual environment.
PEERS := .venv-peers
bench-peers: install $(PEERS)/.installed
	$(BIN)/python -m benchmarks.peers --python $(PEERS)/bin/python $(if $(JSON),--json $(JSON))

$(PEERS)/.installed: benchmarks/peers.txt benchmarks/peers-pgx.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers.txt
	@$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers-pgx.txt || echo "Pgx could not be installed and is skipped"
	touch $@

# Play the pairings of docs/leaderboard.md (takes hours) and write the page. An interrupted run resumes.
# ONLY=dalian-expert-greedy plays one pairing. SCALE=0.01 plays 1 % of the deals and writes nothing.
leaderboard: install
	$(BIN)/python -m benchmarks.leaderboard --workers $(WORKERS) $(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE))

lint: install
	$(BIN)/ruff check .

types: install
	$(BIN)/mypy --strict gunzi_env
	$(BIN)/mypy agents/gunzi_agents train/gunzi_train eval/gunzi_eval benchmarks

check: lint types test

clean:
	rm -rf $(VENV) $(PEERS) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find gunzi_env agents train eval configs tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Targets: demo, test, coverage, soak, soak-train, faults, mutants, playthroughs, perft, bench, bench-peers, leaderboard, check, lint, types, install, clean. `make demo` on a fresh clone is the whole tour.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WORKERS ?= 2

.DEFAULT_GOAL := check
.PHONY: install demo test coverage soak soak-train faults mutants playthroughs perft bench bench-peers leaderboard check lint types clean
# a failed recipe must not leave a stamp that looks finished
.DELETE_ON_ERROR:

install: $(INSTALLED)

# Entry points are frozen at install time, so a changed pyproject.toml means a new install.
$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "gunzi needs Python 3.11 or later; set PYTHON=python3.11")'
	@echo "installing into $(VENV), this takes a minute or two"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt setuptools
	$(BIN)/python -m pip install --quiet -c constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/python -m pip install --quiet -c constraints.txt --no-build-isolation -e ".[all]"
	touch $@

# Train for three minutes, then measure the result on the same deals as the rule bots and its own untrained self.
# An older run is moved aside: two runs never share a folder.
demo: install
	@if [ -e runs/demo ]; then aside="runs/demo-$$(date +%Y%m%d-%H%M%S)-$$$$"; mv runs/demo "$$aside"; echo "the older run is now $$aside"; fi
	$(BIN)/gunzi train configs/train/demo.toml --run demo
	$(BIN)/gunzi arena runs/demo runs/demo/untrained.safetensors greedy uniform --deals 1000 --json runs/demo/arena.json
	@echo "the trained bot lies in runs/demo, its figures in runs/demo/arena.json"

test: install
	$(BIN)/python -m pytest -q -n $(WORKERS)

# How much of gunzi_env the tests reach, branches counted; fails below the bound in pyproject.toml.
coverage: install
	$(BIN)/python -m pytest -q -n $(WORKERS) --cov --cov-report=term-missing:skip-covered --cov-report=json:.coverage.json
	@$(BIN)/python -c "import json; p = json.load(open('.coverage.json'))['totals']['percent_branches_covered']; \
	print(f'branches covered: {p:.1f} %'); raise SystemExit('at least 97 % is asked for' if p < 97 else 0)"

# The long run: 10^6 random hands with every law checked, 10^5 against the oracle. make soak SHARE=0.01 plays a hundredth.
SHARE ?= 1
soak: install
	$(BIN)/python -m tests.soak --share $(SHARE) --workers $(WORKERS)

# A training of MINUTES minutes: whether its memory, open files and speed stay what they were.
MINUTES ?= 30
soak-train: install
	$(BIN)/python -m tests.soak_training --minutes $(MINUTES)

# Trainings killed at random times and within saves, each finished and compared with an uninterrupted one.
KILLS ?= 50
faults: install
	$(BIN)/python -m tests.faults --kills $(KILLS)

# The test of the tests: faults planted one by one, each of which the suite must catch.
mutants: install
	$(BIN)/python -m tests.mutants --workers $(WORKERS)

# Write the golden files anew after a change that is meant; git diff shows what it changes.
playthroughs: install
	$(BIN)/python -m tests.playthroughs

perft: install
	$(BIN)/python -m tests.perft

# Speed and memory on one core. JSON=benchmarks/results.json keeps the figures for docs/performance.md.
bench: install
	$(BIN)/python -m benchmarks.ours $(if $(JSON),--json $(JSON))

# Side by side with OpenSpiel, PettingZoo, RLCard and Pgx, which live in a virtual environment of their own.
PEERS := .venv-peers
bench-peers: install $(PEERS)/.installed
	$(BIN)/python -m benchmarks.peers --python $(PEERS)/bin/python $(if $(JSON),--json $(JSON))

$(PEERS)/.installed: benchmarks/peers.txt benchmarks/peers-pgx.txt
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers.txt
	@$(PEERS)/bin/python -m pip install --quiet -r benchmarks/peers-pgx.txt || echo "Pgx could not be installed and is left out"
	touch $@

# Play the contests of docs/leaderboard.md, hours in all, and write the page; stopped, it goes on where it was.
# ONLY=dalian-expert-greedy plays one of them, SCALE=0.01 a hundredth of the deals, which writes nothing.
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

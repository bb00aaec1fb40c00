# make demo    a finished page from a simulated world: reports/demo/index.html
# make quick    under a minute, after each edit: contracts, laws, refusals, settings, API
# make test    the tests that show that all works, one small workflow too, in seven minutes
# make test-long    the rest: more of the same, second runs of the workflow
# make test-newest    the demo and make quick on the newest Python of this machine, with the lock
#                  and with the newest libraries; make quick VENV=FOLDER: on that of an environment
# make test-all    make test, make test-browser and make test-long
# make test-browser    the tests of the page in Chromium, with pictures in build/screenshots
# make test-slurm    the demo and what can go wrong through a real SLURM of one node; as root
# make test-faults    kills, full disks, changed files, twenty kills: minutes; as root for the disks
# make test-fuzz    100,000 inputs that are nearly right to every reader
# make test-mutants    small faults put into the code: which do the tests of make test find; hours
# make example    the tracked page in reports/example, anew
# make lint    format, lint, layers of imports, types, docstrings, workflow
# make docs    the documentation site, built strictly: build/site/index.html
# make bench   speed and error beside other libraries
# make ready-made   the bundled calibrations again from public data: are they the same bytes?
# make clean   remove what can be rebuilt (not .venv, not reports/README.md)
#
# Each sets up .venv from a hashed lock under envs/ when it is not there or the
# lock changed. Another Python: make demo PYTHON=/path/to/python3

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
export PYTHON
CORES ?= 2
VENV ?= .venv
BIN := $(VENV)/bin

# Contracts and laws of the registries, refusals, settings, records, the API.
QUICK := $(wildcard tests/test_*.py) tests/calibrators/test_contract.py tests/calibrators/test_laws.py \
	tests/configuration tests/metrics tests/shift/test_laws.py tests/shift/test_estimators.py \
	tests/sets tests/findings tests/tables/test_table_refusals.py tests/tables/test_formats.py \
	tests/tables/test_calibration_file.py tests/report/test_sections.py

# A sum over several threads depends on their number.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# Bytecode is written: else each process compiles the tests again, at every run.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo example quick ready-made test test-newest test-long test-all test-browser test-slurm test-faults test-fuzz test-mutants lint docs bench clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

$(VENV)/.user.stamp: envs/credence.lock.txt envs/set_up.sh pyproject.toml
	@VENV=$(VENV) envs/set_up.sh envs/credence.lock.txt
	@touch $@

$(VENV)/.developer.stamp: envs/dev.lock.txt envs/set_up.sh pyproject.toml
	@VENV=$(VENV) envs/set_up.sh envs/dev.lock.txt
	@touch $(VENV)/.user.stamp $@

demo: $(VENV)/.user.stamp
	@$(BIN)/credence run --cores $(CORES)

example: $(VENV)/.user.stamp
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	cp reports/example/config.yaml "$$folder"; \
	$(BIN)/credence run --directory "$$folder" --cores $(CORES); \
	cp "$$folder"/reports/example/{index.html,report.json} reports/example

# A file stays in one process, so that what its tests share is made once; long files come first.
PYTEST := $(BIN)/python -m pytest -n $(CORES) --dist loadfile --no-loadscope-reorder

quick: $(VENV)/.developer.stamp
	@$(PYTEST) $(QUICK) -k 'not trees and not auto and not judged_and_drawn and not ten_lines'

test: $(VENV)/.developer.stamp
	@$(PYTEST) --ignore=tests/browser

test-newest:
	@envs/test_newest.sh $(CORES)

test-all: test test-browser test-long

test-long: $(VENV)/.developer.stamp .venv-validators/.stamp
	@$(PYTEST) -m 'long and not faults and not slurm'

test-browser: $(VENV)/.developer.stamp
	@CREDENCE_SCREENSHOTS=build/screenshots $(PYTEST) tests/browser

# The plugin is kept apart: where it is installed and the controller is down, every
# call of Snakemake waits for it.
.venv-slurm/.stamp: envs/slurm.lock.txt envs/set_up.sh pyproject.toml
	@VENV=.venv-slurm envs/set_up.sh envs/slurm.lock.txt
	@touch $@

test-slurm: $(VENV)/.developer.stamp .venv-slurm/.stamp
	@$(BIN)/python -m pytest -m slurm -rs tests/slurm

test-faults: $(VENV)/.developer.stamp
	@$(BIN)/python -m pytest -n $(CORES) tests/faults tests/cli/test_lock.py tests/workflow/test_troves.py -m 'not slurm'

test-fuzz: $(VENV)/.developer.stamp
	@cd tests && PYTHONPATH=. ../$(BIN)/python -m faults.fuzzing ../build/fuzz 0 100000 1

test-mutants: $(VENV)/.developer.stamp
	@cd tests && PYTHONPATH=. nice -n 19 ../$(BIN)/python -m faults.mutant_runs

lint: $(VENV)/.developer.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules examples
	$(BIN)/snakemake --lint

.venv-docs/.stamp: envs/docs.lock.txt envs/set_up.sh pyproject.toml
	@VENV=.venv-docs envs/set_up.sh envs/docs.lock.txt
	@touch $@

# The programs of others that check what an archive holds for them.
.venv-validators/.stamp: envs/validators.lock.txt envs/set_up.sh pyproject.toml
	@VENV=.venv-validators envs/set_up.sh envs/validators.lock.txt
	@touch $@

docs: $(VENV)/.developer.stamp .venv-docs/.stamp
	@$(BIN)/python docs/reference.py build/docs
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet

# Peers that need PyTorch are installed where that is possible, and listed as absent elsewhere.
.venv-bench/.stamp: envs/bench.lock.txt envs/bench_torch.txt envs/set_up.sh pyproject.toml
	@VENV=.venv-bench envs/set_up.sh envs/bench.lock.txt
	-@.venv-bench/bin/python -m pip install --quiet --requirement envs/bench_torch.txt
	@touch $@

ready-made: $(VENV)/.developer.stamp
	@PYTHONPATH=. $(BIN)/python verification/ready_made.py --data ../shared/data --check

bench: .venv-bench/.stamp
	@.venv-bench/bin/python -m benchmarks.run

clean:
	@rm -rf results demo .snakemake reports/demo build dist benchmarks/out verification/out
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# Every target works from a fresh clone with only python3 and make: it creates .venv first.

PYTHON ?= python3
N ?= 1000

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# Tests start hundreds of processes, each of which would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
# Tests outside tests/torture that grow with N too.
TORTURE := $(patsubst %,tests/runtime/test_%.py,aliasing threads interrupt unload pool)

# Rooms below native code, and what looks at the house as a whole.
QUICK := $(patsubst %,tests/%,ir arith analysis interp frontend errors illegal roundtrip tir) \
    $(patsubst %,tests/test_%.py,smoke config errors golden layering oracle script source)

.DEFAULT_GOAL := help
.PHONY: help demo docs test lint sample thorough quick check golden bench bench-peers fuzz mutants torture versions size clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): pyproject.toml setup.py
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet 'pip>=23'
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(INSTALLED)  ## run a few kernels, check them against NumPy, print a table
	$(BIN)/python -m hybridjit demo

test: $(INSTALLED)  ## everything CI runs: lint, beside the test suite with a sample of its large tables
	$(MAKE) --no-print-directory --jobs=2 lint sample

sample: $(INSTALLED)
	$(PYTEST) --sample
	$(PYTEST) -n 0 tests/test_smoke.py  # once more: now the kernels come from the disk cache

thorough: $(INSTALLED)  ## the test suite with every row of every table
	$(PYTEST)

quick: $(INSTALLED)  ## what needs hardly any native code: front end, IR, analyses, errors; a minute
	$(PYTEST) $(QUICK)

lint: $(INSTALLED)  ## formatting and lint, and the types of what people install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright hybridjit hybridjit/stdlib

check: $(INSTALLED)  ## formatting, lint and all types: before a commit
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --project .

golden: $(INSTALLED)  ## rewrite the golden files, then show what changed
	$(PYTEST) --update-golden
	git --no-pager diff --stat -- tests/golden
	git status --short -- tests/golden

bench: $(INSTALLED)  ## run the benchmarks
	$(BIN)/python -m pip install --quiet scipy  # Numba compiles `@` and np.linalg only with it
	$(BIN)/python -m benchmarks.run

bench-peers: $(INSTALLED)  ## one table against NumPy, Numba, XLA and onnxruntime; WORDS choose rows
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks.peers $(WORDS) --out benchmarks/results

docs: $(INSTALLED)  ## build the documentation in docs/site
	$(BIN)/python -m docs.build docs/site

fuzz: $(INSTALLED)  ## N random programs of every kind, natively; N examples for every property test
	$(BIN)/python -m tests.campaigns --count $(N)
	$(BIN)/python -m tests.nests.judge --count $(N)
	$(PYTEST) -m hypothesis --fuzz=$(N)

mutants: $(INSTALLED)  ## plant bugs in the compiler and say which tests catch them
	$(BIN)/python -m tests.planted

torture: $(INSTALLED)  ## guard pages, forks, threads, signals, a damaged cache: N rounds of each
	$(PYTEST) tests/torture $(TORTURE) --fuzz=$(N)

versions: $(INSTALLED)  ## run smoke and native tests on every Python found, oldest and newest llvmlite
	$(BIN)/python -m tests.support.versions

size:  ## count lines of Python per folder
	@git ls-files --cached --others --exclude-standard -- '*.py' | while read -r file; do \
	    test ! -f "$$file" || echo "$$(dirname "$$file") $$(wc -l < "$$file")"; \
	done | awk '{ files[$$1]++; lines[$$1] += $$2; total += $$2 } \
	    END { for (dir in lines) printf "%6d lines %4d files  %s\n", lines[dir], files[dir], dir; \
	          printf "%6d lines %4d files  total\n", total, NR }' | sort -k5

clean:  ## remove .venv and everything that was generated
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Set-up needs Python 3.11 or newer, git, make and pip; everything else comes from requirements.lock into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
QUESTION ?= limit how many requests a client may send
STORE := $(CURDIR)/data/store

.PHONY: demo dev test check format lock wheel docs clean

# `make demo` asks the bundled sample repository, `make demo REPO=path` a repository of yours.
demo: .venv/ready
ifdef REPO
	@echo "Indexing $(REPO) ..."
	@$(BIN)/strata index "$(REPO)"
	@cd "$(REPO)" && "$(CURDIR)/$(BIN)/strata" query "$(QUESTION)" --limit 5
else
	@echo "Indexing the sample repository (the first time some seconds) ..."
	@STRATA_HOME="$(STORE)" $(BIN)/strata index data/sample --repo sample
	@STRATA_HOME="$(STORE)" $(BIN)/strata query "$(QUESTION)" --repo sample --limit 5
endif

# The Dagster UI on the sample's store.
dev: .venv/ready
	@STRATA_HOME="$(STORE)" $(BIN)/strata dev

test: .venv/ready
	$(BIN)/pytest

# What CI runs before the tests.
check: .venv/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: .venv/ready
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# Pin anew what pyproject.toml allows.
lock: .venv/ready
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile -q --universal --extra dev --extra mcp --python-version 3.11 --generate-hashes --no-strip-extras --no-emit-index-url \
		--no-emit-find-links --custom-compile-command "make lock" --upgrade -o requirements.lock pyproject.toml

wheel: .venv/ready
	$(BIN)/python -m build --no-isolation --wheel

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis data/store

.venv/ready: requirements.lock pyproject.toml
	@echo "Setting up .venv (once, one to two minutes) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Strata needs Python 3.11 or newer")'
	@echo "  making the environment ..."
	@$(PYTHON) -m venv .venv
	@echo "  downloading and installing the packages of requirements.lock (the longest step) ..."
	@$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	@echo "  installing Strata itself ..."
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

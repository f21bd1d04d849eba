# The developer's whole interface; `make help` lists it. Every target sets up what it needs first.

RUN := scripts/run

.PHONY: help setup demo test check serve bench crash fuzz fuzz-wire soak format lock clean
.DEFAULT_GOAL := help

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## create .venv with the locked dependencies, find or install Java
	@scripts/setup

demo: setup ## a car plant's streams for a minute, live in the terminal (ARGS="--seconds 10")
	@# A process group of its own: Ctrl-C ends the demo, which sums up and succeeds, and not make.
	@bash -c 'set -m; $(RUN) millpond demo $(ARGS); exit $$?'

test: setup ## all tests, in two processes (ARGS="-k ring")
	@# Each process has a Spark of its own, which leaves a core idle much of the time. Long tests come first.
	@$(RUN) pytest -n 2 --dist loadgroup --no-loadscope-reorder $(ARGS)

check: setup ## format, lint, types, and the tests that need no Java: under a minute
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) mypy
	@$(RUN) pytest -q -n auto tests/unit millpond --ignore=millpond/spark

bench: setup ## a benchmark (NAME=ingest, aim-views, simple-view, datacell, linear-road, tpch, serve or subscribe, ARGS="--scale 0.1")
	@$(RUN) millpond bench $(or $(NAME),ingest) $(ARGS)

crash: setup ## the crash tests with 500 kills
	@MILLPOND_CRASH_KILLS=$${MILLPOND_CRASH_KILLS:-500} $(RUN) pytest --timeout=0 tests/crash $(ARGS)

fuzz: setup ## random queries against PostgreSQL, random views and windows against one-shot answers (N=3000)
	@MILLPOND_FUZZ_CASES=$(or $(N),3000) $(RUN) pytest --timeout=0 tests/spark/test_against_postgres.py tests/views/test_fuzz.py tests/windows/test_fuzz.py tests/queries/test_random_queries.py $(ARGS)

fuzz-wire: setup ## malformed sessions against a server (N=1000000 messages, MILLPOND_FUZZ_SEED=7)
	@MILLPOND_FUZZ_MESSAGES=$(or $(N),1000000) $(RUN) pytest --timeout=0 -s tests/clients/test_fuzz_wire.py $(ARGS)

soak: setup ## a crowd of clients that do what they like (SECONDS=60)
	@MILLPOND_SOAK_SECONDS=$(or $(SECONDS),60) $(RUN) pytest --timeout=0 -s tests/clients/test_crowd.py $(ARGS)

serve: setup ## a PostgreSQL server for a temporary pond (ARGS="--pond plant --port 5433")
	@$(RUN) millpond serve $(ARGS)

format: setup ## rewrite the code as `make check` wants it
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .

lock: setup ## choose the newest versions again and write requirements.lock
	@scripts/lock

clean: ## remove .venv and all caches
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info spark-warehouse metastore_db derby.log
	find millpond tests -name __pycache__ -type d -prune -exec rm -rf {} +

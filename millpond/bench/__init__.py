"""Benchmarks: `millpond bench NAME` runs `run` of the module of that name."""

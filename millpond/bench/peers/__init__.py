"""What the benchmarks run beside: other engines on the same rows, in the same run, on the same machine."""

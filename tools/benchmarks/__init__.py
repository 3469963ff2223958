"""The benchmarks of tools/bench.py, one module for each subject."""

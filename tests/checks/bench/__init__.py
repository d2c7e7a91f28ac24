"""Benchmarks of ``make bench``: whole processes, and ratios within one run."""

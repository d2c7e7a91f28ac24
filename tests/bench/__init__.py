"""What ``make bench`` measures: whole processes, and ratios within one run."""

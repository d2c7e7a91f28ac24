"""The workload is a program of its own: it is imported as its image has it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "workloads" / "rocksdb"))

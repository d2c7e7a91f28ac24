"""The import path of the workload, a separate program, as its image has it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "workloads" / "rocksdb"))

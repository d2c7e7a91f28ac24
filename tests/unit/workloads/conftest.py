"""The import path of the workloads, separate programs, as their images have it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "workloads" / "harness"))

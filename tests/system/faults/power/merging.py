"""Processes of a state folder that end one after the other, until their log segments are merged.

``python -m tests.system.faults.power.merging STATE``
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from onebox.logs.segments import MIN_FILES
from onebox.logs.store import LogStore

GROUP = "/Tidemark/rocksdb"


def main() -> None:
    """Append a line and close the store, as often as a merge needs."""
    folder = Path(sys.argv[1]) / "logs"
    for number in range(MIN_FILES + 2):
        # Lines whose Parquet file is old are removed, and only such files are merged.
        for file in folder.glob("*/*.parquet"):
            os.utime(file, (0, 0))
        store = LogStore(folder)
        store.append(GROUP, "stream", [(number, f"line {number}")], number)
        store.close()
    assert [*folder.glob("*/*-merged.parquet")], "no segments were merged"


if __name__ == "__main__":
    main()

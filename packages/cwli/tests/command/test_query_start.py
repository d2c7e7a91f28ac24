"""Modules that a query over files does without: each would lengthen its start."""

import subprocess
import sys

UNNEEDED = {
    "concurrent.futures", "decimal", "difflib", "duckdb", "hashlib", "rich", "yaml", "zoneinfo",
}  # fmt: skip
PROGRAM = """
import sys
from cwli.insights import EventSource, run
from cwli import command
run("fields @message | stats count(*) by bin(1m)", EventSource.union([]))
print(*sys.modules)
"""


def test_a_query_over_files_loads_neither_duckdbs_wrappers_nor_the_libraries_of_other_commands():
    program = [sys.executable, "-c", PROGRAM]
    loaded = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
    assert not UNNEEDED & set(loaded)

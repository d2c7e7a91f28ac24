"""The measuring process's last words."""

import subprocess
import sys

from tidemark.model.task import HARNESS

FULL_DISK = """import sys
from harness import measurement
sys.excepthook = measurement.name_failure
open("/dev/full", "w", buffering=1).write("line\\n")
"""


def test_a_full_disk_is_named_in_one_sentence_after_the_traceback(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK],
        cwd=tmp_path,
        env={"PYTHONPATH": str(HARNESS)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stdout == (
        f"[main] {tmp_path.name}.Task ERROR  - OSError: [Errno 28] No space left on device\n"
    )

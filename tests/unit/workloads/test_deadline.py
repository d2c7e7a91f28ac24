"""The deadline of a load."""

import subprocess
import sys

from harness import deadline

PROGRAM = """
import signal
from harness import deadline
deadline.keep({"TIDEMARK_DEADLINE_SECONDS": "5.5", "TIDEMARK_BEGAN": "-1000"})
while True:
    try:
        signal.pause()
    except BaseException:
        pass
"""


def test_a_load_ends_itself_with_the_reason_once_its_deadline_has_passed():
    folder = deadline.__file__.rpartition("/harness/")[0]

    words, env = [sys.executable, "-c", PROGRAM], {"PYTHONPATH": folder}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)

    assert done.returncode == 1, done.stderr
    assert done.stdout.endswith(
        ".Deadline ERROR  - The task was ended because it took more than 5.5 seconds.\n"
    )

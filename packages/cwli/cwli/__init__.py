"""``cwli``: CloudWatch Logs Insights queries over log files, by the code of ``tidemark query``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

# The folders of Tidemark stay below this package, so that they hide nobody's ``local``.
sys.path.insert(0, str(Path(__file__).parent / "tree"))


def main() -> NoReturn:
    """Run the command and end the process."""
    from tidemark.cli.program import execute  # noqa: PLC0415
    from tidemark.cli.query import command  # noqa: PLC0415

    assert command.help
    command.help = command.help.replace("tidemark query", "cwli")
    execute(command, "cwli")

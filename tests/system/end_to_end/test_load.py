"""A load that searches for the users of a service, and one whose service ends before."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.system.end_to_end.command_line import tidemark

pytestmark = pytest.mark.systems
SYSTEM = Path(__file__).parent / "system"


def test_a_search_finds_the_users_of_a_service_and_fails_with_a_service_that_ends(tmp_path):
    place = ("--state", str(tmp_path / "state"))
    options = {"env": {**os.environ, "TIDEMARK_SYSTEMS": str(SYSTEM)}}

    done = tidemark("run", "crowd", *place, **options)

    sql = "SELECT version, value FROM rates WHERE value IS NOT NULL"
    (rate,) = json.loads(tidemark("sql", sql, "--format", "json", *place, **options).stdout)
    # One request after the other takes 25 ms: 40 a second, fewer on a busy machine. A queue of some
    # more is short after the 4 s of a level, and the bracket is a third of its upper end.
    assert rate["version"] == "1.0", done.stdout
    assert 0 < float(rate["value"]) < 50
    (trial,) = (line for line in done.stdout.splitlines() if "  1.1  failed: " in line)
    assert "unbounded: service server: its container ended with exit code 3; its last " in trial
    assert "ValueError: the crowd is too large; step search: none of " in trial
    report = tidemark("show", "--all", *place, **options).stdout
    assert re.search(r"trial \d \(1\.0\): [\d.]+ users are supported\.", report)
    # The mean, the failures, the lateness, and the CPU of three services and of the local cloud.
    numbers = r" [\d.]+ \|" * 7
    assert re.search(rf"\| 1\.0 \| \d \| 1 \| 8 \| 8\.000 \|{numbers} none \|", report), report
    assert "| CPU of the local cloud [vCPU] |" in report

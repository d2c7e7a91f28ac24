"""Damaged files: each line is right, or it is skipped and counted."""

import random
import re

import pytest

from local.insights import run
from local.logs.files import log_files
from local.logs.mending import Damage, mend

MOST = 4_000
PIECES = [
    b"plain", b"\xe2\x98\x83", b"\xe2\x98", b"\xff", b"\x80\x80", b"\0", b"\xef\xbb\xbf",
    b"\xf4\x8f\xbf\xbf", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n", b"\n\n", b"x" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("seed", range(25))
def test_every_line_of_dirty_bytes_is_right_or_counted(tmp_path, seed):
    chance = random.Random(seed)
    content = b"begin" + b"".join(chance.choices(PIECES, k=chance.choice([5, 50, 300])))
    file = tmp_path / "dirty.log"
    file.write_bytes(content)
    mended = mend([file], tmp_path, MOST)

    lines = re.findall(rb"[^\n]*\n|[^\n]+\Z", content)
    short = [line for line in lines if len(line) < MOST]
    text = b"".join(short).decode(errors="replace").replace("\U0010ffff", "\ufffd")
    expected = [line for line in re.split("[\r\n]+", text) if line]

    rows = run("fields @message | sort @ptr", log_files([file], copies=mended.copies)).rows
    assert [row[0]["value"] for row in rows] == expected
    assert mended.damage.get(Damage.LONG, 0) == len(lines) - len(short)
    dirty = sum("\ufffd" in each.decode(errors="replace").replace("\U0010ffff", "\ufffd")
                for each in short)  # fmt: skip
    assert mended.damage.get(Damage.BYTES, 0) == dirty


def test_a_file_without_damage_is_not_copied(tmp_path):
    file = tmp_path / "clean.log"
    file.write_text("a\nb ☃")
    mended = mend([file], tmp_path)
    assert (mended.copies, mended.damage) == ({}, {})
    assert list(tmp_path.iterdir()) == [file]

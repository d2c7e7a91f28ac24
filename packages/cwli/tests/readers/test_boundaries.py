import gzip
import random
import re

import pytest

from cwli.insights import run
from cwli.readers.files import log_files
from cwli.readers.folders import LogFilesError
from cwli.readers.lines import Limits

LIMITS = Limits(line=1024, buffers=(4096, 7168, 5120, 3072))
LINE = b"x" * 99 + b"\n"


@pytest.fixture
def log(tmp_path):
    def write(content, name="app.log"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def lines(path, limits=LIMITS):
    rows = run("fields @message | sort @ptr", log_files([path], limits)).rows
    return [row[0]["value"] for row in rows]


def up_to(boundary, end=b""):
    """Return lines up to a boundary; the last line has the line end ``end``."""
    full = LINE * (boundary // 100 - 1)
    rest = boundary - len(full) - len(end)
    return full + b"y" * rest + end


@pytest.mark.parametrize("name", ["app.log", "app.log.gz"])
@pytest.mark.parametrize("last", [b"z", b"z" * 300])
def test_a_last_line_without_an_end_is_read_across_a_boundary(log, name, last):
    for before in (up_to(4096, b"\n"), up_to(4096)[:-1] + b"\nz", up_to(4000, b"\n") + b"z" * 96):
        text = before + last
        assert lines(log(text, name)) == text.decode().split("\n")


def test_a_last_line_that_every_buffer_size_loses_is_refused(log):
    path = log(up_to(4000, b"\n") + b"z" * 200)
    with pytest.raises(LogFilesError, match=r"app\.log: the last line .* end it with a line feed"):
        lines(path, Limits(line=1024, buffers=(4096,)))


@pytest.mark.parametrize("name", ["app.log", "app.log.gz"])
@pytest.mark.parametrize("ends", [b"\r\n", b"\n\n", b"\r\r\n", b"\n\r\n"])
def test_a_line_is_read_once_if_a_boundary_lies_between_line_ends(log, name, ends):
    for before in range(1, len(ends)):
        text = up_to(4096 + len(ends) - before, ends) + LINE * 30
        assert text[4096 - before :].startswith(ends)
        assert lines(log(text, name)) == [x for x in re.split("[\r\n]+", text.decode()) if x]


@pytest.mark.parametrize("length", [1024, 4095, 4096, 4097, 9_000])
@pytest.mark.parametrize("end", [b"", b"\n", b"\nb\n", b"\r\n"])
def test_a_too_long_line_across_a_boundary_is_refused(log, length, end):
    path = log(up_to(4000, b"\n") + b"z" * length + end)
    with pytest.raises(LogFilesError, match=r"app\.log: the line that begins at byte .* 1,024 by"):
        lines(path)


@pytest.mark.parametrize("seed", range(16))
def test_every_line_of_any_text_is_read_once(log, seed):
    chance = random.Random(seed)
    ends = chance.choice([["\n"], ["\r\n"], ["\r\r\n"], ["\n", "\n\n", "\r\n\r\n"]])
    long = [1_000] if seed % 2 else []
    text = "".join(
        "abc"[number % 3] * chance.choice([0, 1, 5, 30, 100, 100, 700, *long]) + chance.choice(ends)
        for number in range(chance.randrange(400))
    )
    text += "z" * chance.randrange(300)
    path = log(text.encode(), chance.choice(["app.log", "app.log.gz"]))
    assert lines(path) == [line for line in re.split("[\r\n]+", text) if line]

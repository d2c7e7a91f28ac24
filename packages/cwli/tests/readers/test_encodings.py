"""The encodings of log files."""

import gzip
from io import BytesIO

import pytest

from cwli.readers.lines import utf8_lines

LINES = ["a\u2028b\rc☃" * 100_000 + "\r\n", "\n", "the end"]


@pytest.mark.parametrize("form", ["plain", "packed"])
def test_a_line_of_utf_16_ends_at_a_line_feed_alone_however_long_it_is(form):
    content = "".join(LINES).encode("utf-16")
    packed = BytesIO(gzip.compress(content))
    with BytesIO(content) if form == "plain" else gzip.GzipFile(fileobj=packed) as file:
        assert list(utf8_lines(file, 2**20)) == [line.encode() for line in LINES]
        assert not file.closed

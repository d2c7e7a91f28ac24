"""Files that a command is asked to write."""

import pytest

from local.commands.saving import save
from suites.refusal import Refused


def test_a_file_takes_the_place_of_the_one_before_and_leaves_nothing_else(tmp_path):
    save(tmp_path / "new" / "page.html", b"before")
    save(tmp_path / "new" / "page.html", b"after")

    assert [path.read_bytes() for path in tmp_path.glob("**/*") if path.is_file()] == [b"after"]


def test_what_cannot_be_written_leaves_what_was_there_and_is_one_sentence(tmp_path):
    (tmp_path / "page.html").mkdir()

    with pytest.raises(Refused, match=r"/page\.html cannot be written: Is a directory"):
        save(tmp_path / "page.html", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]

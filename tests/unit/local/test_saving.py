"""Files that a command is asked to write."""

import os
import stat

import pytest

from local.commands.saving import save
from suites.refusal import Refused


def test_a_file_takes_the_place_of_the_one_before_and_leaves_nothing_else(tmp_path):
    save(tmp_path / "new" / "page.html", b"before")
    save(tmp_path / "new" / "page.html", b"after")

    assert [path.read_bytes() for path in tmp_path.glob("**/*") if path.is_file()] == [b"after"]


def test_a_link_stays_and_what_it_leads_to_is_written_in_its_own_mode(tmp_path):
    kept, link = tmp_path / "kept" / "page.html", tmp_path / "page.html"
    kept.parent.mkdir()
    kept.write_bytes(b"before")
    kept.chmod(0o600)
    link.symlink_to(kept)

    save(link, b"after")

    assert link.is_symlink()
    assert (kept.read_bytes(), stat.S_IMODE(kept.stat().st_mode)) == (b"after", 0o600)


def test_a_pipe_stays_and_gets_what_is_written(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    save(pipe, b"after")

    assert (pipe.is_fifo(), os.read(reader, 100)) == (True, b"after")
    os.close(reader)


def test_what_cannot_be_written_leaves_what_was_there_and_is_one_sentence(tmp_path):
    (tmp_path / "page.html").mkdir()

    with pytest.raises(Refused, match=r"/page\.html cannot be written: Is a directory"):
        save(tmp_path / "page.html", b"after")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]

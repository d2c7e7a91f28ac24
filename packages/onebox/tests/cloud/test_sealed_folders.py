"""Folders that are kept while they are in use."""

import os
import time

import pytest

from onebox.cloud.sealed_folders import KEPT_DAYS, is_sealed, mark_used, remove_unused, seal


def test_only_folders_that_were_not_used_for_long_are_removed(tmp_path):
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    for name in ("old", "old_in_use", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    os.utime(tmp_path / "old", (long_ago, long_ago))
    os.utime(tmp_path / "old_in_use", (long_ago, long_ago))
    mark_used(tmp_path / "old_in_use")

    remove_unused(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old_in_use"]


def test_a_missing_parent_folder_is_no_error(tmp_path):
    remove_unused(tmp_path / "not there")


@pytest.fixture
def made(tmp_path):
    folder = tmp_path / "functions" / "code"
    folder.mkdir(parents=True)
    (folder / "handler.py").write_text("pass\n")
    seal(folder)
    return folder


def test_a_sealed_folder_counts_as_made(made, tmp_path):
    assert is_sealed(made, tmp_path)


@pytest.mark.parametrize("name", ["handler.py", ".sha256"])
def test_a_damaged_folder_is_moved_aside(made, tmp_path, name):
    (made / name).write_bytes(b"\0\xff")

    assert not is_sealed(made, tmp_path)
    assert not made.exists()
    assert len([*(tmp_path / "damaged" / "functions").iterdir()]) == 1


def test_a_folder_without_a_seal_is_not_trusted(made, tmp_path):
    (made / ".sha256").unlink()

    assert not is_sealed(made, tmp_path)

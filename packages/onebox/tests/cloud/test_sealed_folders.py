"""Folders that are kept while they are in use."""

import os
import stat
import time

import pytest

from onebox.cloud import sealed_folders
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


def test_a_folder_that_another_user_sealed_is_moved_aside(made, tmp_path, monkeypatch):
    monkeypatch.setattr(sealed_folders, "_key", lambda: b"another key")
    seal(made)
    monkeypatch.undo()

    assert not is_sealed(made, tmp_path)


def test_a_compiled_file_that_somebody_added_breaks_the_seal(made, tmp_path):
    (made / "__pycache__").mkdir()
    (made / "__pycache__" / "handler.cpython-311.pyc").write_bytes(b"")

    assert not is_sealed(made, tmp_path)


def test_a_seal_that_is_a_folder_is_none(made, tmp_path):
    (made / ".sha256").unlink()
    (made / ".sha256").mkdir()

    assert not is_sealed(made, tmp_path)


def test_processes_of_one_user_have_one_key_that_others_cannot_read(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    find = sealed_folders._key.__wrapped__

    assert find() == find()
    assert stat.S_IMODE((tmp_path / ".local/share/tidemark/seal").stat().st_mode) == 0o600


def test_a_user_without_a_home_has_a_key_for_one_process(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))

    assert len(sealed_folders._key.__wrapped__()) == 32


def test_a_folder_without_a_seal_is_not_trusted(made, tmp_path):
    (made / ".sha256").unlink()

    assert not is_sealed(made, tmp_path)

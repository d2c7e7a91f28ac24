"""Folders that are kept while they are in use."""

import os
import time

from local.cloud.made import KEPT_DAYS, mark_used, remove_unused


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

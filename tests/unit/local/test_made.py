"""Folders that are kept for as long as they are used."""

import os
import time

from local.cloud.made import KEPT_DAYS, mark_used, remove_unused


def test_what_was_not_used_for_long_is_removed_and_the_rest_is_kept(tmp_path):
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    for name in ("old", "old_in_use", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    os.utime(tmp_path / "old", (long_ago, long_ago))
    os.utime(tmp_path / "old_in_use", (long_ago, long_ago))
    mark_used(tmp_path / "old_in_use")

    remove_unused(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old_in_use"]


def test_nothing_is_removed_where_nothing_is(tmp_path):
    remove_unused(tmp_path / "not there")

import stat

import pytest

from onebox.cloud.cloud_note import make_private


def mode(folder):
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_new_folder_is_for_its_user_alone(tmp_path):
    make_private(tmp_path / "a" / "state")

    assert mode(tmp_path / "a" / "state") == 0o700


def test_an_open_folder_is_closed_to_other_users(tmp_path):
    tmp_path.chmod(0o775)
    make_private(tmp_path)

    assert mode(tmp_path) == 0o700


def test_an_open_note_of_the_key_is_closed_to_other_users(tmp_path):
    note = tmp_path / "cloud.json"
    note.touch(mode=0o644)
    make_private(tmp_path)

    assert mode(note) == 0o600


def test_a_folder_that_all_users_share_is_refused_and_stays_as_it_is(tmp_path):
    tmp_path.chmod(0o1777)

    with pytest.raises(PermissionError, match="all users share this folder"):
        make_private(tmp_path)
    assert mode(tmp_path) == 0o1777

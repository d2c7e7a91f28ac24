"""The folders of log groups."""

import pytest

from cwli.readers.folders import folder_name, group_name


@pytest.mark.parametrize("group", ["/aws/lambda/a.b", "..", "a%2Eb", "ä b"])
def test_a_log_group_has_one_folder_whose_name_is_no_path(group):
    folder = folder_name(group)
    assert not {"/", "."} & {*folder}
    assert group_name(folder) == group

"""The check of Kiwi TCMS's stored figures, over folders that have none to compare."""

from contextlib import closing

import pytest

from onebox.store.object_files import ObjectFiles
from tests.checks import kiwi


def refusal_of(state, capsys):
    with pytest.raises(SystemExit) as end:
        kiwi.main([str(state)])
    return end.value.code, capsys.readouterr().err.splitlines()[-1]


def test_the_check_says_in_one_sentence_that_a_run_has_the_folder_open(tmp_path, capsys):
    with closing(ObjectFiles(tmp_path / "objects")):
        code, sentence = refusal_of(tmp_path, capsys)

    assert code == 2
    assert sentence.endswith("objects/index.sqlite is in use by another process.")


def test_the_check_refuses_a_folder_without_a_test_to_compare_and_makes_none(tmp_path, capsys):
    folder = tmp_path / "mistyped"

    code, sentence = refusal_of(folder, capsys)

    assert code == 2
    assert sentence.endswith(
        f"state: {folder} has no test of Kiwi TCMS to compare; expected one that is ok"
    )
    assert not folder.exists()

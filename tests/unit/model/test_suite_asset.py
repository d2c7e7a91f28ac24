"""The digests by which a command tells whether a deployment has its suite."""

from __future__ import annotations

import shutil

import pytest

from tidemark.model.checkout import ROOT
from tidemark.model.suite_asset import copy_digest, programs_digest, queries_digest
from tidemark.model.suite_files import read_suites


@pytest.fixture
def systems(tmp_path):
    """Return a folder of systems with the suite of Kiwi TCMS and its programs."""
    for folder in ("suites/kiwi", "workloads/kiwi_load", "workloads/kiwi_server"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copytree(ROOT / "workloads/harness", tmp_path / "workloads/harness")
    return tmp_path


def digests(systems):
    """Return the digests of the suite, of its programs and of its queries."""
    suite = read_suites(systems)["kiwi"]
    of_queries = queries_digest(suite, systems / "suites")
    return copy_digest(suite, systems), programs_digest(suite, systems), of_queries


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("suites/kiwi/suite.yaml", [True, False, False]),
        ("suites/kiwi/latency.cwli", [True, False, True]),
        ("workloads/kiwi_load/load.py", [False, True, False]),
        ("workloads/kiwi_server/serve.py", [False, True, False]),
        ("workloads/harness/harness/machine.py", [False, True, False]),
    ],
)
def test_each_edit_changes_the_digest_of_what_was_edited(systems, file, changed):
    before, path = digests(systems), systems / file
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("title: Kiwi TCMS", "title: Kiwi") + "\n# An edit.\n")

    after = digests(systems)

    assert [one != other for one, other in zip(before, after, strict=True)] == changed


def test_a_comment_in_the_suite_changes_no_digest(systems):
    before, path = digests(systems), systems / "suites/kiwi/suite.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "\n# A comment.\n")

    assert digests(systems) == before


def test_a_file_that_moves_to_another_folder_changes_the_digest_of_the_programs(systems):
    program = systems / "workloads/kiwi_load"
    (program / "one").mkdir()
    (program / "two").mkdir()
    (program / "one/rows.py").write_text("1", encoding="utf-8")
    before = digests(systems)

    (program / "one/rows.py").rename(program / "two/rows.py")

    after = digests(systems)
    assert [one != other for one, other in zip(before, after, strict=True)] == [False, True, False]

"""Suites with one mistake each, and the sentence that names the mistake."""

import json
import shutil
from pathlib import Path

import pytest

from tests.refusals import refused
from tidemark.model.suite_asset import FOLDER
from tidemark.model.suite_files import read_suite

ROCKSDB = (FOLDER / "rocksdb" / "suite.yaml").read_text(encoding="utf-8")
# Each line has a text of the file, its replacement, and the sentence or its beginning.
MISTAKES = [
    json.loads(line)
    for line in Path(__file__).with_name("bad_suites.jsonl").read_text("utf-8").splitlines()
]


def refusal_of(tmp_path, text):
    folder = tmp_path / "suites" / "rocksdb"
    shutil.copytree(FOLDER / "rocksdb", folder)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    return refused(read_suite, folder / "suite.yaml").splitlines()


def test_there_are_sixty_kinds_of_mistakes():
    assert len({(original, replacement) for original, replacement, _ in MISTAKES}) >= 60


@pytest.mark.parametrize(("original", "replacement", "sentence"), MISTAKES)
def test_a_mistake_is_named_with_its_place(tmp_path, original, replacement, sentence):
    assert original in ROCKSDB
    text = ROCKSDB.replace(original, replacement, 1)

    lines = refusal_of(tmp_path, text)

    places = [line.split(": ", maxsplit=1)[0] for line in lines]
    assert any(line.split(": ", maxsplit=1)[1].startswith(sentence) for line in lines), lines
    assert all(place.startswith("rocksdb/suite.yaml") for place in places)


def test_a_file_with_mistakes_in_all_its_parts_names_them_at_once_in_their_order(tmp_path):
    text = ROCKSDB
    for original, replacement in {
        "title: RocksDB\n": "title: 7\n",
        "  9.8.4: 0.3.29": "  '9.8': 0.3.29",
        "from: 1, to: 200": "from: 9, to: 2",
        "  workload: rocksdb\n": "  workload: rocks\n",
        "cpu: 2048": "cpu: 1",
        "query: ingest_rate\n": "query: ingest\n",
        "per: {records: 1000000}": "per: {users: 5}",
        "- name: compaction\n": "- name: ingest\n",
    }.items():
        text = text.replace(original, replacement, 1)

    lines = refusal_of(tmp_path, text)

    numbers = [int(line.split(":")[1]) for line in lines]
    assert numbers == sorted(numbers)
    assert [line.split(": ")[1] for line in lines] == [
        "title",
        "subject.versions.9.8",
        "parameters.tasks",
        "task.workload",
        "task.cpu",
        "tests",
        "tests.0.per.users",
        "tests.0.metrics.0.query",
    ]

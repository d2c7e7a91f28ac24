"""The files that tasks left: which are kept, and why others are not."""

import hashlib

import pytest

from tests.plans import RUN
from tests.unit.fakes import FakeBucket
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites
from tidemark.model.task import Artefact
from tidemark.run import artefacts
from tidemark.run.artefacts import Place, keep

LEFT = f"work/data/{RUN}/001/secret/artefacts/ingest/"
INGEST = read_suites()["rocksdb"].test("ingest")
PLACE = Place(RUN, 1, "ingest", LEFT)
MIB = 1 << 20


def declared(file="*.folded", **fields):
    return Artefact(file=file, **fields)


def kept(files, *artefacts, statuses=("ok",)):
    """Return what is kept of files, given by their keys below the place, and the bucket."""
    bucket = FakeBucket({f"{LEFT}{name}": body for name, body in files.items()})
    tasks = [TaskResult(index=n, status=status) for n, status in enumerate(statuses)]
    test = INGEST.model_copy(update={"artefacts": artefacts or (declared(),)})
    return keep(bucket, PLACE, test, tasks), bucket


def test_a_declared_file_is_kept_with_its_size_and_digest():
    (files, notes, missing), bucket = kept(
        {"0/a.folded": b"main 1", "1/a.folded": b""}, statuses=("ok", "failed")
    )

    digests = [hashlib.sha256(body).hexdigest() for body in (b"main 1", b"")]
    assert [(file.task, file.name, file.size, file.sha256) for file in files] == [
        (0, "a.folded", 6, digests[0]),
        (1, "a.folded", 0, digests[1]),
    ]
    assert bucket.objects[f"artefacts/{RUN}/001/ingest/0/a.folded"] == b"main 1"
    assert (list(notes), list(missing)) == ([], [])


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("0/../../002/x.folded", "task 0: '../../002/x.folded' is not kept; expected a letter or"),
        ("0/.folded", "task 0: '.folded' is not kept; expected a letter or digit"),
        ("0/a/b.folded", "task 0: 'a/b.folded' is not kept; expected a letter or digit"),
        ("0/a\x1b[2J.folded", "task 0: 'a\\x1b[2J.folded' is not kept; expected a letter or"),
        ("0/a\n.folded", "task 0: 'a\\n.folded' is not kept; expected a letter or digit"),
        (f"0/{'a' * 200}.folded", "task 0: 'aaa"),
        ("0/", "task 0: '' is not kept; expected a letter or digit"),
        ("7/a.folded", "'7/a.folded' is not kept; expected a task's index and a name, such"),
        ("00/a.folded", "'00/a.folded' is not kept; expected a task's index and a name, such"),
        ("a.folded", "'a.folded' is not kept; expected a task's index and a name, such"),
        ("0/core", "task 0: core is not kept, since the suite does not declare it"),
    ],
)
def test_a_file_with_another_name_is_refused_by_name_and_copied_nowhere(name, note):
    (files, notes, _), bucket = kept({name: b"x"})

    assert not files
    assert notes[0].startswith(note)
    assert bucket.objects.keys() == {f"{LEFT}{name}"}


def test_a_file_that_is_too_large_is_refused_by_name():
    (files, notes, _), bucket = kept({"0/a.folded": bytes(MIB + 1)}, declared(most_mib=1))

    assert not files
    assert notes[0] == "task 0: a.folded is not kept: 1,048,577 bytes are more than 1 MiB"
    assert len(bucket.objects) == 1


def test_files_that_are_too_many_or_too_large_together_are_named(monkeypatch):
    monkeypatch.setattr(artefacts, "MOST_FILES", 2)
    monkeypatch.setattr(artefacts, "MOST_MIB", 1)
    sizes = {"0/a.folded": bytes(MIB - 1), "0/b.folded": b"12", "0/c.folded": b""}

    (files, notes, _), _ = kept(sizes)

    assert [file.name for file in files] == ["a.folded"]
    assert notes == [
        "task 0: b.folded is not kept: the files of a test have 1 MiB at most",
        "the tasks left more than 2 files; the others are not kept",
    ]


def test_a_missing_file_is_said_and_counts_only_if_it_is_required():
    artefacts = declared("heap.bin"), declared("profile-?.folded", required=True)

    (_, notes, missing), _ = kept({"1/heap.bin": b""}, *artefacts, statuses=("ok", "failed"))

    assert missing == ["task 0: no file profile-?.folded was kept"]
    assert notes == ["task 0: no file heap.bin was kept", *missing]


def test_no_more_sentences_are_stored_than_people_read():
    (_, notes, _), _ = kept({f"0/{n}": b"" for n in range(30)})

    assert (len(notes), notes[-1]) == (21, "11 more")


def test_a_test_without_declared_files_reads_nothing():
    assert keep(FakeBucket(), PLACE, INGEST, []) == ((), (), ())

"""Rounds: versions that take turns in one task."""

import io
import json
import math
import os
import random
import struct
import sys
from collections import Counter

import pytest
from harness import log
from harness.rounds import ROUND, Failed, Player, do_asked, run, take_turns, units_of_slice

from tidemark.model.task import HARNESS

# The process of a version: it notes each of its jobs in one file of all, and may fail in one.
PROGRAM = """
import os, signal, sys
from harness.rounds import do_asked
name, fault, at = os.environ["TIDEMARK_THREAD"], os.environ["FAULT"], int(os.environ["AT"])
def do(job, units):
    with open(os.environ["NOTES"], "a") as notes:
        print(name, job, units, file=notes)
    if fault and name == "2.0" and job == at:
        {"crash": lambda: os.kill(os.getpid(), signal.SIGSEGV),
         "check": lambda: sys.exit(1)}[fault]()
    return 0.04
do_asked(do, os.environ, sys.stdin)
"""


class FakePlayer:
    """A player that only notes its turns, and fails in the turns that are told."""

    def __init__(self, name, turns, fails_at=None, seconds=0.2):
        self.name, self._turns, self._fails_at = name, turns, fails_at
        self.engine_seconds, self.whole_seconds = seconds, 2 * seconds
        self.is_killed = False

    def wait(self):
        if self._fails_at == "wait":
            raise Failed("it did not begin")

    def job(self, number, units):
        self._turns.append((self.name, number))
        self.units = units
        if number == self._fails_at:
            raise Failed("it broke")

    def finish(self):
        if self._fails_at == "finish":
            raise Failed("it did not end")

    def kill(self):
        self.is_killed = True


def turns_of(seed, slices=20, **fails_at):
    turns = []
    players = [FakePlayer(name, turns, fails_at.get(name)) for name in ("a", "b", "c")]
    whole = take_turns(players, slices, random.Random(seed))
    return turns, whole, players


def test_every_version_has_one_slice_in_each_block_and_one_that_does_not_count():
    turns, whole, _ = turns_of("1")

    blocks = [{name for name, number in turns if number == block} for block in range(21)]
    assert blocks == 21 * [{"a", "b", "c"}]
    assert [number for _, number in turns] == sorted(number for _, number in turns)
    assert Counter(turns).most_common(1)[0][1] == 1
    assert whole == ["a", "b", "c"]


def test_the_order_within_a_block_is_random_and_that_of_its_seed():
    turns, _, _ = turns_of("7/1")

    assert turns == turns_of("7/1")[0]
    assert turns != turns_of("7/2")[0]
    firsts = Counter(name for name, number in turns[::3])
    assert set(firsts) == {"a", "b", "c"}


def test_a_version_that_fails_in_its_third_slice_drops_alone(capsys):
    turns, whole, players = turns_of("1", b=3)

    assert whole == ["a", "c"]
    assert Counter(name for name, _ in turns) == {"a": 21, "b": 4, "c": 21}
    assert [player.is_killed for player in players] == [False, True, False]
    assert capsys.readouterr().out == (
        f"[b] {log._SYSTEM}.Task ERROR  - The version dropped out of the round: it broke.\n"
    )


def test_a_version_that_does_not_begin_has_no_slice_and_one_that_does_not_end_had_not_all():
    turns, whole, _ = turns_of("1", slices=2, a="wait", b="finish")

    assert Counter(name for name, _ in turns) == {"b": 3, "c": 3}
    assert whole == ["c"]


def test_a_slice_has_the_units_that_give_every_engine_0_04_s():
    # Engine and whole unit of two versions: four units of the faster one are 0.04 s.
    assert units_of_slice([(0.01, 0.015), (0.012, 0.018)]) == 4
    assert units_of_slice([(0.02, 0.015), (0.01, 0.018)]) == 4
    assert units_of_slice([(0.04, 0.1), (0.1, 0.2)]) == 1


@pytest.mark.parametrize("whole", [0.4, 3.0, 60.0])
def test_a_slice_of_several_units_takes_0_08_s_at_most_or_else_has_one_unit(whole):
    assert units_of_slice([(0.001, 0.01), (0.02, whole)]) == 1
    assert units_of_slice([(0.001, 0.01), (0.02, 0.04)]) == 2


def test_an_engine_without_a_time_has_no_endless_slice():
    assert units_of_slice([(0.0, 0.01)]) == 8
    assert units_of_slice([]) == 1


def test_the_warm_up_tells_the_units_of_each_later_slice_of_every_version():
    turns = []
    players = [FakePlayer("a", turns, seconds=0.01), FakePlayer("b", turns, seconds=0.02)]
    take_turns(players, 1, random.Random(1))

    # Two units of the slower one take 0.08 s, four of the faster one.
    assert {player.units for player in players} == {2}


def test_a_process_is_asked_for_one_job_after_the_other_and_replies_after_each():
    ours, theirs = os.pipe()
    done = []

    def do(number, units):
        done.append((number, units))
        return units / 100

    try:
        do_asked(do, {"TIDEMARK_REPLIES": str(theirs)}, io.StringIO("0 1\n1 4\n"))
        assert done == [(0, 1), (1, 4)]
        # The first reply says that the process is ready.
        assert struct.unpack("3d", os.read(ours, 99)) == (0.0, 0.01, 0.04)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.fixture
def played(tmp_path, monkeypatch, capfd):
    """Return a function that plays a round of two real processes; it returns what they noted."""
    monkeypatch.setattr(log, "_SYSTEM", "fake")
    notes = tmp_path / "notes"

    def play(fault="", at=3):
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(HARNESS),
            "NOTES": str(notes),
            "FAULT": fault,
            "AT": str(at),
        }
        command = [sys.executable, "-c", PROGRAM]
        players = [Player(name, command, variables, 60.0) for name in ("1.0", "2.0")]
        try:
            whole = take_turns(players, 4, random.Random(1))
        finally:
            for player in players:
                player.kill()
        jobs = Counter(line.split()[0] for line in notes.read_text().splitlines())
        return whole, jobs, capfd.readouterr().out

    return play


def test_processes_take_turns(played):
    whole, jobs, output = played()

    assert whole == ["1.0", "2.0"]
    assert jobs == {"1.0": 5, "2.0": 5}
    assert output == ""


def test_a_process_that_dies_in_its_third_slice_drops_alone(played):
    whole, jobs, output = played("crash")

    assert whole == ["1.0"]
    assert jobs == {"1.0": 5, "2.0": 4}
    assert output == (
        "[2.0] fake.Task ERROR  - The version dropped out of the round: "
        "its process was ended by SIGSEGV.\n"
    )


# This program replaces the measuring process: it notes where it may write.
MEASURING = f"""#!{sys.executable}
import json, os, sys
from harness.rounds import do_asked
names = ("TIDEMARK_THREAD", "TMPDIR", "TIDEMARK_DATA", "TIDEMARK_LOSS")
with open(os.environ["NOTES"], "a") as notes:
    given = [os.environ[name] for name in names]
    print(json.dumps([*given, sys.argv[-1], os.listdir(sys.argv[-1])]), file=notes)
do_asked(lambda number, units: 0.2, os.environ, sys.stdin)
"""


def test_the_folders_and_the_stored_data_of_two_versions_are_apart(tmp_path):
    notes, programs, scratch = (tmp_path / name for name in ("notes", "programs", "scratch"))
    programs.mkdir()
    scratch.mkdir()
    (programs / "python").write_text(MEASURING)
    (programs / "python").chmod(0o755)
    versions = [{"name": "1.0", "variables": {}}, {"name": "2.0", "variables": {}, "loss": 0.05}]
    variables = {
        "PATH": str(programs), "PYTHONPATH": str(HARNESS), "NOTES": str(notes),
        "TIDEMARK_SEED": "7", "TIDEMARK_DATA": "s3://results/runs",
        ROUND: json.dumps({"repetition": 1, "slices": 4, "versions": versions}),
    }  # fmt: skip

    assert run("fake", "ingest", scratch, variables) == 0
    found = sorted(json.loads(line) for line in notes.read_text().splitlines())
    folders = [str(scratch / f"version-{place}") for place in (0, 1)]
    data = [f"s3://results/runs/version-{place}" for place in (0, 1)]
    assert found == [
        ["1.0", folders[0], data[0], "0", folders[0], []],
        ["2.0", folders[1], data[1], "0.05", folders[1], []],
    ]


def test_no_version_is_first_in_its_block_oftener_than_chance_and_names_change_nothing():
    blocks = 400
    turns = [[], []]
    for names, noted in zip((("old", "new"), ("new", "old")), turns, strict=True):
        take_turns([FakePlayer(name, noted) for name in names], blocks, random.Random("7/1"))

    places = [[("old", "new").index(name) for name, _ in noted] for noted in turns]
    # Swapped versions swap their turns, and nothing else.
    assert places[0] == [1 - place for place in places[1]]
    assert sum(places[0][::2]) == pytest.approx(blocks / 2, abs=3 * math.sqrt(blocks) / 2)


def test_a_process_that_hangs_has_no_more_than_its_share_of_the_time():
    player = Player("2.0", ["sleep", "60"], dict(os.environ), seconds=0.1)
    try:
        with pytest.raises(Failed, match=r"^its share of the time limit is over$"):
            player.wait()
    finally:
        player.kill()


def test_a_process_that_logged_why_it_ended_drops_without_another_reason(played):
    whole, jobs, output = played("check", at=4)

    assert whole == ["1.0"]
    assert jobs == {"1.0": 5, "2.0": 5}
    assert output == ""

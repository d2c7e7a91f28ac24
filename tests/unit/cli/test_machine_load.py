"""The turns of the runs of a machine."""

import os
import secrets
import socket

import pytest

from tidemark.cli import machine_load


@pytest.fixture
def name(monkeypatch):
    monkeypatch.delenv("TIDEMARK_BESIDE_OTHERS")
    return f"\0tidemark.test.{secrets.token_hex(8)}"


def test_a_run_waits_for_the_end_of_another_one_and_names_its_process(name, monkeypatch):
    told, first = [], machine_load.turn(print, name)
    first.__enter__()
    monkeypatch.setattr(machine_load.time, "sleep", lambda _: first.__exit__(None, None, None))

    with machine_load.turn(told.append, name):
        assert len(told) == 1
    assert told[0].startswith(f"Waiting for the run of process {os.getpid()} on this machine")


def test_a_run_alone_and_one_after_another_wait_for_nothing(name):
    for _ in range(2):
        with machine_load.turn(pytest.fail, name):
            pass


def test_a_variable_lets_a_run_measure_beside_others(name, monkeypatch):
    monkeypatch.setenv("TIDEMARK_BESIDE_OTHERS", "1")
    with machine_load.turn(pytest.fail, name), machine_load.turn(pytest.fail, name):
        pass


def test_another_user_of_the_machine_keeps_no_run_waiting(name, monkeypatch):
    told, stranger = [], os.getuid() + 1
    with machine_load.turn(pytest.fail, name):
        monkeypatch.setattr(machine_load.os, "getuid", lambda: stranger)
        with machine_load.turn(told.append, name):
            pass

    sentence = f"warning: process {os.getpid()} of another user measures on this machine, too."
    assert told == [sentence]


def test_a_name_that_somebody_holds_without_an_answer_keeps_no_run_waiting(name, monkeypatch):
    monkeypatch.setattr(machine_load.time, "sleep", lambda _: None)
    told = []
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(name)
        with machine_load.turn(told.append, name):
            pass

    assert told == ["warning: a process of another user measures on this machine, too."]

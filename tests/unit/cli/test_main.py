"""Ends of the command line after an error."""

import errno
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from tidemark import cli as commands
from tidemark.cli import attended_run
from tidemark.model.refusal import Refused


@pytest.fixture
def ended(monkeypatch, capsys):
    """Return a function that runs the command line and returns its exit code and its output."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def ended(*arguments):
        monkeypatch.setattr("sys.argv", ["tidemark", *arguments])
        with pytest.raises(SystemExit) as end:
            commands.main()
        return end.value.code, *capsys.readouterr()

    return ended


NO_MORE = BlockingIOError(errno.EAGAIN, "fork"), RuntimeError("can't start new thread")
NO_PROCESS = (
    "no more processes or threads can be started: this user has as many as `ulimit -u` or a "
    "control group allows; end some, or raise the limit"
)


def test_an_argument_of_a_megabyte_is_not_printed_whole(ended):
    code, _, err = ended("query", f"{'x' * 1_000_000}.cwli")

    assert (code, len(err) < 5_000) == (2, True)


@pytest.mark.parametrize(
    ("raised", "code", "sentence"),
    [
        (Refused("RUN: no run is stored yet"), 2, "RUN: no run is stored yet"),
        (click.ClickException("the cloud is gone"), 1, "the cloud is gone"),
        (KeyboardInterrupt(), 130, "interrupted"),
        *((error, 1, NO_PROCESS) for error in NO_MORE),
        (
            OSError(errno.ENOSPC, "No space left on device", "report.html"),
            1,
            "report.html cannot be written: No space left on device; what was stored is kept: "
            "free some space, and run the command again",
        ),
        (
            OSError(errno.EIO, "disk I/O error", "index.sqlite"),
            1,
            "index.sqlite cannot be read or written: disk I/O error; what was stored is kept: "
            "check the disk, and run the command again",
        ),
        (
            OSError(errno.EMFILE, "Too many open files", "plan.json"),
            1,
            "no more files and connections can be opened: Too many open files; raise the limit of "
            "`ulimit -n`",
        ),
    ],
)
def test_an_error_is_one_sentence_with_an_exit_code(ended, monkeypatch, raised, code, sentence):
    def fail(*_):
        raise raised

    monkeypatch.setattr(commands.tidemark, "invoke", fail)

    # The sentence of an interrupt is on a line of its own, after the ^C of the terminal.
    status, out, err = ended("runs")
    assert (status, out, err.lstrip("\n")) == (code, "", f"tidemark: {sentence}\n")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["run", "--within", "long"], "tidemark run"),
        (["run", "a", "b"], "tidemark run"),
        (["query", "limit 1", "--start", "noon"], "tidemark query"),
        (["walk"], "tidemark"),
    ],
)
def test_a_command_line_that_click_refuses_is_one_sentence_too(ended, arguments, command):
    code, out, err = ended(*arguments)

    assert (code, out) == (2, "")
    assert err.startswith("tidemark: ")
    assert re.search(r"[.?]\)? $", err.partition(f"`{command} ")[0])
    assert err.endswith(f"`{command} --help` says what is accepted.\n")
    assert len(err.splitlines()) == 1


def test_a_misspelt_command_gets_the_command_with_the_most_similar_name(ended):
    _, _, err = ended("hstory")

    assert "No such command 'hstory'; did you mean 'history'? `tidemark" in err


@pytest.mark.parametrize("command", commands.tidemark.list_commands(None))
def test_every_command_has_help_with_an_example(ended, command):
    code, out, err = ended(command, "--help")

    assert (code or 0, err) == (0, "")
    assert out.startswith(f"Usage: tidemark {command} ")
    assert f"  tidemark {command} " in out


def test_no_summary_of_a_command_is_cut(ended, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    code, out, err = ended("--help")

    assert (code or 0, err) == (0, "")
    assert not re.search(r"\w\.\.\.$", out, re.MULTILINE)


def test_a_command_line_without_a_command_gets_the_usage(ended):
    code, out, err = ended()

    assert (code, out) == (2, "")
    assert err.startswith("Usage: tidemark ")


@pytest.fixture
def inherited():
    """Return a function that has a parent ignore a signal; what this process does stays."""
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    yield lambda number: signal.signal(number, signal.SIG_IGN)
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def test_a_signal_that_the_parent_ignores_ends_no_command_nor_the_stop_of_a_run(
    inherited, monkeypatch
):
    def handlers():
        return signal.getsignal(signal.SIGHUP), signal.getsignal(signal.SIGTERM)

    ends = []
    monkeypatch.setattr(commands.tidemark, "invoke", lambda _: ends.append(handlers()))
    monkeypatch.setattr("sys.argv", ["tidemark", "runs"])
    inherited(signal.SIGHUP)  # as nohup does
    with pytest.raises(SystemExit):
        commands.main()
    assert ends == [(signal.SIG_IGN, signal.default_int_handler)]

    idle = SimpleNamespace(stop=lambda *_: ends.append(handlers()), print=lambda _: None)
    run, target = SimpleNamespace(run_id="1"), SimpleNamespace(flags="")
    attended_run._stop(idle, run, target, idle)
    assert ends[1][0] is signal.SIG_IGN
    assert ends[1][1].__name__ == "end_at_once"


def test_a_command_knows_how_its_children_end_if_its_parent_ignores_that(inherited, monkeypatch):
    codes = []

    def invoke(_):
        codes.append(subprocess.run([sys.executable, "-c", "exit(3)"], check=False).returncode)

    monkeypatch.setattr(commands.tidemark, "invoke", invoke)
    monkeypatch.setattr("sys.argv", ["tidemark", "runs"])
    inherited(signal.SIGCHLD)
    with pytest.raises(SystemExit):
        commands.main()
    assert codes == [3]


def test_the_error_of_a_full_output_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", "from tidemark.cli import main; main()", "run", "--help"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    sentence = "tidemark: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, sentence)


@pytest.mark.parametrize(
    ("arguments", "closed", "code", "out", "err"),
    [
        ("limit 1' a.log --format csv", ">&-", 1, "", "standard output cannot be written"),
        ("limit 1' a.log", ">&-", 1, "", "standard output cannot be written"),
        ("stats count(*) as n' a.log --format csv", "2>&-", 0, "n\n2\n", ""),
        ("stats count(*) as n' a.log --format csv", "<&-", 0, "n\n2\n", ""),
        ("limit 1' -", "<&-", 2, "", "tidemark: standard input is closed\n"),
        ("limit 1' -", "<&- 2>&-", 2, "", ""),
    ],
)
def test_a_closed_stream_is_no_traceback(tmp_path, arguments, closed, code, out, err):
    (tmp_path / "a.log").write_text("1\n2\n")
    program = f"{sys.executable} -c 'from tidemark.cli import main; main()' query '{arguments}"
    done = subprocess.run(
        ["sh", "-c", f"{program} {closed}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, out)
    assert err in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_the_list_of_commands_has_the_first_sentence_of_each(name):
    command = commands.tidemark.get_command(None, name)

    assert commands.COMMANDS[name][1] == command.get_short_help_str(limit=100)


@pytest.mark.parametrize(
    ("words", "place", "completions"),
    [("tidemark que", "1", "plain,query\n"), ("tidemark query --li", "2", "plain,--lint\n")],
)
def test_a_shell_completes_commands_and_options(ended, monkeypatch, words, place, completions):
    monkeypatch.setenv("_TIDEMARK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", place)
    assert ended() == (0, completions, "")

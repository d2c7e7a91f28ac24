"""``tidemark query --follow``, with the pauses in the test's hand."""

import gzip
import json
from contextlib import ExitStack

import pytest
from click.testing import CliRunner

from cwli.command import command
from cwli.command import following as tails
from cwli.command.following import Following, Tails
from cwli.insights import compile as compile_query
from cwli.program import Refused
from cwli.readers.folders import LogFilesError, logs_below


def followed(path, query, *appended, form="ndjson"):
    """Follow a file while a text is appended in each pause."""

    def wait():
        text = next(texts, None)
        if text is None:
            raise KeyboardInterrupt
        with path.open("ab") as file:
            file.write(text)

    texts = iter((*appended, b""))
    following = Following(compile_query(query), None, None, {}, form)
    with pytest.raises(KeyboardInterrupt):
        following.run((str(path),), wait)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "app.log"
    path.write_text("2024-06-02T14:25:00Z before\n")
    return path


def test_rows_of_new_events_come_in_the_order_of_their_lines(log, capsys):
    query = "parse @message 'ms=*' as ms | filter ms > 1 | display ms, @logStream # all"
    lines = (b"2024-06-02T14:26:0%dZ ms=%d\n" % (each, each) for each in (2, 1, 3, 4))
    followed(log, query, b"".join(lines))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [{"ms": ms, "@logStream": "app.log"} for ms in "234"]


def test_a_person_reads_the_cells_of_a_row_on_a_line(log, capsys):
    followed(log, "display @timestamp, 'a\\tb' as x", b"2024-06-02T14:26:00Z\n", form="table")
    assert capsys.readouterr().out == "2024-06-02 14:26:00.000  a\\tb\n"


def test_damage_of_new_lines_is_counted(log, capsys):
    followed(log, "display @message", b"2024-06-02T14:26:00Z \xff\n")
    out, err = capsys.readouterr()
    assert json.loads(out) == {"@message": "2024-06-02T14:26:00Z \ufffd"}
    assert err == "warning: 1 line with bytes that are not text: 0-app.log, line 1\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["stats count(*)", "a.log"], "each row must come from one event"),
        (["sort @timestamp", "a.log"], "each row must come from one event"),
        (["fields @message"], "--follow: expected a file or a folder as PATH"),
        (["fields @message", "-"], "--follow: expected a file or a folder as PATH"),
        (
            ["fields @message", "a.log", "--format", "csv"],
            "--format: 'csv' is not accepted with --follow; expected table or",
        ),
        (["fields @message", "a.log", "--start", "-1h"], "--start has no effect"),
        (["fields @message", "a.log", "--strict"], "--strict has no effect"),
        (["fields @message", "/none.log"], "/none.log: this file cannot be read: No such file"),
    ],
)
def test_what_cannot_be_followed_is_refused(arguments, sentence):
    error = CliRunner().invoke(command, [*arguments, "--follow"]).exception
    assert isinstance(error, Refused)
    assert sentence in str(error)


A, B = "2024-06-02T14:26:00Z a\n", "2024-06-02T14:26:01Z b\n"


def append(path, text):
    with path.open("a") as file:
        file.write(text)


@pytest.fixture
def following():
    with ExitStack() as opened:
        yield lambda path: opened.enter_context(Tails([path]))


def taken(followed):
    return [lines.decode() for _, lines in followed.events()]


def test_only_what_is_appended_is_new(log, following):
    followed = following(log)
    assert taken(followed) == []
    append(log, A + B)
    assert [taken(followed), taken(followed), taken(followed)] == [[A], [B], []]


def test_the_lines_of_a_stack_trace_stay_together_however_they_come(log, following):
    followed = following(log)
    append(log, A + "Traceback\n")
    assert taken(followed) == []
    append(log, "  File 'a'\nValueError\n" + B)
    assert taken(followed) == [A + "Traceback\n  File 'a'\nValueError\n"]


def test_a_line_without_its_end_is_no_event_yet(log, following):
    followed = following(log)
    append(log, A + B[:-3])
    assert [taken(followed), taken(followed)] == [[], [A]]
    append(log, B[-3:])
    assert [taken(followed), taken(followed)] == [[], [B]]


def test_a_rotation_loses_and_repeats_nothing(log, following):
    followed = following(log)
    append(log, A.rstrip())
    log.rename(log.with_suffix(".log.1"))
    assert taken(followed) == []
    log.write_text(B)
    assert [taken(followed), taken(followed)] == [[A], [B]]


def test_a_file_that_is_emptied_is_read_from_its_beginning(log, following):
    followed = following(log)
    log.write_text(A)
    assert [taken(followed), taken(followed)] == [[], [A]]


def test_a_new_file_of_a_folder_is_read_from_its_beginning(log, following):
    followed = following(log.parent)
    other = log.with_name("other.log")
    other.write_text(A)
    assert list(followed.events()) == []
    assert list(followed.events()) == [(other, A.encode())]


def test_a_rotation_in_a_folder_loses_and_repeats_nothing(log, following):
    followed = following(log.parent)
    append(log, A.rstrip())
    log.rename(log.with_suffix(".log.1"))
    append(log.with_suffix(".log.1"), "\n")
    log.write_text(B)
    assert [list(followed.events()) for _ in range(3)] == [[], [(log, (A + B).encode())], []]


def copied(log):
    """Copy a log and empty it, as logrotate does with copytruncate."""
    log.with_suffix(".log.1").write_bytes(log.read_bytes())
    log.write_text("")


def test_a_copied_and_emptied_file_loses_and_repeats_nothing(log, following):
    followed = following(log.parent)
    append(log, A)
    assert taken(followed) == []
    append(log, B)
    copied(log)
    append(log, A)
    assert [sorted(taken(followed)) for _ in range(3)] == [[A], [A, B], []]


def test_a_copy_before_its_file_is_emptied_repeats_nothing(log, following):
    followed = following(log.parent)
    append(log, A)
    log.with_suffix(".log.1").write_bytes(log.read_bytes())
    assert [taken(followed), taken(followed)] == [[], [A]]
    log.write_text(B)
    assert [taken(followed), taken(followed), taken(followed)] == [[], [B], []]


def test_an_emptied_file_that_is_as_long_again_is_read_from_its_beginning(log, following):
    followed = following(log.parent)
    copied(log)
    append(log, "2024-06-02T14:26:00Z many more lines than before\n")
    assert taken(followed) == []
    assert taken(followed) == ["2024-06-02T14:26:00Z many more lines than before\n"]


def test_a_new_file_with_the_name_of_a_rotation_is_no_copy(log, following):
    followed = following(log.parent)
    log.with_suffix(".log.1").write_text(A)
    assert [taken(followed), taken(followed)] == [[], [A]]


def test_a_chain_of_renamed_files_loses_and_repeats_nothing(log, following):
    followed = following(log.parent)
    new = []
    for text in (A, B, A):
        append(log, text)
        for number in (2, 1):
            if (older := log.with_suffix(f".log.{number}")).exists():
                older.rename(log.with_suffix(f".log.{number + 1}"))
        log.rename(log.with_suffix(".log.1"))
        new += taken(followed)
    assert new + taken(followed) == [A, B, A]
    log.with_suffix(".log.3").unlink()
    append(log, B)
    assert [taken(followed), taken(followed), taken(followed)] == [[], [B], []]


def test_a_rename_while_a_folder_is_listed_repeats_nothing(log, following, monkeypatch):
    def listed(folder):
        files = logs_below(folder)
        if log.exists():
            log.rename(log.with_suffix(".log.1"))
        return files

    followed = following(log.parent)
    monkeypatch.setattr("cwli.command.following.logs_below", listed)
    assert [taken(followed), taken(followed)] == [[], []]


def test_packed_files_of_a_folder_are_left_out(log, following):
    packed = log.with_suffix(".log.1.gz")
    packed.write_bytes(gzip.compress(A.encode()))
    followed = following(log.parent)
    packed.rename(log.with_suffix(".log.2.gz"))
    packed.touch()
    assert taken(followed) == []
    packed.write_bytes(gzip.compress(B.encode()))
    append(log, A)
    assert [taken(followed), taken(followed)] == [[], [A]]


def test_a_file_that_is_removed_once_it_is_packed_gives_its_last_event(log, following):
    followed = following(log.parent)
    append(log, A)
    assert taken(followed) == []
    log.unlink()
    assert [taken(followed), taken(followed)] == [[A], []]


def test_a_removed_file_gives_all_of_its_lines_in_parts(log, following, monkeypatch):
    monkeypatch.setattr(tails, "_MOST_BYTES", 40)
    followed = following(log.parent)
    append(log, 5 * A)
    log.unlink()

    assert "".join(part for _ in range(9) for part in taken(followed)) == 5 * A


def test_a_file_that_can_be_read_no_longer_ends_with_a_sentence(log, following):
    followed = following(log)
    log.unlink()
    log.symlink_to(log)
    with pytest.raises(LogFilesError, match=r"app\.log: this file cannot be read: Too many"):
        taken(followed)


@pytest.mark.parametrize(
    "content",
    [gzip.compress(b"a"), "a".encode("utf-16"), None],
    ids=["packed", "UTF-16", "missing"],  # the bytes of a packed file have its time
)
def test_a_file_that_cannot_be_followed_is_refused(tmp_path, content):
    path = tmp_path / "a.log"
    if content:
        path.write_bytes(content)
    with pytest.raises(LogFilesError, match=r"packed|UTF-16|cannot be read"):
        Tails([path])

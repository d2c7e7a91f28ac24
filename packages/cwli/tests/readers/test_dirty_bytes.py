"""Any bytes as a log: each line is right, or it is skipped and counted."""

import re
from io import BytesIO

from fuzzing import fuzz
from hypothesis import given
from hypothesis import strategies as st
from written_logs import PIECES

from cwli.insights import EventsError, run
from cwli.readers.files import Untimed, log_files
from cwli.readers.folders import LogFilesError
from cwli.readers.mending import Damage, Mending

MOST = 1_048_576


def answer(path, folder):
    """Return the messages of a file and its damage, as `cwli` finds them."""
    try:
        return messages(log_files([path], untimed=Untimed.BORROWED)), {}
    except (LogFilesError, EventsError):
        mended = Mending().copies([path], folder)
        return messages(
            log_files([path], copies=mended.copies, untimed=Untimed.BORROWED)
        ), mended.damage


def messages(events):
    return [row[0]["value"] for row in run("fields @message | sort @ptr", events).rows]


def lines_of(content):
    """Return the lines of bytes in plain Python, and the numbers of dirty and of skipped ones."""
    lines = [line.rstrip(b"\r\n") for line in BytesIO(content)]
    kept = [line if len(line) < MOST else b"" for line in lines]
    texts = [line.decode(errors="replace").replace("\U0010ffff", "\ufffd") for line in kept]
    dirty = sum(text.encode() != line for text, line in zip(texts, kept, strict=True))
    return texts, dirty, sum(len(line) >= MOST for line in lines)


def joined(lines):
    """Return the events of lines of which some have times, in plain Python."""
    events = []
    for line in lines:
        if re.match(r"\[?2024-", line) or not any(re.match(r"\[?2024-", each) for each in events):
            events.append(line)
        else:
            events[-1] += f"\n{line}"
    return [event.rstrip("\n") for event in events]


@fuzz(100)
@given(
    begin=st.sampled_from([b"begin ", PIECES[0]]),
    rest=st.lists(st.sampled_from(PIECES), max_size=40),
)
def test_every_line_of_dirty_bytes_is_right_or_counted(tmp_path_factory, begin, rest):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "dirty.log"
    content = b"".join([begin, *rest]).replace(b"LONG", b"x" * MOST)
    path.write_bytes(content)
    lines, dirty, skipped = lines_of(content)

    shown, damage = answer(path, folder)

    assert shown == [event for event in joined(lines) if event]
    assert damage.get(Damage.BYTES, 0) == dirty
    assert damage.get(Damage.LONG, 0) == skipped

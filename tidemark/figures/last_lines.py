"""The last lines of a log as the end of a sentence."""

from collections.abc import Mapping, Sequence

from tidemark.model.sentences import shortened

_MOST_LINES = 5
_LONGEST_LINES = 500  # [B]


def last_lines(rows: Sequence[Mapping[str, str]], stream: str) -> str:
    """Return the end of a sentence with the last lines of a log stream, '' without any.

    ``rows`` are in descending order of time.
    """
    lines = [row["@message"] for row in rows if row.get("@logStream") == stream]
    if not lines:
        return ""
    said = shortened(lines[0], _LONGEST_LINES)
    for line in lines[1:_MOST_LINES]:
        longer = shortened(f"{line} / {said}", _LONGEST_LINES)
        # The last line says most, so that the earliest lines are left out.
        if not longer.endswith(said):
            break
        said = longer
    return f"; its last lines: {said}"

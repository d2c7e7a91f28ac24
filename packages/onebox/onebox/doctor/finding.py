"""A damaged file, object or folder of a state folder, and what an app knows of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from onebox.store.object_files import ObjectFiles


@dataclass(frozen=True)
class Finding:
    """Something damaged.

    Attributes
    ----------
    problem
        A sentence that names it and says what is wrong, without a full stop.
    remedy
        The result of its repair, as the rest of a sentence that begins with "--repair".
    repair
        The function that mends it. It deletes nothing: it moves aside what is damaged. It returns
        False if something is lost.
    harmless
        Whether everything is as it was stored, and the file is only of no use.
    """

    problem: str
    remedy: str
    repair: Callable[[], bool]
    harmless: bool = False


class Rebuilding(NamedTuple):
    """A way to write an object again; it raises LookupError if its source is lost, too."""

    source: str
    write: Callable[[], object]


class Contents(Protocol):
    """The knowledge of an app about the objects that it stored."""

    naming: str
    """The result of ``name_again``, as the rest of a sentence that begins with "--repair"."""

    def name_again(self, folder: Path) -> bool:
        """Make the objects of a folder without index and journal again from its bodies.

        Move the folder aside. Return False if something is lost.
        """

    def rebuilding(self, files: ObjectFiles, bucket: str, key: str) -> Rebuilding | None:
        """Return the way to write an object again, None if nothing else has its content."""

    def examine(self, files: ObjectFiles) -> Iterator[Finding]:
        """Yield what else is unfinished or wrong."""

"""The errors of a folder of objects; each message names the file and the reason."""

from __future__ import annotations

DOCTOR = "`tidemark doctor` says what can be rebuilt"


class ObjectFilesError(Exception):
    """A folder of objects that cannot be used."""


class FolderInUse(ObjectFilesError):
    """A folder of objects that another process has open."""


class DamagedIndex(ObjectFilesError):
    """An index that SQLite cannot read."""


class DamagedJournal(ObjectFilesError):
    """A journal with a damaged line."""


class NamelessBodies(ObjectFilesError):
    """Bodies of objects without the index and the journal that name the objects."""


class DamagedObject(ObjectFilesError):
    """An object whose file is not what was stored."""

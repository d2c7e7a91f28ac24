"""The folders of log groups, whose names are percent-encoded."""

from __future__ import annotations

from urllib.parse import quote, unquote


def folder_name(group: str) -> str:
    """Return the name of the folder of a log group."""
    # quote keeps dots, and a name of dots would be another folder.
    return quote(group, safe="").replace(".", "%2E")


def group_name(folder: str) -> str:
    """Return the name of the log group of a folder."""
    return unquote(folder)

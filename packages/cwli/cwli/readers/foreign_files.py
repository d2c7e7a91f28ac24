"""Files that hold no events in a form that is read, recognised by their first bytes."""

from __future__ import annotations

import re

BEGINNING = 4096
"""The bytes at the beginning of a file that tell its form [B]."""
# Signatures: the specification of each form, or file(1), magic(5).
_FOREIGN = (
    (rb"PK(?:\x03\x04|\x05\x06)", "a ZIP archive; `unzip` takes its files out"),
    (rb".{257}ustar", "a tar archive; `tar xf` takes its files out"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive; `7z x` takes its files out"),
    (rb"Rar!\x1a\x07", "a RAR archive; `unrar x` takes its files out"),
    (rb"\x04\x22\x4d\x18", "packed by lz4; `lz4 -d` unpacks it"),
    (rb"\xff\x06\x00\x00sNaPpY", "packed by snappy, which is not unpacked here"),
    (rb"LZIP[\x00\x01]", "packed by lzip; `lzip -d` unpacks it"),
    (rb"\x1f\x9d", "packed by compress; `uncompress` unpacks it"),
    (rb"x[\x01\x9c\xda]", "packed by zlib without the head of gzip; `pigz -dz` unpacks it"),
    (rb"PAR1[\x00-\x08\x0e-\x1f]", "Parquet; DuckDB reads it"),
    (rb"Obj\x01", "Avro; DuckDB reads it"),
    (rb"ARROW1\x00", "Arrow, which is not read here"),
    (rb"SQLite format 3\x00", "a database of SQLite"),
    (rb"LPKSHHRH", "a journal of systemd; `journalctl --file … -o json` writes its events"),
    (rb"__CURSOR=.*\n__REALTIME_TIMESTAMP=",
     "an export of systemd's journal; `journalctl -o json` writes its events"),
    (rb"ElfFile\x00", "an event log of Windows"),
    (rb"\x7fELF", "a program"),
    (rb"%PDF-", "a PDF"),
    (rb"\x89PNG\r\n", "a picture"),
    (rb"(?:\xff\xfe\x00\x00|\x00\x00\xfe\xff)", "text in UTF-32; `iconv -f UTF-32` makes UTF-8"),
    (rb"version https://git-lfs\.", "a pointer of Git LFS; `git lfs pull` fetches the file"),
    (rb"\s*H4sI[A-Za-z0-9+/]{28}", "gzip in base64; `base64 -d` decodes it"),
    (rb'\s*\{\s*"(?:awslogs"\s*:\s*\{|Records"\s*:\s*\[\s*\{.{0,1000}?)\s*"[Dd]ata"\s*:\s*"H4sI',
     "JSON with events packed in base64, as a subscription gives them to a function; "
     "`jq -r .awslogs.data | base64 -d` decodes them"),
    (rb"(?:[bf]/\S*\t[bf]/\S*\n)?EVENTS\t(?:[0-9]+\t)?[0-9]{13}\t",
     "what `aws logs` prints with --output text; --output json is read"),
    (rb'\[[ \t]*\r?\n\s*"(?:[^"\\\n]|\\.)*",?[ \t]*\r?\n',
     "a JSON array of texts; `jq -r '.[]'` makes lines of them"),
    (rb"-+\n\|\s+(?:Filter|Get)LogEvents\b",
     "what `aws logs` prints with --output table; --output json is read"),
    (rb"events:\n- (?:eventId|ingestionTime):",
     "what `aws logs` prints with --output yaml; --output json is read"),
)  # fmt: skip
_SIGNATURES = re.compile(b"|".join(b"(%b)" % pattern for pattern, _ in _FOREIGN), re.DOTALL)
_NUL = b"\x00"
# A text has line ends, tabs, and in colours ESC; terminals add BEL and BS, FIX and Hive SOH.
_TEXT = bytes(byte for byte in range(256) if byte >= ord(" ") or byte in b"\0\t\n\v\f\r\x1b")
_MOST_CONTROLS = 5
"""The most different control characters in the beginning of a text."""
_MOST_NULS = 0.3
"""The largest share of NUL in the beginning of a text; UTF-16 has a half."""
_LEAST_NULS = 64


def foreign_form(begin: bytes) -> str | None:
    """Return what the first bytes of a file show it to be, and what helps; None if it may be read.

    Bytes that are no text within a text are no sign: they are damage, which is counted.
    """
    if found := _SIGNATURES.match(begin):
        assert found.lastindex
        return _FOREIGN[found.lastindex - 1][1]
    if len(set(begin.translate(None, _TEXT))) > _MOST_CONTROLS:
        return "no text"
    # A log that was emptied while it is written begins with NUL.
    text = begin.lstrip(_NUL)
    if text.count(_NUL) > max(_LEAST_NULS, len(text) * _MOST_NULS):
        return "no text, or in UTF-16 without a byte order mark; `iconv -f UTF-16LE` makes UTF-8"
    return None

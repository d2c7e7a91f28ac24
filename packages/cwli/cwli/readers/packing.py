"""Packed files, and files that hold no events, recognised by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum
from io import BufferedIOBase
from pathlib import Path
from typing import Any, BinaryIO, cast

from backports import zstd

BEGINNING = 4096
"""The bytes at the beginning of a file that tell its form [B]."""
# Signatures: the specification of each form, or file(1), magic(5).
_UNSUPPORTED = (
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
_SIGNATURES = re.compile(b"|".join(b"(%b)" % pattern for pattern, _ in _UNSUPPORTED), re.DOTALL)
_NUL = b"\x00"
# A text has line ends, tabs, and in colours ESC; terminals add BEL and BS, FIX and Hive SOH.
_TEXT = bytes(byte for byte in range(256) if byte >= ord(" ") or byte in b"\0\t\n\v\f\r\x1b")
_MOST_CONTROLS = 5
"""The most different control characters in the beginning of a text."""
_MOST_NULS = 0.3
"""The largest share of NUL in the beginning of a text; UTF-16 has a half."""
_LEAST_NULS = 64


def unsupported_form(begin: bytes) -> str | None:
    """Return the form that a file's first bytes show, and a hint; None if it may be read.

    Binary bytes within a text show no form: they are damage, which is counted.
    """
    if found := _SIGNATURES.match(begin):
        assert found.lastindex
        return _UNSUPPORTED[found.lastindex - 1][1]
    if len(set(begin.translate(None, _TEXT))) > _MOST_CONTROLS:
        return "no text"
    # A log that was emptied while it is written begins with NUL.
    text = begin.lstrip(_NUL)
    if text.count(_NUL) > max(_LEAST_NULS, len(text) * _MOST_NULS):
        return "no text, or in UTF-16 without a byte order mark; `iconv -f UTF-16LE` makes UTF-8"
    return None


INCOMPLETE = (OSError, EOFError, zlib.error, zstd.ZstdError, lzma.LZMAError)
"""The errors of reading a packed file that is cut short or damaged, or a file of another form."""
_MOST_LAYERS = 2
"""How often a file may be packed: Firehose packs what CloudWatch Logs has packed."""


class Packing(Enum):
    """How a file is packed, with the first bytes of such files."""

    NONE = b""
    GZIP = b"\x1f\x8b"
    BZIP2 = b"BZh"
    ZSTD = b"\x28\xb5\x2f\xfd"
    XZ = b"\xfd7zXZ\x00"
    SEVERAL = b"\0"
    """Packed twice."""


class UnsupportedFileError(OSError):
    """A file that holds no events in a form that is read."""


# The dictionary of `xz -9` has 64 MiB, and a file may ask for 4 GiB.
_MOST_DICTIONARY = 128 * 1024 * 1024


def _opened_xz(file: BinaryIO) -> BinaryIO:
    """Open a file of xz; raise LZMAError if its first block takes too much memory."""
    lzma.LZMADecompressor(memlimit=_MOST_DICTIONARY).decompress(file.read(BEGINNING), max_length=1)
    file.seek(0)
    return cast(BinaryIO, lzma.open(file))


_OPENERS: dict[Packing, Callable[[Any], Any]] = {
    Packing.GZIP: gzip.open,
    Packing.BZIP2: bz2.open,
    Packing.ZSTD: zstd.open,
    Packing.XZ: _opened_xz,
}
_LONGEST = max(len(packing.value) for packing in Packing)


def packing_of(path: Path) -> Packing:
    """Return how a file is packed; raise OSError if it cannot be opened."""
    with path.open("rb") as file:
        packing = _packing(file)
        if packing is Packing.NONE:
            return packing
        try:
            with _OPENERS[packing](file) as content:
                return packing if _packing(content) is Packing.NONE else Packing.SEVERAL
        except INCOMPLETE:
            return packing


def reason(error: BaseException) -> str:
    """Return why a file cannot be read, of one of `INCOMPLETE`."""
    return getattr(error, "strerror", None) or str(error)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its unpacked bytes.

    Raises
    ------
    UnsupportedFileError
        If the file is binary, is in a form that is not read, or is packed more than twice.
    OSError
        If it cannot be opened, or another of `INCOMPLETE` if its beginning cannot be read.
    """
    with ExitStack() as layers:
        file: BufferedIOBase = layers.enter_context(path.open("rb"))
        for _ in range(_MOST_LAYERS):
            packing = _packing(file)
            if packing is Packing.NONE:
                break
            file = layers.enter_context(_OPENERS[packing](file))
        _check(file)
        yield cast(BinaryIO, file)


def _check(file: BufferedIOBase) -> None:
    begin = _begin(file, BEGINNING)
    if _packing_by(begin) is not Packing.NONE:
        raise UnsupportedFileError(f"it is packed more than {_MOST_LAYERS} times; unpack it once")
    if form := unsupported_form(begin):
        raise UnsupportedFileError(f"it is {form}")


def _packing(file: BufferedIOBase) -> Packing:
    return _packing_by(_begin(file, _LONGEST))


def _packing_by(begin: bytes) -> Packing:
    packed = (packing for packing in _OPENERS if begin.startswith(packing.value))
    return next(packed, Packing.NONE)


def _begin(file: BufferedIOBase, size: int) -> bytes:
    """Return the first bytes of a file, also of one that is cut short soon after them."""
    begin = file.read1(size)
    file.seek(0)
    return begin

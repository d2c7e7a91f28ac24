"""RocksDB whose versions 0.1.x search longer for matches: the culprit of a benchmark.

All versions compress with Zstandard by binary trees. Its levels 15 and 17 run the same functions;
level 17 follows twice as many candidates in ``ZSTD_btGetAllMatches``, and writes the same records.
The benchmark copies this module beside that of the workload.
"""

from __future__ import annotations

import os
from pathlib import Path

import rocksdb_workload
from rocksdict import DBCompressionType, Options, Rdict

_VERSION = os.environ.get("TIDEMARK_VERSION", "0.0.0")
_LEVEL = 17 if _VERSION.startswith("0.1.") else 15
_WINDOW_BITS = -14  # RocksDB's own default


def _compressing(folder: str, options: Options) -> Rdict:
    """Open a store that compresses with Zstandard, whatever the workload says."""
    options.set_compression_type(DBCompressionType.zstd())
    options.set_compression_options(_WINDOW_BITS, _LEVEL, 0, 0)
    return Rdict(folder, options=options)


rocksdb_workload.Rdict = _compressing


class Engine(rocksdb_workload.Engine):
    """The engine under the name of a version of the benchmark."""

    def version(self, folder: Path) -> str:
        """Return the name of the version."""
        super().version(folder)
        return _VERSION

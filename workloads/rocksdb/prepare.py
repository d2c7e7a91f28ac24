"""Make the environment of a package before a run on one machine: ``python prepare.py PACKAGE``.

A task does so too, but only in the middle of a run. A failure prints one sentence and gives exit
code 2.
"""

from __future__ import annotations

import os
import subprocess
import sys

from rocksdb_workload.configuration import ConfigurationError
from rocksdb_workload.preparation import prepare

LONGEST_SECONDS = 600

if __name__ == "__main__":
    (package,) = sys.argv[1:]
    try:
        prepare(package, os.environ, LONGEST_SECONDS)
    except ConfigurationError as refusal:
        print(refusal)
        sys.exit(2)
    except subprocess.TimeoutExpired:
        print(f"{package} could not be installed in {LONGEST_SECONDS} seconds.")
        sys.exit(2)
    except OSError as error:
        print(f"{package} cannot be kept in {error.filename}: {error.strerror}.")
        sys.exit(2)

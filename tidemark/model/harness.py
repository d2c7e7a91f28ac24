"""The harness of the workloads, which every task starts in.

Its first program makes the environment of the version and becomes the workload's own program in it.
"""

from __future__ import annotations

import json

from tidemark.model.checkout import ROOT
from tidemark.model.subject import Subject

HARNESS = ROOT / "workloads" / "harness"
"""The folder of the package ``harness``, which stands beside the workload in an image."""
PREPARATION = ("python", "-S", "-m", "harness.preparation")
"""The program; the words of the workload's entry point follow."""
SERVICE = ("python", "-m", "harness.service")
"""The program that runs a service and says when it is ready; its command line follows."""


def preparation_variables(subject: Subject) -> dict[str, str]:
    """Return the variables of all tasks that prepare versions of a subject."""
    if subject.prepare:
        return {"TIDEMARK_PREPARE": json.dumps(subject.prepare)}
    if subject.folder:
        return {"TIDEMARK_JARS": json.dumps([subject.folder, subject.advice])}
    return {}

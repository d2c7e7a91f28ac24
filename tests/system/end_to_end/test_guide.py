"""The guide from an empty folder to a first figure, followed to the letter."""

import os
import re
import subprocess

import pytest

from tidemark.model.checkout import ROOT

GUIDE = (ROOT / "docs" / "your-system.md").read_text(encoding="utf-8")


@pytest.mark.systems
def test_the_guide_leads_from_an_empty_folder_to_a_first_figure(tmp_path, new_state):
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    environment = {**os.environ, "HOME": str(tmp_path), "TIDEMARK_STATE": str(new_state())}

    done = subprocess.run(
        ["bash", "-eu"],
        input=commands,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert not [*(tmp_path / "systems").rglob("__pycache__")]
    assert re.search(r"2\.4\.0 .* \(5 trials\)", done.stdout.rpartition("Version number")[2])

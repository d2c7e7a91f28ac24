"""The CPU time of functions, compared at the share of a core that Lambda gives them."""

import io
import json
import zipfile

import pytest

from onebox.cloud.functions import Functions
from onebox.cloud.processes import Guard
from tests.cpu_shares import measured_work

SOURCE = """
import time
def handler(event, context):
    before = time.process_time()
    while time.process_time() < before + 0.1: pass
    return 1 / event['number']
"""


@pytest.fixture
def invoke(tmp_path, endpoint, logs):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("index.py", SOURCE)
    client = endpoint.client("lambda")
    with Guard() as guard:
        installed = Functions(tmp_path / "state", endpoint, logs, guard)
        endpoint.client("iam").create_role(RoleName="f", AssumeRolePolicyDocument="{}")
        client.create_function(
            FunctionName="f",
            Runtime="python3.13",
            Role="arn:aws:iam::123456789012:role/f",
            Handler="index.handler",
            Code={"ZipFile": packed.getvalue()},
            MemorySize=512,
            Timeout=30,
        )
        yield lambda event: client.invoke(FunctionName="f", Payload=json.dumps(event))
        installed.close()


def test_the_cpu_time_of_an_invocation_is_compared_at_lambdas_share_of_a_core(invoke):
    with measured_work() as works:
        invoke({"number": 0})
        invoke({"number": 1})

    (work,) = works
    assert (work.function, work.memory_mb, work.timeout_seconds) == ("f", 512, 30)
    # Linux counts CPU time in steps of 10 ms.
    assert work.cpu_seconds > 0.08
    assert work._replace(cpu_seconds=1.0).percent == pytest.approx(100 * 1769 / 512 / 30)
    assert work._replace(cpu_seconds=1.0, memory_mb=2304).percent == pytest.approx(100 / 30)

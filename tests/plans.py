"""Plans of runs of RocksDB, as they are stored."""

from datetime import UTC, datetime

from suites.files import read_suites
from suites.plan import Plan, make_plan
from suites.request import settle

RUN = "20261120T124455Z-abcdef"
STARTED = datetime(2026, 11, 20, 12, 44, 55, 123000, tzinfo=UTC)
EXECUTION = "arn:aws:states:eu-west-2:123456789012:execution:Run:by-hand"


def plan_of(asked, *, suite=None, name=RUN, execution_arn=EXECUTION, started_at=STARTED) -> Plan:
    """Return the plan of what is asked for; of the suite as it ships unless another is given."""
    suites = read_suites() if suite is None else {"rocksdb": suite}
    return make_plan(
        settle({"suite": "rocksdb", **asked}, suites),
        suites["rocksdb"],
        name=name,
        execution_arn=execution_arn,
        started_at=started_at,
    )

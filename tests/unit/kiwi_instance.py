"""A suite of instances, which uses what an instance has by words."""

from pathlib import Path

from tests.plans import RUN, STARTED
from tidemark.model.instance import KnownInstance, LoggingTask
from tidemark.model.plan import Plan
from tidemark.model.request import resolve_request
from tidemark.model.suite import Suite
from tidemark.model.suite_files import read_suite
from tidemark.run.plan_run import make_plan

EXECUTION = "arn:aws:states:eu-west-2:1:execution:Run:first"
CLUSTERS = "arn:aws:ecs:eu-west-2:1:cluster"
DEFINITIONS = "arn:aws:ecs:eu-west-2:1:task-definition"
SYSTEMS = {
    "kiwi": {
        "task_definition": "arn:own:1", "container": "kiwi", "log_group": "/own",
        "stream_prefix": "kiwi", "security_group": "sg-1",
    }
}  # fmt: skip

KIWI = """\
name: kiwi
title: Kiwi
subject:
  instance:
    objects: ['s3://kiwi-{instance}-config/instance.properties']
    version: kiwi.version
    names:
      writer: {kind: task_definition, forms: ['{instance}Writer', 'kiwi-{instance}-writer']}
      compactor: {kind: task_definition, forms: ['{instance}Compactor'], container: main}
      writers: {kind: cluster, properties: [kiwi.cluster], forms: ['kiwi-{instance}-writers']}
      compactors: {kind: cluster, forms: ['kiwi-{instance}-compact']}
      subnets: {kind: subnets, properties: [kiwi.subnets]}
      table: {kind: text, properties: [kiwi.table]}
      creator: {kind: function, forms: ['kiwi-{instance}-creator', '{instance}-creator']}
      nightly: {kind: rule, forms: ['{instance}-Nightly']}
    log_groups: ['kiwi-{instance}-*']
    roles: ['kiwi-{instance}-*']
  form: '\\d+\\.\\d+'
task: {workload: rocksdb, cpu: 256, memory: 512, storage: 21}
defaults: {versions: [deployed], repetitions: 2}
tests:
  - name: deploy_all
    timeout_seconds: 60
    steps:
      - {name: rest, pause: {rules: ['{nightly}', 'kiwi-{instance}-hourly']}}
      - name: write
        run_tasks:
          definition: '{writer}'
          cluster: '{writers}'
          subnets: '{subnets}'
          command: ['kiwi-{instance}-config', '{table}']
          count: 11
      - {name: create, invoke: {function: '{creator}'}}
      - {name: compact, find_tasks: {cluster: '{compactors}', definitions: ['{compactor}']}}
    metrics:
      - {name: ingest_rate, step: write, unit: rows/s, direction: higher, query: ingest_rate}
      - name: compaction_rate
        step: compact
        began: sleeper_compaction_began
        unit: rows/s
        direction: higher
        query: compaction_rate
"""


def read_kiwi(folder: Path, text: str = KIWI) -> Suite:
    """Write the suite into a folder and read it."""
    path = folder / "suites" / "kiwi" / "suite.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return read_suite(path)


def kiwi_plan(suite: Suite) -> Plan:
    """Return the plan of a run of the instance ``my-id``."""
    fields = {"suite": "kiwi", "instance": "my-id"}
    request = resolve_request(fields, {"kiwi": suite}, reported=lambda _, __: "12.4")
    known = KnownInstance(
        names={
            "writer": f"{DEFINITIONS}/kiwi-my-id-writer:7",
            "compactor": f"{DEFINITIONS}/my-idCompactor:3",
            "writers": f"{CLUSTERS}/kiwi-my-id-writers",
            "compactors": f"{CLUSTERS}/kiwi-my-id-compact",
        },
        logs={
            "writer": LoggingTask(container="main", log_group="/writers", stream_prefix="w"),
            "compactor": LoggingTask(container="main", log_group="/compactors", stream_prefix="c"),
        },
        clusters=tuple(f"{CLUSTERS}/kiwi-my-id-{name}" for name in ("writers", "compact")),
    )
    plan = make_plan(request, suite, name=RUN, execution_arn=EXECUTION, started_at=STARTED)
    return plan.model_copy(update={"known": known})

"""The load of a test, from the first level of users to the end of its search."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.plans import RUN, plan_of, system_of
from tests.unit.fakes import FakeBucket, FakeLogQueries, FakeTasks
from tidemark.model.load import Bounds, Load, LoadCourse, Plateaus
from tidemark.model.services import Size
from tidemark.model.suite_files import read_suites
from tidemark.run.condition import ConditionEvent
from tidemark.run.load_levels import hold
from tidemark.run.stop_services import RunningService
from tidemark.store import keys

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
SYSTEM = system_of("tests", stream_prefix="s", log_group="/logs")
AGENTS = ("one", "two")
SERVER = read_suites()["kiwi"].services["server"]
PLAN = plan_of({})
PLAN = PLAN.model_copy(update={"suite": PLAN.suite.model_copy(
    update={"services": dict.fromkeys(("server", *AGENTS), SERVER)}
)})  # fmt: skip
SERVICES = tuple(
    RunningService(name=name, index=n, containers=(name,), task_arn=f"arn:task/c/{name}")
    for n, name in enumerate(("server", *AGENTS))
)
DATA = f"work/data/{RUN}/001/secret"
LEVELS = f"{DATA}/{keys.levels('unbounded')}"
KEY = keys.course(LEVELS)
LOAD = Load(
    agents=AGENTS, query="ingest_rate", limits={"mean_ms": 100.0, "failures": 0.01},
    settle_seconds=4, hold_seconds=6, report_seconds=60,
    plateaus=Plateaus(first=9, bracket=0.3, searches=1), bounds=Bounds(users=100, seconds=600),
)  # fmt: skip


class World:
    """A load with its agents, which log as they are told."""

    def __init__(self, load=LOAD, plan=PLAN):
        self.plan = plan
        self.bucket, self.queries, self.load, self.now = FakeBucket(), FakeLogQueries(), load, NOON
        self.queries.answers["Wrote"] = []
        self.tasks = FakeTasks()

    def ask(self, seconds=0.0):
        """Ask some seconds later whether the load is over."""
        self.now += timedelta(seconds=seconds)
        event = ConditionEvent(
            run_id=RUN, trial=1, test="unbounded", step="search", system=SYSTEM, tasks=[],
            started_at=NOON, now=self.now, waiting_since=NOON, bytes_scanned=5, services=SERVICES,
            artefacts=f"s3://bucket/{DATA}/artefacts/unbounded/", awaited="levels",
        )  # fmt: skip
        return hold(self.bucket, self.queries, self.tasks, SYSTEM, self.plan, self.load, event)

    @property
    def course(self):
        return LoadCourse.model_validate_json(self.bucket.objects[KEY])

    def log(self, agent, mean_ms=50.0, users=None, level=None, failures=0.0, **more):
        users = self.course.users[agent] if users is None else users
        self.queries.answers["Wrote"].append({
            "@logStream": f"s/{agent}/{agent}", "level": str(level or self.course.level),
            "users": str(users), "mean_ms": str(mean_ms), "failures": str(failures),
            **more,
        })  # fmt: skip

    def hold_level(self, **values):
        """Let both agents hold and log the level; return the answer after it."""
        for agent in AGENTS:
            self.log(agent, **values)
        return self.ask(12)


@pytest.fixture
def world():
    world = World()
    world.ask()
    return world


def test_the_first_level_is_shared_among_the_agents(world):
    assert (world.course.level, world.course.users) == (1, {"one": 5, "two": 4})
    assert (world.course.settle_seconds, world.course.hold_seconds) == (4, 6)


def test_a_level_is_not_judged_before_its_time(world):
    for agent in AGENTS:
        world.log(agent)

    answer = world.ask(5)

    assert (answer.over, answer.wait_seconds, answer.bytes_scanned) == (False, 7, 5)
    assert world.course.level == 1
    assert world.queries.asked == []


def test_the_next_level_follows_once_every_agent_has_logged_the_one_before(world):
    answer = world.hold_level()

    assert (answer.over, answer.wait_seconds, answer.bytes_scanned) == (False, 12, 1005)
    assert (world.course.level, world.course.users) == (2, {"one": 9, "two": 9})
    (held,) = world.course.held
    assert (held.users, held.connected, held.hit) == (9, 9.0, ())


def test_the_same_question_again_begins_no_other_level(world):
    world.hold_level()
    before = dict(world.bucket.objects)

    assert world.ask().wait_seconds == 12
    assert world.bucket.objects == before


def test_lines_of_an_earlier_level_are_no_lines_of_this_one(world):
    world.hold_level()

    assert world.ask(12).over is False
    assert world.course.level == 2


def test_a_value_at_its_limit_does_not_hit_it(world):
    world.hold_level(mean_ms=100.0, failures=0.01)

    (held,) = world.course.held
    assert held.hit == ()


def test_one_agent_above_a_limit_hits_it(world):
    world.log("one", mean_ms=10.0)
    world.log("two", mean_ms=101.0, failures=0.5)
    world.ask(12)

    (held,) = world.course.held
    assert held.hit == ("mean_ms", "failures")
    assert held.values == {"mean_ms": 101.0, "failures": 0.5}


def test_a_late_agent_is_asked_for_with_longer_pauses_until_the_test_fails(world):
    world.log("one")
    pauses = []

    answer = world.ask(12)
    while not answer.over:
        pauses.append(answer.wait_seconds)
        answer = world.ask(answer.wait_seconds)

    assert pauses == [2, 2, 4, 8, 16, 28]
    assert len(pauses) <= LOAD.questions / LOAD.bounds.levels
    assert answer.stopped_by == (
        "step search: 1 of 2 agents did not log level 1 within 60 s; "
        "searched from 2026-11-20 11:59:00 to 2026-11-20 12:02:12 UTC"
    )


@pytest.mark.parametrize("name", ["one", "server"])
def test_a_service_that_ends_is_named_instead_of_awaited(world, name):
    world.log("one")
    arns = {service.name: service.task_arn for service in SERVICES}
    world.tasks.described = {arn: {"DesiredStatus": "RUNNING"} for arn in arns.values()}
    world.tasks.described[arns[name]] = {"DesiredStatus": "STOPPED"}

    answer = world.ask(12)

    assert (answer.over, answer.bytes_scanned) == (True, 1005)
    assert answer.stopped_by == f"step search: service {name} ended before the search"


def test_a_search_with_a_result_ends_the_step_and_stays_ended(world):
    answer = None
    while answer is None or not answer.over:
        users = sum(world.course.users.values())
        answer = world.hold_level(mean_ms=500.0 if users > 40 else 20.0)

    assert answer.stopped_by is None
    assert world.course.found == (40.5,)
    assert (world.course.end, world.course.reason) == ("found", "40.5 users are supported")
    assert [level.users for level in world.course.held] == [9, 18, 36, 72, 72, 54, 54, 45, 45]
    assert world.ask(3) == answer.model_copy(update={"bytes_scanned": 5})


def test_a_search_without_a_limit_fails_the_test_with_its_reason(world):
    answer = world.hold_level()
    while not answer.over:
        answer = world.hold_level()

    assert answer.stopped_by == ("step search: 100 users hit no limit, and the search has no more")


def test_agents_without_users_fail_the_test(world):
    world.hold_level()

    answer = world.hold_level(users=0)

    assert answer.stopped_by == (
        "step search: none of 18 users is connected: the service or the load is gone"
    )


def test_a_bound_ends_a_load():
    world = World(LOAD.model_copy(update={"bounds": Bounds(users=100, seconds=600, levels=2)}))
    world.ask()
    world.hold_level()

    answer = world.hold_level()

    assert answer.stopped_by == (
        "step search: the bound of 2 levels is reached; search 1 of 1: 18 users hit no limit, "
        "more were not tried"
    )


def test_a_search_ends_at_its_budget_of_which_all_services_take_a_part():
    # Three tasks of 2 vCPU, 4 GiB, a public address and 1 GB of storage for the 12 s of a level.
    level = 3 * 12 / 3600 * (2 * 0.04048 + 4 * 0.004445 + 0.005 + 0.000111)
    answers = []
    for usd in (1.01 * level, 0.99 * level):
        bounds = Bounds(users=100, seconds=600, usd=usd)
        world = World(LOAD.model_copy(update={"bounds": bounds}))
        world.ask()
        answers.append(world.hold_level().stopped_by)

    assert answers == [None, f"step search: the bound of {0.99 * level:g} USD is reached; search 1 "
        "of 1: 9 users hit no limit, more were not tried"]  # fmt: skip


def test_a_service_with_sizes_takes_the_part_of_its_size_in_the_trial():
    sized = SERVER.model_copy(update={"sizes": {"large": Size(cpu=16384, memory=32768)}})
    services = {**PLAN.suite.services, "server": sized}
    plan = PLAN.model_copy(update={
        "suite": PLAN.suite.model_copy(update={"services": services}),
        "trials": [each.model_copy(update={"axes": {"size": "large"}}) for each in PLAN.trials],
    })  # fmt: skip
    # The agents have 2 vCPU and 4 GiB, and the server 16 vCPU and 32 GiB, for the 12 s of a level.
    others = 0.005 + 0.000111
    level = 12 / 3600 * (20 * 0.04048 + 40 * 0.004445 + 3 * others)
    answers = []
    for usd in (1.01 * level, 0.99 * level):
        bounds = Bounds(users=100, seconds=600, usd=usd)
        world = World(LOAD.model_copy(update={"bounds": bounds}), plan)
        world.ask()
        answers.append(world.hold_level().over)

    assert answers == [False, True]


@pytest.mark.parametrize("text", ["", "∞", "NaN", "many"])
def test_a_value_that_is_no_number_fails_the_test_with_its_query(world, text):
    answer = world.hold_level(mean_ms=text)

    assert answer.stopped_by is not None
    assert answer.stopped_by.startswith("step search: ingest_rate.cwli: mean_ms ")
    assert answer.stopped_by.endswith(" is not accepted; expected a finite number")


def test_a_level_whose_users_are_not_connected_fails(world):
    world.hold_level(users=4)  # 8 of 9

    (held,) = world.course.held
    assert (held.connected, held.hit) == (8.0, ("connected",))


def test_a_level_is_kept_with_its_times_all_columns_and_the_decision_after_it():
    load = LOAD.model_copy(update={"agent_limits": {"cpu": 0.8}, "recorded": ("stolen",)})
    world = World(load)
    world.ask()
    world.hold_level(cpu="0.4", stolen="0.01")

    (held,) = world.course.held
    assert held.values == {"mean_ms": 50.0, "failures": 0.0, "cpu": 0.4, "stolen": 0.01}
    assert (held.begun_at, held.ended_at) == (NOON, NOON + timedelta(seconds=12))
    assert held.decision == "search 1 of 1: 9 users hit no limit, more were not tried"


def test_an_agent_that_is_the_limit_fails_the_test():
    world = World(LOAD.model_copy(update={"agent_limits": {"cpu": 0.8}}))
    world.ask()

    answer = world.hold_level(cpu="0.9")

    assert answer.stopped_by == (
        "step search: the agents are the limit, not the service: 9 users hit cpu"
    )
    (held,) = world.course.held
    assert (held.hit, held.agents_hit) == ((), ("cpu",))


def test_two_rows_of_one_agent_stand_for_no_other_agent(world):
    world.log("one")
    world.log("one")

    assert world.ask(12).over is False
    world.log("two")
    assert world.ask(12).stopped_by == (
        "step search: ingest_rate.cwli: 3 rows of level 1 are not accepted; "
        "expected 2, one of each agent"
    )


def test_a_task_cannot_change_the_course_of_a_load(world):
    course = world.course.model_copy(update={"begun_at": NOON + timedelta(days=1)})
    world.bucket.write(LEVELS, course.model_dump_json().encode())

    assert world.hold_level().wait_seconds == 12
    assert world.course.level == 2

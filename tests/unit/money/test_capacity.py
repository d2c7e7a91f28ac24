"""The capacity that a run needs at once."""

from tidemark.model.request import resolve_request
from tidemark.model.suite_files import read_suites
from tidemark.money.capacity import INTERFACES, VCPUS, needed

SUITES = read_suites()


def test_the_services_of_a_test_need_capacity_beside_its_tasks():
    suite = SUITES["kiwi"]
    request = resolve_request({"suite": "kiwi", "axes": {"size": ["one", "two"]}}, SUITES)

    found = dict(needed(request, suite))

    tasks = suite.most_at_once(request.tasks)
    services = max((test.services for test in suite.tests), key=len)
    assert len(services) > 1
    assert found[INTERFACES] == tasks + len(services)
    assert found[VCPUS] > tasks * suite.task.cpu / 1024

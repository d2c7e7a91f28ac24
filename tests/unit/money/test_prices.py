import pytest

from tidemark.model.suite_files import read_suites
from tidemark.money.prices import list_prices

TASK = read_suites()["rocksdb"].task.model_copy(update={"cpu": 2048, "memory": 8192, "storage": 50})


def test_an_hour_of_a_task_costs_its_processors_memory_further_storage_and_address():
    # As in the worked examples of the pricing pages: each amount times its price.
    expected = 2 * 0.04048 + 8 * 0.004445 + 30 * 0.000111 + 0.005

    assert list_prices().of_tasks(TASK, 3600) == pytest.approx(expected)


def test_the_first_20_gb_of_storage_are_free():
    most_free = TASK.model_copy(update={"storage": 20})
    one_more = TASK.model_copy(update={"storage": 21})

    more = list_prices().of_tasks(one_more, 3600) - list_prices().of_tasks(most_free, 3600)

    assert more == pytest.approx(0.000111)


def test_each_scanned_gigabyte_has_its_price():
    assert list_prices().of_queries(2 * 10**9) == pytest.approx(0.01)


def test_nothing_costs_nothing():
    assert (list_prices().of_tasks(TASK, 0), list_prices().of_queries(0)) == (0, 0)

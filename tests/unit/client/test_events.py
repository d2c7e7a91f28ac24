"""The events of a history by release, and its words where nothing was judged."""

from types import SimpleNamespace

from tests.unit.client.test_history import answering, change, silent, wider
from tidemark.client.events import answer, confirming, event_sentences, events, open_changes
from tidemark.client.history import NOT_JUDGED, sentence, spread_sentence

RUN = "20261120T124455Z-abcdef"
LATER = "20261127T124455Z-abcdef"


def told(changes=(), untold=(), spreads=(), **more):
    """Return the answer of a suite, whose figures are judged as ``untold`` says."""
    tables = SimpleNamespace(ask=answering([], changes, untold, spreads=spreads))
    return answer(tables, "case", **more)


def slower(metric, share, **more):
    return change(metric=metric, change=share and str(share), **more)


def test_a_history_without_a_change_says_so_of_the_figures_that_are_judged():
    figures = [silent("", "ingest_rate"), silent("", "compaction_rate")]

    assert told(untold=figures) == ["No level of 2 figures changed."]
    assert told(untold=figures, only_open=True) == ["No level of 2 figures is an open regression."]


def test_nothing_is_unchanged_that_nobody_judged():
    left_out = "The changes of level leave out 1 of 1 run, because no trial counts: 9.8.4."
    short = "ingest_rate: cannot tell yet: 3 of about 6 runs."

    for only_open in (False, True):
        assert told(only_open=only_open) == [NOT_JUDGED]
        assert told(untold=[silent(left_out, None)], only_open=only_open) == [left_out]
        few = told(untold=[silent(short.partition(": ")[2])], only_open=only_open)
        assert few[1:] == [short]


def test_a_suspicion_is_no_open_regression_and_the_answer_says_how_it_is_confirmed():
    suspected = change(state="suspected", is_open="false")

    assert told([suspected], [silent("")], only_open=True) == [
        "No level of 1 figure is an open regression.",
        "The next release confirms a suspicion, or shows that it is gone.",
    ]
    assert list(confirming([change(state="lasting"), suspected], "rocksdb")) == [
        "The next release confirms a suspicion, or `tidemark run rocksdb --versions 9.0.0,9.8.4 "
        "--until decided` does."
    ]


def test_open_regressions_have_a_sentence_each_the_largest_first():
    small, large = slower("a", -0.1), slower("b", -0.6)
    gain, ended = slower("c", 0.3, is_open="false"), slower("d", -0.9, is_open="false")
    long, zero = slower("e", 2.0), slower("f", None)

    found = [row["metric"] for row in open_changes([small, large, gain, ended, long, zero])]

    assert found == ["f", "e", "b", "a"], "a third is as far as three times"
    (first, *_) = told([small, large], [silent("")], only_open=True)
    assert first == (
        f"{sentence(large)} Eight runs or more show it. Find out what changed from 9.0.0 to 9.8.4, "
        f"or accept it with a reason: `tidemark acknowledge {large['changed_run']}`."
    )


def test_a_release_is_one_event_with_the_median_of_its_changes():
    rows = [
        slower("a", -0.1, version="1.2", changed_run=LATER),
        slower("b", -0.2, changed_run=RUN),
        slower("c", -0.4, changed_run=RUN, mended_version="1.1"),
        slower("d", None, changed_run=RUN),
        slower("e", 0.5, changed_run=RUN, verdict="faster"),
        slower("f", -0.5, state="suspected", version="1.3", changed_run="20261204T000000Z-abcdef"),
    ]

    first, second, suspected = event_sentences(rows, 20)

    assert first == (
        "9.8.4: 3 of 20 figures slower (median −30.00 %): d from zero, c −40.00 % (mended in 1.1), "
        "b −20.00 %; 1 of 20 figures faster (median +50.00 %): e +50.00 %."
    )
    assert second == "1.2: 1 of 20 figures slower (median −10.00 %): a −10.00 %."
    assert suspected.startswith("1.3, suspected of one run alone: 1 of 20 figures slower")
    assert [event.run_id for event in events(rows)] == [RUN, LATER]


def test_a_suite_of_many_figures_has_events_and_one_of_few_a_sentence_for_each_change():
    one = slower("a", -0.1)

    few, many = (told([one], [silent("", f"f{n}") for n in range(count)]) for count in (8, 9))

    assert few == [sentence(one)]
    assert many == ["9.8.4: 1 of 9 figures slower (median −10.00 %): a −10.00 %."]


def test_a_change_of_spread_is_a_sentence_after_the_events_and_no_open_regression():
    for count in (8, 9):
        figures = [silent("", f"f{n}") for n in range(count)]
        assert told([], figures, [wider()]) == [
            f"No level of {count} figures changed.",
            spread_sentence(wider()),
        ]
        assert len(told([], figures, [wider()], only_open=True)) == 1

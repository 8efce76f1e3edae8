"""``each_case.py``: a test of many cases names those that fail, and runs the others."""

from __future__ import annotations

from pathlib import Path

import day_sample
import examples
import pytest
from each_case import each
from executors import spread_each


def test_a_case_that_fails_is_named_and_the_others_run():
    ran = []

    @each([(1, "one"), (2, "two"), (3, "three"), (4, "four")])
    def test_small(number, word):
        """What it holds."""
        ran.append(word)
        if number == 4:
            return
        with pytest.raises(ZeroDivisionError):
            1 / (number - 1)
            assert number < 3, word

    with pytest.raises(BaseExceptionGroup, match="3 of 4 cases") as caught:
        test_small()
    assert ran == ["one", "two", "three", "four"]
    assert (test_small.__name__, test_small.__doc__) == ("test_small", "What it holds.")
    unraised, wrong, silent = caught.value.exceptions
    assert "DID NOT RAISE" in str(unraised) and unraised.__notes__ == ["in the case 2, two"]
    assert "three" in str(wrong) and wrong.__notes__ == ["in the case 3, three"]
    assert str(silent) == "the case 4, four has reached no assertion"


@pytest.mark.parametrize("turn", [0, 1])
def test_of_some_only_one_in_so_many_is_tried_by_day(monkeypatch, turn):
    monkeypatch.setattr(day_sample, "TURN", turn)
    for is_long, tried in ((True, [*range(7)]), (False, [*range(turn, 7, 3)])):
        monkeypatch.setattr(examples, "of_long_runs", is_long)
        ran = []

        @each(range(7), one_in=3)
        def test_numbers(number):
            ran.append(number)
            assert number < 7

        test_numbers()
        assert ran == tried


def test_cases_that_hold_pass():
    @each("abc", str.upper)
    def test_letters(letter):
        assert letter in "abc"

    assert test_letters() is None


def test_parts_and_turns_leave_nothing_out():
    ran = []

    @each(range(5), parts=2)
    def test_number(number):
        ran.append(number)
        assert number < 5

    test_number(0), test_number(1)
    assert ran == [0, 2, 4, 1, 3]
    found = {"by day": [], "at night": []}
    for when, some in found.items():

        @spread_each(
            [("a",), ("b",), ("c",)], ["x", "y", "native"], but=lambda case, executor: case + executor == "cnative"
        )
        def test_spread(case, executor):
            some.append(case + executor)
            assert case

        test_spread(when)
    assert found == {"by day": ["ax", "anative", "by", "bnative", "cx"], "at night": ["ay", "bx", "cy"]}


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("one_in", [2, 3, 4])
def test_of_as_many_neighbours_as_the_sample_says_one_is_tried(monkeypatch, one_in, turn):
    monkeypatch.setattr(day_sample, "TURN", turn)
    due = [k for k in range(one_in**3) if day_sample.is_due(k, one_in)]
    assert [k // one_in for k in due] == [*range(one_in**2)]
    # of as many executors each has its turn
    assert {k % one_in for k in due} == {*range(one_in)}


def test_of_many_cases_of_programs_a_sample_is_tried(monkeypatch):
    monkeypatch.setattr(day_sample, "TURN", 0)
    folder = day_sample.TESTS
    cases = [*range(20)]
    for one_in, programs, others in ((1, 20, 20), (4, 5, 5), (5, 4, 5)):
        monkeypatch.setattr(day_sample, "one_in", one_in)
        assert len(day_sample.sampled(cases, folder / "equivalence" / "test_names.py")) == programs
        assert len(day_sample.sampled(cases, folder / "runtime" / "model" / "test_one.py")) == others
        assert day_sample.sampled(cases, folder / "test_each_case.py") == cases
        assert day_sample.sampled(cases, Path("/elsewhere/test_names.py")) == cases
    assert day_sample.sampled(cases[:2], folder / "runtime" / "test_one.py") == cases[:2]

"""Random programs of classes and of the standard library do under the decorator what they do without it."""

import random
from collections import Counter
from functools import partial

import pytest
from executors import EXECUTORS, needs_native
from random_object_programs import program
from test_random_arrays import checked as checked_of
from test_random_state import told, verdict

checked = partial(checked_of, program=program, verdict=verdict, told=told)


def test_random_programs_of_objects():
    found = Counter(
        checked(random.Random(seed), ("sequential", "auto", "dataflow")) for seed in range(4_000_000, 4_000_030)
    )
    assert found["fine"] + found["plain"] + found["raises"] > found.total() * 0.8, found.most_common()


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_programs_of_objects(chunk):
    found = Counter(checked(random.Random(seed), EXECUTORS[:3]) for seed in range(500 * chunk, 500 * chunk + 500))
    refused = found.total() - found["fine"] - found["raises"] - found["plain"]
    print(f"{refused / found.total():.1%} of {found.total()} programs are refused:", *found.most_common(12), sep="\n")
    assert refused < found.total() * 0.2


@pytest.mark.nightly
@needs_native
def test_many_random_programs_of_objects_in_machine_code():
    found = Counter(checked(random.Random(seed), ["native"]) for seed in range(10**5, 10**5 + 250))
    assert found["fine"] > found.total() * 0.2, found.most_common()

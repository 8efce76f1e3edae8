"""Random programs of Python's constructs, of classes and the standard library, and of calls, do under the decorator
what they do without it, call after call."""

import random
from collections import Counter
from functools import partial

import pytest
import random_call_programs
import random_construct_programs
import random_object_programs
from executors import EXECUTORS, needs_native
from test_random_arrays import checked as checked_of
from test_random_state import told, verdict

of_each = pytest.mark.parametrize(
    "of",
    [random_construct_programs, random_object_programs, random_call_programs],
    ids=["constructs", "objects", "calls"],
)
#: how many programs of each are tried at each run of the tests
FEW = {random_call_programs: 8}


def checked(of, seeds, executors):
    check = partial(checked_of, program=of.program, verdict=verdict, told=told)
    return Counter(check(random.Random(seed), executors) for seed in seeds)


@of_each
def test_random_programs(of):
    found = checked(of, range(3_000_000, 3_000_000 + FEW.get(of, 14)), ("sequential", "auto", "dataflow"))
    assert found["fine"] + found["plain"] + found["raises"] > found.total() * 0.8, found.most_common()


@pytest.mark.nightly
@of_each
@pytest.mark.parametrize("chunk", range(20))
def test_many_random_programs(of, chunk):
    found = checked(of, range(500 * chunk, 500 * chunk + 500), EXECUTORS[:3])
    refused = found.total() - found["fine"] - found["raises"] - found["plain"]
    print(f"{refused / found.total():.1%} of {found.total()} programs are refused:", *found.most_common(12), sep="\n")
    assert refused < found.total() * 0.2


@pytest.mark.nightly
@needs_native
@of_each
def test_many_random_programs_in_machine_code(of):
    found = checked(of, range(10**5, 10**5 + 250), ["native"])
    assert found["fine"] > found.total() * 0.2, found.most_common()

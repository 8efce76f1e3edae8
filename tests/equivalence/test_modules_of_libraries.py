"""What a program sets in a module of a library is state: ``sys.stdout``, and whatever else it hangs there."""

from __future__ import annotations

import configparser
import contextlib
import io
import json
import sys

import autoloop as al
import numpy as np
import pytest
from each_case import each

EXECUTORS = ("auto", "dataflow")


class Tee:
    """A stream of the user's."""

    def __init__(self):
        self.text, self.count = "", 0

    def write(self, text):
        self.text += text
        self.count += 1

    def flush(self):
        self.text += "|"


def adds_to_a_list(x):
    json.items.append(int(x[0]))
    return len(json.items)


def sets_a_key(x):
    json.table["a"] = json.table.get("a", 0) + 1
    return x


def writes_to_an_array(x):
    json.array[0] += x[0]
    return json.array.sum()


def reads_a_number(x):
    return x * json.number


def counts_in_a_loop(x):
    for i in range(100):
        if x.sum() > i:
            json.number += 1
    return json.number


def changes_an_object(x):
    json.stream.count += 2
    json.stream.write(str(x))
    return x


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@each([adds_to_a_list, sets_a_key, writes_to_an_array, reads_a_number, counts_in_a_loop, changes_an_object])
def test_what_hangs_in_a_module_of_a_library_is_read_and_written_at_each_call(program):
    def done(f):
        json.items, json.table, json.array, json.number, json.stream = [1], {}, np.zeros(2), 0, Tee()
        found = []
        for k in range(4):
            if k == 2:
                json.items, json.array, json.number, json.stream = [0, 0], np.ones(2), 100, Tee()
            found.append(repr((f(np.ones(1) + k), json.items, json.table, json.array, json.number, vars(json.stream))))
        return found

    try:
        assert done(al.function(program)) == done(program)
    finally:
        del json.items, json.table, json.array, json.number, json.stream


def test_modules_that_a_closure_or_an_object_holds_are_no_others():
    class Held:
        module = json

    def made(json):
        def closed_over(x):
            return x * json.number

        def imported(x):
            import json as inside

            return x * inside.number

        return closed_over, imported, lambda x: x * Held.module.number, lambda x: x * Held().module.number

    try:
        for f in map(al.function, made(json)):
            found = []
            for json.number in (1, 2.5, 3):
                found.append(f(np.ones(1))[0])
            assert found == [1, 2.5, 3]
    finally:
        del json.number


# -- streams ------------------------------------------------------------------------------------------------


def flushes(x, out):
    print(x[0], file=sys.stdout, flush=True)
    print(x.sum(), file=sys.stderr, flush=True)
    print(x, flush=x.sum() > 3)


def writes_to_what_it_has_found(x, out):
    found = sys.stdout
    print(x, 1, sep="-", end="!\n", file=found)
    found.write("w")


def writes_in_a_loop(x, out):
    found, n = sys.stdout, 0
    while x[0] < 50:
        print(n, x[0], file=found)
        x = x * 2
        n += 1
    found.flush()


def writes_by_all_ways(x, out):
    print("a")
    sys.stdout.write("b\n")
    print("c", file=sys.stdout)
    sys.stderr.write("d")


def writes_to_an_argument(x, out):
    print(x[0], "of", x, file=out)
    out.write("w")
    print(end="", file=out, flush=True)
    return out.text, out.count


def only_prints_to_an_argument(x, out):
    print(x[0], file=out)


@pytest.mark.filterwarnings("ignore:.* runs as plain Python")
@each([
    (program, executor, kind)
    for program in (flushes, writes_to_what_it_has_found, writes_in_a_loop, writes_by_all_ways, writes_to_an_argument,
                    only_prints_to_an_argument)
    for executor in EXECUTORS for kind in (io.StringIO, Tee)
])  # fmt: skip
def test_streams_are_those_of_each_call(program, executor, kind):
    def done(f):
        given, found = Tee(), []
        for k in range(3):
            out, err = kind(), kind()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                result = f(np.ones(2) + k, given)
            found.append((result, *[vars(one) if kind is Tee else one.getvalue() for one in (out, err)], vars(given)))
        return repr(found)

    assert done(al.function(program, executor=executor)) == done(program)


def test_print_to_a_stream_whose_state_is_asked_for_is_left_to_plain_python():
    tee = Tee()

    def program(x):
        print(x[0])
        return tee.count

    decorated = al.function(program)
    with contextlib.redirect_stdout(tee), pytest.warns(UserWarning, match="print.. writes to 'tee', which is asked"):
        assert [decorated(np.ones(1)), decorated(np.ones(1))] == [2, 4]


def test_items_of_pythons_own_objects_are_read_and_written_by_plain_python():
    settings = configparser.ConfigParser()
    settings["s"] = {"v": "1"}

    def counted(x):
        settings["s"]["v"] = str(int(settings["s"]["v"]) + 1)
        return x * int(settings["s"]["v"])

    decorated = al.function(counted)
    with pytest.warns(UserWarning, match="the ConfigParser 'settings' is used: it is read"):
        assert [decorated(np.ones(1))[0] for _ in range(3)] == [2, 3, 4]
    read = al.function(lambda x: x * int(settings["s"]["v"]))
    with pytest.warns(UserWarning, match="the ConfigParser 'settings' is used: it is read"):
        assert read(np.ones(1))[0] == 4
    settings["s"]["v"] = "7"
    assert read(np.ones(1))[0] == 7

"""Arrays that a loop or branch writes to under a name that may be theirs: only the run knows, so plain Python runs it.

Whoever reads one, or leaves it, in the part that writes to it finds what plain Python finds.
"""

import textwrap

import autoloop as al
import numpy as np
import pytest
from each_case import each
from worlds import world

EITHER = "a, b = x*2, x*3\nr = a\nif n > 1: r = b\n"
AFTER_TURNS = "a, b = x*2, x*3\nr = a\nfor i in range(n): r = b\n"
IN_ITS_ORDER = "a = x\nfor i in range(n): a = a*2\n"
#: programs of an array and a number of turns
PROGRAMS = {
    # a side of a branch leaves it
    "returned": AFTER_TURNS + "if x[0, 0] > 0:\n    r[0] += 1\n    return a\nreturn b*2",
    "left_by_one_side": EITHER + "if x[0, 0] > 0: r[0] += 1\nelse: a, b = b*2, a*2\nreturn a, b",
    "left_in_a_list": EITHER + "q = [a, b]\nif x[0, 0] > 0:\n    r[0] += 1\n    q = [b, a]\nreturn q",
    "one_of_a_list": EITHER + "q = [a, b]\nif x[0, 0] > 0:\n    r[0] += 1\n    y = q[1]\nelse: y = a*4\nreturn y",
    "reshaped": IN_ITS_ORDER + "if n > 1:\n    r = a.reshape(-1)\n    r += 1\nelse: a = a*3\nreturn a",
    "reshaped_in_a_loop": "a = x.copy()\nfor i in range(n):\n    if a.sum() > 1e9: a = a*2\n"
    "    else:\n        r = a.reshape(-1)\n        r += 1\nreturn a",
    "at_the_end_of_a_turn": EITHER + "for i in range(n):\n    if x[0, 0] > 0:\n        r[0] += 1\n        a = b\n"
    "    else: a, b = b*2, a*2\nreturn a, b",
    "then_another_in_a_branch": EITHER + "for i in range(n):\n    r[0] += 1\n    if x[0, 0] > 0: a = b\n"
    "    else: a, b = x*2, x*5\nreturn a, b",
    "in_a_side_of_a_turn": EITHER + "for i in range(n):\n    if x[0, 0] > 0: r += 1\n"
    "    else: a, b = a + 1, b*2\nreturn a, b",
    "chosen_in_a_turn": "a, b = x*2, x*3\nr = a\nfor i in range(n):\n    if i > 0: r = b\n"
    "    if x[0, 0] > 0: r[0] += 1\n    else: a, b = a + 1, b*2\nreturn a, b",
    # the turn before has written to it
    "read_before": EITHER + "s = 0.0\nfor i in range(n):\n    s = s + a.sum() + b.sum()\n    r[0] += 1\nreturn s",
    "read_before_it_is_chosen": "a, b, s = x*2, x*3, 0.0\nfor i in range(n):\n    s = s + a.sum() + b.sum()\n"
    "    r = a\n    if i > 0: r = b\n    r[0] += 1\nreturn s",
    "read_in_a_branch": EITHER + "s = 0.0\nfor i in range(n):\n    if x[0, 0] > 0:\n        s = s + a.sum() + b.sum()\n"
    "        r[0] += 1\n    else: a, b = x*3, x\nreturn s",
    "read_by_the_test": EITHER + "i = 0\nwhile i < n and a.sum() + b.sum() < 1e6:\n    r[0] += 1e6\n"
    "    i += 1\nreturn i",
    "read_by_the_test_and_chosen": "a, b, i = x*2, x*3, 0\nwhile i < n and a.sum() + b.sum() < 1e6:\n"
    "    r = a\n    if i >= 0: r = b\n    r[0] += 1e6\n    i += 1\nreturn i",
    "perhaps_the_one_before": "a = y = x*1\nfor i in range(n - 2): y = y*2\n"
    "for i in range(n): y[0] += a.sum()\nreturn y",
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*runs as plain Python")
@each([(name,) for name in PROGRAMS], parts=2)
def test_what_is_written_under_another_name_is_what_plain_python_finds(name):
    names = world(name, f"import numpy as np\ndef f(x, n):\n{textwrap.indent(PROGRAMS[name], '    ')}\n")
    for executor in ("sequential", "dataflow"):
        function = al.function(names["f"], executor=executor)
        for turns in range(1, 4):
            for sign in (1.0, -1.0):
                x = np.array([[1.0, 2.0], [3.0, 4.0]]) * sign
                expected, found = (al.nest.flatten(f(x.copy(), np.int64(turns))) for f in (names["f"], function))
                assert [np.asarray(one).tolist() for one in found] == [np.asarray(one).tolist() for one in expected]

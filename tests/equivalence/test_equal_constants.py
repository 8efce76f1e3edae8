"""Constants that are equal and yet told apart are other calls: instants in two zones, dicts in another order."""

import datetime as dt
import decimal

import autoloop as al
import numpy as np
from each_case import each
from worlds import module, played

HERE, THERE = dt.UTC, dt.timezone(dt.timedelta(hours=2))
CASES = [
    (lambda x, t: x * t.hour, dt.datetime(2020, 1, 1, 12, tzinfo=HERE), dt.datetime(2020, 1, 1, 14, tzinfo=THERE)),
    (lambda x, t: x * t.hour, dt.time(12, tzinfo=HERE), dt.time(14, tzinfo=THERE)),
    (lambda x, t: x * t.fold, dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, fold=1)),
    (lambda x, t: (x, t.tzname()), dt.datetime(2020, 1, 1, tzinfo=HERE),
     dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(0), "here"))),
    (lambda x, t: x * len(str(t)), decimal.Decimal("1.0"), decimal.Decimal("1.00")),
    (lambda x, t: x * t.is_signed(), decimal.Decimal("0"), decimal.Decimal("-0")),
    (lambda x, t: (x, [*t]), frozenset([1]), frozenset([True]), frozenset([1.0]), frozenset([0.0]), frozenset([-0.0])),
    (lambda x, t: (x, [*t]), frozenset([(1,)]), frozenset([(True,)])),
    (lambda x, t: x * t.stop, range(0, 3, 2), range(0, 4, 2), range(0), range(1, 1)),
    (lambda x, t: (x, t.start), slice(1, 2), slice(True, 2), slice(1.0, 2)),
    (lambda x, t: (x, [*t], t), {"a": 2.0, "b": 3.0}, {"b": 3.0, "a": 2.0}),
    (lambda x, t: (x, [[*one] for one in t]), [{"a": x, "b": 1.0} for x in (1.0,)], [{"b": 1.0, "a": 1.0}]),
    (lambda x, t: (x, [*t]), {1: 2.0}, {True: 2.0}, {1.0: 2.0}, {0.0: 2.0}, {-0.0: 2.0}),
    (lambda x, t: (x, [*t]), {(1,): 2.0}, {(True,): 2.0}),
]  # fmt: skip


def shown(call, x, value):
    return repr(call(x, value))


@each(CASES)
def test_an_equal_argument_that_is_told_apart_is_another_call(body, *values):
    f, x = al.function(body), np.ones(2)
    for value in (*values, *values):
        assert shown(f, x, value) == shown(body, x, value)


@each(["range(0, 3, 2), range(0, 4, 2), range(0)", "slice(1, 2), slice(True, 2), slice(1.0, 2)",
       "frozenset([(1,)]), frozenset([(True,)]), frozenset([-0.0])"])  # fmt: skip
def test_so_is_one_in_a_global(values):
    text = module("return x, repr(V)", f"ALL = {values}\n", "", "global V\nV = ALL[k]")
    assert played("global", text, "auto")[0] == played("global", text)[0]


ZONE = """
class Zone(datetime.tzinfo):
    zero, asked = datetime.timedelta(0), 0
    @al.function
    def utcoffset(self, d): return self.zero
    def tzname(self, d): return 'Z'
    def dst(self, d): return self.zero
zone = Zone()
"""


@each(["t = datetime.datetime(2020, 1, 1, tzinfo=zone)\nreturn x * t.utcoffset().days + len(t.isoformat())",
       "t = datetime.datetime(2020, 1, 1, tzinfo=zone)\nreturn x, str(t), hash(t), t == t, h(x, t)"])  # fmt: skip
def test_a_zone_of_the_users_is_asked_by_c_code_and_not_for_keys(body):
    top = f"import autoloop as al\n{ZONE}\n@al.function\ndef h(x, t): return x * t.hour\n"
    text = module(body, top, "", "zone.zero = datetime.timedelta(hours=k)")
    assert [one[0] for one in played("zone", text, "auto")[0]] == [one[0] for one in played("zone", text)[0]]

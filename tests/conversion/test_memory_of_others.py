"""Arrays in memory of other objects, and what holds values that are no numbers, given what only the run knows."""

from __future__ import annotations

import array
import ctypes
import io
import mmap

import autoloop as al
import numpy as np
import pytest
from each_case import each
from left_to_python import refused_or_plain
from written_out import program


class Shown:
    """An object that hands on an array which it holds."""

    def __init__(self):
        self.held = np.zeros(3)

    def __array__(self, dtype=None, copy=None):
        return self.held


class Interfaced(Shown):
    __array__ = None

    @property
    def __array_interface__(self):
        return self.held.__array_interface__


KNOWN = {"array": array, "ctypes": ctypes, "io": io, "mmap": mmap, "Shown": Shown, "Interfaced": Interfaced}
#: how an array is made in memory of an object ``m``, and what is asked of that
MEMORY = (
    "m = bytearray(16)\na = np.frombuffer(m)\n{}\nreturn bytes(m)",
    "m = bytearray(16)\na = np.ndarray(2, float, m)\n{}\nreturn bytes(m), a",
    "m = memoryview(bytearray(16)).cast('d')\na = np.asarray(m)\n{}\nreturn m.tolist()",
    "m = array.array('d', [0, 0])\na = np.asarray(m)\n{}\nreturn m.tolist()",
    "m = (ctypes.c_double * 2)()\na = np.ctypeslib.as_array(m)\n{}\nreturn list(m)",
    "m = mmap.mmap(-1, 16)\na = np.frombuffer(m)\n{}\nreturn m[:8]",
    "m = io.BytesIO(bytes(16))\na = np.frombuffer(m.getbuffer())\n{}\nreturn m.getvalue()",
)
WRITTEN = "a[0] = x[0]", "a += x[:2]", "for k in range(n): a[0] += k"


@each(MEMORY)
def test_what_is_written_to_an_array_reaches_the_object_whose_memory_it_is(way):
    for text in WRITTEN:
        f = program(way.format(text), ["x", "n"], **KNOWN)
        refused_or_plain(f, "whose memory is that of a|may change unseen", np.array([0.5, 2.0, 3.0]), np.int64(3))


@each(["Shown", "Interfaced"])
def test_an_array_that_an_object_hands_on_is_its_own(kind):
    for start, way in (("G", "a = np.asarray(G)"), ("o = Shown()", "a = np.asarray(o)")):
        text = f"o = {start.replace('o = ', '').replace('Shown', kind)}\n{way}\na[0] = x[0]\nreturn o.held, np.sum(o)"
        found = [KNOWN[kind](), KNOWN[kind]()]
        plain, ours = (program(text, ["x"], G=one, **KNOWN) for one in found)
        ours = al.function(ours)
        with pytest.warns(UserWarning, match="runs as plain Python"):
            given = ours(np.array([0.5, 1.0]))
        np.testing.assert_equal(given, plain(np.array([0.5, 1.0])))
        np.testing.assert_equal(found[0].held, found[1].held)


RECORDS = "a = np.zeros(3, 'f8, i4')\n"
#: what is given a value of the run
GIVEN = (
    RECORDS + "a[0] = x[0], n\nreturn a", RECORDS + "a[1]['f0'] = x[0]\nreturn a",
    RECORDS + "a[:] = x[0], n\nreturn a", RECORDS + "a[1:] = [(x[0], n), (x[1], n)]\nreturn a",
    RECORDS + "a[['f0', 'f1']] = x[0], n\nreturn a", RECORDS + "for r in a: r['f0'] = x[0]\nreturn a",
    RECORDS + "for r, v in zip(a, x): r['f0'] = v\nreturn a", RECORDS + "a.flat[0] = x[0], n\nreturn a",
    RECORDS + "b = a.view(np.recarray)\nb[0].f0 = x[0]\nreturn a",
    RECORDS + "try:\n    a[0] = x[0], n\nexcept ValueError:\n    return 5\nreturn a",
    "a = np.zeros(1, [('a', 'i4'), ('s', object)])\na[0] = 1, x\nreturn a['s'][0]",
    "a = np.zeros(3, 'M8[s]')\na[0] = n\nreturn a", "a = np.zeros(3, 'm8[s]')\na[0] = n\nreturn a",
    "a = np.zeros(3, 'U5')\na[0] = x[0]\nreturn a", "a = np.zeros(3, 'S5')\na[0] = n\nreturn a",
    "a = np.array(['p', 'q'], 'T')\na[0] = str(n)\nreturn a.tolist()",
    "a = memoryview(bytearray(8))\na[0] = int(n)\nreturn bytes(a)",
    "class P(ctypes.Structure):\n    _fields_ = [('q', ctypes.c_double)]\np = P()\np.q = x[0]\nreturn p.q",
)  # fmt: skip


@each(GIVEN)
def test_what_holds_no_numbers_is_given_values_by_plain_python(text):
    words = "computes with values|is given values that only the run knows|wants to know the value|asks for|in place"
    refused_or_plain(
        program(text, ["x", "n"], **KNOWN), f"{words}|a structured array", np.arange(3.0) + 0.5, np.int64(3)
    )


@each(
    [
        (np.datetime64("2020-01-01"), "an array of dates"),
        ([np.datetime64("2020-01-01")], "an array of dates"),
        ([np.zeros(1, "f8, i4")[0]], "a structured array"),
        (np.ma.array([1, 2], mask=[0, 1]), "a masked array, whose mask would be lost"),
    ]
)
def test_tensors_are_not_made_of_them(value, words):
    for make in (al.constant, al.asarray, al.sum):
        with pytest.raises(TypeError, match=words):
            make(value)

"""Programs with a world of their own, called three times plain and three times decorated.

A program is a module's text: ``f(x)`` is what is called, ``state()``, if there is one, tells what it has left, and
``change(k)`` is called before call number ``k``. What is
compared besides: what is printed, logged and warned of, with the places that records and warnings name, what ``buf``
holds, and how far each generator of random numbers is.
"""

import contextlib
import io
import linecache
import logging
import random
import warnings

import autoloop as al
import numpy as np

HEAD = """\
import array, collections, contextlib, contextvars, datetime, functools, hashlib, io, itertools, logging, os
import queue, random, re, secrets, sqlite3, struct, sys, threading, time, uuid, warnings, weakref
import numpy as np
buf, rng, rs, R = io.StringIO(), np.random.default_rng(3), np.random.RandomState(4), random.Random(5)
log = logging.getLogger("world")
"""
PLAIN = "runs as plain Python"


def module(body, top="", state="", change="", told=""):
    """Return the text of a program whose function has ``body``; ``change`` is done before each call, number ``k``.

    ``told`` is an expression of ``r``, what the function gives.
    """
    text = f"{HEAD}{top}\n{_defined('f(x)', body)}"
    text += f"\ndef state():\n    return {state}\n" if state else ""
    text += f"\ndef told(r):\n    return {told}\n" if told else ""
    return text + (_defined("change(k)", change) if change else "")


def _defined(head, body):
    return f"def {head}:\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


class Records(logging.Handler):
    """What is logged."""

    def __init__(self):
        super().__init__()
        self.found = []

    def emit(self, record):
        place = record.pathname, record.lineno, record.funcName
        self.found.append((record.levelname, record.getMessage(), record.name, *place, getattr(record, "key", None)))


@contextlib.contextmanager
def logged():
    """Give what is logged inside."""
    records, root = Records(), logging.getLogger()
    level = root.level
    root.addHandler(records)
    root.setLevel(logging.DEBUG)
    try:
        yield records
    finally:
        root.removeHandler(records)
        root.setLevel(level)


def described(value):
    """Return a value with the types of its parts, for comparison."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(one) for one in value]
    if isinstance(value, dict):
        return type(value).__name__, {key: described(one) for key, one in value.items()}
    return type(value).__name__, repr(value) if not hasattr(value, "__dict__") else described(vars(value))


def streams(names):
    """Return how far the generators of random numbers are."""
    return (
        hash(random.getstate()), _hash(np.random.get_state()), repr(names["rng"].bit_generator.state),
        _hash(names["rs"].get_state()), hash(names["R"].getstate()),
    )  # fmt: skip


def _hash(state):
    """That of what NumPy's older generators hold: its text takes ten times as long as many a program."""
    name, keys, *others = state
    return hash((name, keys.tobytes(), *others))


def world(name, text):
    """Return the names of a program, which Python finds by its lines."""
    filename = f"<world {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    random.seed(1)
    np.random.seed(2)
    names = {"__name__": "world"}
    exec(compile(text, filename, "exec"), names)
    return names


def played(name, text, executor=None, calls=3):
    """Return what each call of a program does, decorated if there is an executor, and what it was warned of."""
    names = world(name, text)
    function = names["f"] if executor is None else al.function(names["f"], executor=executor)
    found, reasons = [], []
    with logged() as records:
        for k in range(calls):
            x = np.array([1.0, 2.0, 0.0]) + k
            names.get("change", int)(k)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                with warnings.catch_warnings(record=True) as warned:
                    warnings.simplefilter("always")
                    try:
                        result = function(x)
                        result = described(result), names.get("told", described)(result)
                    except Exception as error:
                        result = type(error), str(error)
                    left = described(names["state"]()) if "state" in names else None
            told = [(one.category.__name__, str(one.message), one.filename, one.lineno) for one in warned]
            reasons += [one[1] for one in told if PLAIN in one[1]]
            told = [one for one in told if PLAIN not in one[1] and one[0] is not ResourceWarning]
            texts = out.getvalue(), err.getvalue(), names["buf"].getvalue()
            found.append((result, x.tolist(), left, texts, told, list(records.found), streams(names)))
    return found, reasons

"""Functions of a few lines, made of their bodies, and what calls of them give in value and kind."""

from __future__ import annotations

import copy
import linecache
import math

import autoloop as al
import numpy as np


class Record:
    """What has attributes."""


def made(body, signature="x, n"):
    """Return a function of a body."""
    text = f"def f({signature}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    name = f"<short program {text!r}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np, "math": math, "Record": Record}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def outcome(f, *args):
    """Return what a call gives and leaves in its arguments, or what it raises."""
    args = copy.deepcopy(args)
    try:
        with np.errstate(all="ignore"):
            made = f(*args)
    except Exception as error:
        return type(error), str(error).splitlines()[:1]
    # the bytes tell zeros apart, and nothing else that is equal
    return [(type(one), np.asarray(one).dtype.str, np.shape(one), np.asarray(one).tobytes())
            for one in al.nest.flatten((made, args))], al.nest.structure_of(made)  # fmt: skip


def is_same(found, wanted):
    """Return whether a call does what it should; of exceptions, whether it is the plain type."""
    if isinstance(wanted[0], type):
        return isinstance(found[0], type) and issubclass(found[0], wanted[0])
    return found == wanted


def is_of_machine_code(found):
    """Return whether machine code has refused the function by name."""
    return getattr(found[0], "__name__", "") == "NativeRefusal"


def differences(bodies, arguments, executors, signature="x, n"):
    """Return the bodies of which decorated functions, each twice, do not do what plain ones do, and what they do."""
    found = []
    for place, (body, args) in enumerate((body, args) for body in bodies for args in arguments):
        f = made(body, signature)
        wanted, decorated = outcome(f, *args), al.function(f, executor=executors[place % len(executors)])
        for _ in range(2):
            one = outcome(decorated, *args)
            if not is_same(one, wanted) and not is_of_machine_code(one):
                found.append((body, args, one, wanted))
    return found

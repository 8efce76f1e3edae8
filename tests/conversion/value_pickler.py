"""A pickler that sends functions by value, as cloudpickle does, where that need not be installed."""

from __future__ import annotations

import io
import marshal
import pickle
import sys
import types
from contextlib import contextmanager

#: as the modules of cloudpickle that are inside other packages are called
_NAME = "sender.cloudpickle"
_TEXT = """
class Pickler(pickle.Pickler):
    def __init__(self, file, protocol, sent):
        super().__init__(file, protocol)
        self.sent = sent

    def reducer_override(self, one):
        return reduced(one) if isinstance(one, types.FunctionType) and one.__module__ == self.sent else NotImplemented

    def dump(self, one):
        return super().dump(one)
"""


def _reduced(f):
    names = {name for code in _codes(f.__code__) for name in code.co_names}
    values = {name: f.__globals__[name] for name in names & f.__globals__.keys()}
    state = values, [cell.cell_contents for cell in f.__closure__ or ()], f.__defaults__, f.__qualname__
    given = marshal.dumps(f.__code__.replace(co_filename="<dynamic-code>")), f.__module__
    return _made, given, state, None, None, _fill


def _codes(code):
    yield code
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _codes(one)


def _made(text, module):
    code = marshal.loads(text)
    cells = tuple([types.CellType() for _ in code.co_freevars])
    return types.FunctionType(code, {"__name__": module, "__builtins__": __builtins__}, closure=cells)


def _fill(f, state):
    values, cells, f.__defaults__, f.__qualname__ = state
    f.__globals__.update(values)
    for cell, value in zip(f.__closure__ or (), cells):
        cell.cell_contents = value


@contextmanager
def sending(module):
    """Give ``dumps``, which sends the functions of a module by value."""
    namespace = types.ModuleType(_NAME)
    vars(namespace).update(pickle=pickle, types=types, reduced=_reduced, list_registry_pickle_by_value=lambda: {module})
    exec(_TEXT, vars(namespace))

    def dumps(one, protocol=None):
        buffer = io.BytesIO()
        namespace.Pickler(buffer, protocol, module).dump(one)
        return buffer.getvalue()

    sys.modules["sender"] = namespace
    try:
        yield dumps
    finally:
        del sys.modules["sender"]

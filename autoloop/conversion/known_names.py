"""Names that mean the same wherever they stand: of calls that see their frame, of methods, of attributes."""

from __future__ import annotations

#: calls that see the variables of the frame they stand in, and how many arguments tell one what to look at instead
FRAME_READERS = {"locals": 1, "vars": 1, "dir": 1, "eval": 2, "exec": 2}
# Methods that change a list, dict or set in place: the name they are called on is rebound in a staged loop.
MUTATORS = frozenset(
    ("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove", "reverse")
    + ("setdefault", "sort", "update")
)
#: what tells of all attributes that an object has
OF_NAMESPACES = frozenset(("__dict__", "__dir__", "__getstate__", "__reduce__", "__reduce_ex__", "__sizeof__"))
#: attributes of generators of random numbers that tell how far they are, or lead there
OF_GENERATORS = frozenset(("bit_generator", "_bit_generator", "gauss_next"))

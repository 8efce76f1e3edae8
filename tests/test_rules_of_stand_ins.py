"""Rules for every class that stands for a value in a trace: what the user may see of it. They are asked of each class
there is, by day as well, for a name added to one of them is all that it takes to break them."""

import numpy as np
from autoloop.conversion.expressions import ASKED as ATTRIBUTES_ASKED
from autoloop.errors import in_words, stand_ins
from autoloop.operators.constructs import type_questions
from autoloop.operators.staging.standins import Covered, Face, StandIn


def every_kind(kind):
    return {kind, *(one for sub in kind.__subclasses__() for one in every_kind(sub))}


def test_words_are_there_for_every_class():
    abstract = {
        "StandIn",
        "Covered",
        "Either",
        "Rows",
        "ListColumns",
        "Maybe",
        "MaybeRecord",
        "NoneOrNot",
        "_NoneOrValue",
        "_UnsetOrValue",
    }
    # names that are words of the user's, too: these never stand where Python asks for a type
    plain = {"Undefined", "Moved"}
    words = {one for one in every_kind(StandIn) if not issubclass(one, Face) and one.__name__ not in abstract | plain}
    assert words and all(stand_ins.to_user(kind.__name__) != kind.__name__ for kind in words)
    assert in_words(TypeError("'MaybeNone' object is not callable")) is not None
    assert in_words(TypeError("'int' object is not callable")) is None


def test_what_stands_for_a_value_has_nothing_of_its_own_to_the_user():
    users = (
        np.ndarray,
        *map(np.sctypeDict.get, "?ldFU"),
        float,
        int,
        complex,
        str,
        list,
        dict,
        set,
        tuple,
        bytes,
        range,
    )
    theirs = {name for kind in (*users, np.flatiter, type(iter([]))) for name in dir(kind)}
    kinds = [one for one in every_kind(StandIn) | every_kind(type_questions.Tracer) if not issubclass(one, Covered)]
    held = {name for kind in kinds for cls in kind.__mro__ for name in (*vars(cls), *vars(cls).get("__slots__", ()))}
    assert {name for name in held - theirs if name[0] != "_"} <= ATTRIBUTES_ASKED

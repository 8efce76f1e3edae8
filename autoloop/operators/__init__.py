"""What converted code calls.

Each operator looks at the values at run time: with Python values it does what the Python statement does, with
tensors of a graph it builds the loop or branch into the graph.

Loops and branches::

    (i, s) = ops.while_stmt(loop_test, loop_body, (i, s), ('i', 's'))
    (s,) = ops.for_stmt(iterable, loop_body, (s,), ('s',))      # loop_body(item, s)
    (x,) = ops.if_stmt(test, then, orelse, ('x',))(x)
    return ops.if_return(test, then, orelse)(x)

``until=('did_break',)`` names the loop variables that end a loop at once; ``shared=('n',)`` the variables that
a body changes through ``nonlocal``; ``places=((lambda: self, 'h'),)`` the attributes it changes;
``options=lambda: {...}`` holds the arguments of ``set_loop_options``.

Expressions: ``and_(a, lambda: b)``, ``or_``, ``not_``, ``if_exp(test, lambda: a, lambda: b)``, ``in_``,
``not_in``, ``is_(best, None)``, ``is_not``, ``call(f)(x)``, ``set_item(a, i, v)``,
``update_item(a, i, '+=', lambda: v)``, ``set_items(a, (i, j), v)``, ``update_items``,
``set_item_of(self, 'a', i, v)``, ``update_item_of``; ``item(a, i)`` for
``a[i]`` where ``a`` may be a Python sequence; ``(a, b) = unpack(row)``; ``attribute(a, 'p')`` for ``a.p`` where a
class has a property ``p``. Where a class of the user's says what an operator does: ``binary(a, '+', b)``,
``compare(a, '<', b)``, ``unary('-', a)``, ``a = update(a, '+=', b)``.

Comprehensions: ``[f(x) for x in elements(v)]``, ``[x + y for x, y in parts(v)]``, ``hashed(key)``,
``kept((test, lambda: value) for x in ...)`` for one with an ``if``; a generator expression is ``generated(v, step)``,
``listing`` makes a list of one: ``lambda items: [(lambda: test, lambda: value, None) for x in items]`` is a step.
``match subject(x, False):`` where patterns ask for classes.

Variables without a value: ``Undefined('x')``, ``defined(x)``, ``returned(return_value)``,
``user_variables(locals(), names)``.

Errors: ``assert checked(test)``, ``raise raised(error)``; ``hide_own_frames()``, ``except refusals()``,
``with attempt(lambda: (KeyError,)):`` in a ``try`` and ``with managed(manager):`` stand in what runs, not in what is
shown. Text: ``fstring('{:.2f}', x)``, ``percent('%d', x)``.
"""

from typing import TYPE_CHECKING

from autoloop_runtime.base.doors import door

from ..errors import hide_own_frames, refusals

if TYPE_CHECKING:
    from .constructs.answers_of_methods import accepted_answer as accepted_answer
    from .constructs.attempts import attempt, managed
    from .constructs.attributes import attribute, delete_attribute, set_attribute, update_attribute
    from .constructs.attributes import getter as getter
    from .constructs.boolean_operators import and_, not_, or_
    from .constructs.builtins import STAGED as STAGED
    from .constructs.call_expression import call
    from .constructs.chosen_elements import staged_filter as staged_filter
    from .constructs.chosen_elements import staged_map as staged_map
    from .constructs.chosen_items import asking as asking
    from .constructs.chosen_items import chosen as chosen
    from .constructs.chosen_items import place_in as place_in
    from .constructs.comprehensions import all_of as all_of
    from .constructs.comprehensions import any_of as any_of
    from .constructs.comprehensions import elements, hashed, kept, listed
    from .constructs.comprehensions import extreme_element as extreme_element
    from .constructs.comprehensions import extreme_of as extreme_of
    from .constructs.comprehensions import has_known_length as has_known_length
    from .constructs.comprehensions import hashed_all as hashed_all
    from .constructs.container_comparisons import asks_the_run as asks_the_run
    from .constructs.container_comparisons import compare
    from .constructs.effect_calls import known_call as known_call
    from .constructs.effect_calls import staged_print as staged_print
    from .constructs.effect_statements import checked, raised
    from .constructs.folded_lists import extreme_of_several as extreme_of_several
    from .constructs.folded_lists import folded as folded
    from .constructs.for_statement import for_stmt
    from .constructs.generator_expressions import extreme_of_each as extreme_of_each
    from .constructs.generator_expressions import generated, listing
    from .constructs.generator_expressions import next_of as next_of
    from .constructs.generator_expressions import reduced as reduced
    from .constructs.generator_expressions import used_up as used_up
    from .constructs.if_statement import if_exp, if_return, if_stmt
    from .constructs.if_statement import staged_choice as staged_choice
    from .constructs.items import (
        item,
        parts,
        set_item,
        set_item_of,
        set_items,
        unpack,
        update_item,
        update_item_of,
        update_items,
    )
    from .constructs.last_rows import Rows as Rows
    from .constructs.library_functions import staged_for as staged_for
    from .constructs.math_functions import as_complex as as_complex
    from .constructs.math_functions import as_index as as_index
    from .constructs.math_functions import converting_to as converting_to
    from .constructs.math_functions import of_number as of_number
    from .constructs.math_functions import of_one_kind as of_one_kind
    from .constructs.math_functions import staged_pow as staged_pow
    from .constructs.math_functions import staged_round as staged_round
    from .constructs.math_functions import tried as tried
    from .constructs.membership import in_, not_in
    from .constructs.mixed_operators import by_types as by_types
    from .constructs.mixed_operators import of_mixed as of_mixed
    from .constructs.named_iterators import refuse_again as refuse_again
    from .constructs.named_iterators import refuse_changing as refuse_changing
    from .constructs.named_iterators import refuse_named as refuse_named
    from .constructs.numpy_settings import is_under_settings as is_under_settings
    from .constructs.options import misplaced_options, set_loop_options
    from .constructs.overloads import binary, unary, update
    from .constructs.random_calls import drawing as drawing
    from .constructs.random_calls import leave_generators as leave_generators
    from .constructs.random_calls import note_copied as note_copied
    from .constructs.random_calls import unless_drawn as unless_drawn
    from .constructs.side_by_side import staged_enumerate as staged_enumerate
    from .constructs.side_by_side import staged_reversed as staged_reversed
    from .constructs.side_by_side import staged_zip as staged_zip
    from .constructs.sorted_lists import sorted_by as sorted_by
    from .constructs.sorted_lists import sorted_tensor as sorted_tensor
    from .constructs.staged_libraries import OF_LIBRARIES as OF_LIBRARIES
    from .constructs.starred_calls import starred_call
    from .constructs.stateful_calls import told_of_effect as told_of_effect
    from .constructs.text import formatted as formatted
    from .constructs.text import formatted_as as formatted_as
    from .constructs.text import fstring, percent
    from .constructs.text import holds_staged as holds_staged
    from .constructs.text import joined as joined
    from .constructs.text import of_known_text as of_known_text
    from .constructs.text import repr_of as repr_of
    from .constructs.text import shown as shown
    from .constructs.text import text_of as text_of
    from .constructs.type_questions import attribute_or as attribute_or
    from .constructs.type_questions import has_attribute as has_attribute
    from .constructs.type_questions import is_callable as is_callable
    from .constructs.type_questions import is_instance_of as is_instance_of
    from .constructs.type_questions import names_in as names_in
    from .constructs.type_questions import namespace_of as namespace_of
    from .constructs.type_questions import type_of as type_of
    from .constructs.unwanted_elements import drawn as drawn
    from .constructs.unwanted_elements import perhaps_wanted as perhaps_wanted
    from .constructs.while_statement import while_stmt
    from .mutation.lifted_arrays import beside_unknown as beside_unknown
    from .mutation.lifted_arrays import given_unknown as given_unknown
    from .mutation.texts_of_tracers import leave_key as leave_key
    from .mutation.texts_of_tracers import leave_or_refuse as leave_or_refuse
    from .mutation.texts_of_tracers import leave_value as leave_value
    from .staging.begun_lists import example_of as example_of
    from .staging.begun_lists import growing as growing
    from .staging.bytes_of_runs import FlagsOfArray as FlagsOfArray
    from .staging.bytes_of_runs import bytes_of as bytes_of
    from .staging.copied_elements import note_written as note_written
    from .staging.growing_list import array_of as array_of
    from .staging.growing_list import refuse_empty as refuse_empty
    from .staging.maybe_numbers import given_exactly as given_exactly
    from .staging.optional import is_, is_not
    from .staging.staged_values import subject
    from .staging.undefined import Undefined, defined, returned, user_variables

__all__ = [
    "Undefined",
    "and_",
    "attempt",
    "attribute",
    "binary",
    "call",
    "checked",
    "compare",
    "defined",
    "delete_attribute",
    "elements",
    "for_stmt",
    "fstring",
    "generated",
    "hashed",
    "hide_own_frames",
    "if_exp",
    "if_return",
    "if_stmt",
    "in_",
    "is_",
    "is_not",
    "item",
    "kept",
    "listed",
    "listing",
    "managed",
    "misplaced_options",
    "not_",
    "not_in",
    "or_",
    "parts",
    "percent",
    "raised",
    "refusals",
    "returned",
    "set_attribute",
    "set_item",
    "set_item_of",
    "set_items",
    "set_loop_options",
    "starred_call",
    "subject",
    "unary",
    "unpack",
    "update",
    "update_attribute",
    "update_item",
    "update_item_of",
    "update_items",
    "user_variables",
    "while_stmt",
]

#: a construct is loaded by the first code that holds it
_MODULES = {
    "autoloop.operators.constructs.answers_of_methods": ("accepted_answer",),
    "autoloop.operators.constructs.attempts": ("attempt", "managed"),
    "autoloop.operators.constructs.attributes": (
        "attribute", "delete_attribute", "getter", "set_attribute", "update_attribute",
    ),
    "autoloop.operators.constructs.boolean_operators": ("and_", "not_", "or_"),
    "autoloop.operators.constructs.builtins": ("STAGED",),
    "autoloop.operators.constructs.call_expression": ("call",),
    "autoloop.operators.constructs.chosen_elements": ("staged_filter", "staged_map"),
    "autoloop.operators.constructs.chosen_items": ("asking", "place_in", "chosen"),
    "autoloop.operators.constructs.comprehensions": (
        "all_of", "any_of", "elements", "extreme_element", "extreme_of", "has_known_length",
        "hashed", "hashed_all", "kept", "listed",
    ),
    "autoloop.operators.constructs.container_comparisons": ("asks_the_run", "compare"),
    "autoloop.operators.constructs.effect_calls": ("known_call", "staged_print"),
    "autoloop.operators.constructs.effect_statements": ("checked", "raised"),
    "autoloop.operators.constructs.folded_lists": ("extreme_of_several", "folded"),
    "autoloop.operators.constructs.for_statement": ("for_stmt",),
    "autoloop.operators.constructs.generator_expressions": (
        "extreme_of_each", "generated", "listing", "next_of", "reduced", "used_up",
    ),
    "autoloop.operators.constructs.if_statement": ("if_exp", "if_return", "if_stmt", "staged_choice"),
    "autoloop.operators.constructs.items": (
        "item", "parts", "set_item", "set_item_of", "set_items", "unpack", "update_item", "update_item_of",
        "update_items",
    ),
    "autoloop.operators.constructs.last_rows": ("Rows",),
    "autoloop.operators.constructs.library_functions": ("staged_for",),
    "autoloop.operators.constructs.math_functions": (
        "as_complex", "as_index", "converting_to", "of_number", "of_one_kind",
        "staged_pow", "staged_round", "tried",
    ),
    "autoloop.operators.constructs.membership": ("in_", "not_in"),
    "autoloop.operators.constructs.mixed_operators": ("by_types", "of_mixed"),
    "autoloop.operators.constructs.named_iterators": ("refuse_again", "refuse_changing", "refuse_named"),
    "autoloop.operators.constructs.numpy_settings": ("is_under_settings",),
    "autoloop.operators.constructs.options": ("misplaced_options", "set_loop_options"),
    "autoloop.operators.constructs.overloads": ("binary", "unary", "update"),
    "autoloop.operators.constructs.random_calls": ("drawing", "leave_generators", "note_copied", "unless_drawn"),
    "autoloop.operators.constructs.side_by_side": ("staged_enumerate", "staged_reversed", "staged_zip"),
    "autoloop.operators.constructs.sorted_lists": ("sorted_by", "sorted_tensor"),
    "autoloop.operators.constructs.staged_libraries": ("OF_LIBRARIES",),
    "autoloop.operators.constructs.starred_calls": ("starred_call",),
    "autoloop.operators.constructs.stateful_calls": ("told_of_effect",),
    "autoloop.operators.constructs.text": (
        "formatted", "formatted_as", "fstring", "holds_staged", "joined", "of_known_text",
        "percent", "repr_of", "shown", "text_of",
    ),
    "autoloop.operators.constructs.type_questions": (
        "attribute_or", "has_attribute", "is_callable", "is_instance_of", "names_in", "namespace_of", "type_of",
    ),
    "autoloop.operators.constructs.unwanted_elements": ("drawn", "perhaps_wanted"),
    "autoloop.operators.constructs.while_statement": ("while_stmt",),
    "autoloop.operators.mutation.lifted_arrays": ("beside_unknown", "given_unknown"),
    "autoloop.operators.mutation.texts_of_tracers": ("leave_key", "leave_or_refuse", "leave_value"),
    "autoloop.operators.staging.begun_lists": ("example_of", "growing"),
    "autoloop.operators.staging.bytes_of_runs": ("FlagsOfArray", "bytes_of"),
    "autoloop.operators.staging.copied_elements": ("note_written",),
    "autoloop.operators.staging.growing_list": ("array_of", "refuse_empty"),
    "autoloop.operators.staging.maybe_numbers": ("given_exactly",),
    "autoloop.operators.staging.optional": ("is_", "is_not"),
    "autoloop.operators.staging.staged_values": ("subject",),
    "autoloop.operators.staging.undefined": ("Undefined", "defined", "returned", "user_variables"),
}  # fmt: skip
if not TYPE_CHECKING:
    __getattr__ = door(globals(), {name: module for module, names in _MODULES.items() for name in names})

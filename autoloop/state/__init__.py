"""What a traced function finds and leaves outside its arguments: read and written at every call.

The names of globals, closures, attributes and items are *places*. Before a trace the world that the function reaches is
walked (``reached``); arrays there become inputs of the graph, everything else is guarded (``guards``). After it the
places are compared (``changes``): what differs is written at every call, and the world is put back as it was.
"""

from typing import TYPE_CHECKING

from autoloop_runtime.base.doors import door

if TYPE_CHECKING:
    from ..operators.mutation.kept_by_libraries import Libraries as Libraries
    from .changes import changes_of as changes_of
    from .endless import check_ends as check_ends
    from .endless import lengths_of as lengths_of
    from .foreign_inputs import SameForeign as SameForeign
    from .foreign_inputs import joined_foreign as joined_foreign
    from .foreign_inputs import key_of as key_of
    from .foreign_inputs import leave_foreign as leave_foreign
    from .foreign_inputs import let_be_theirs as let_be_theirs
    from .foreign_inputs import note_foreign as note_foreign
    from .guards import input_at as input_at
    from .guards import reader as reader
    from .guards import same_contents as same_contents
    from .held_instances import sharing as sharing
    from .lent_generators import Standing as Standing
    from .lent_generators import lending as lending
    from .lent_generators import making as making
    from .lent_generators import with_lent as with_lent
    from .other_threads import let_others_wait as let_others_wait
    from .replays import ended_by as ended_by
    from .replays import is_plains as is_plains
    from .replays import put_back as put_back
    from .replays import replayed as replayed

#: loaded by the first trace that finds or changes something
_MODULES = {
    "changes_of": "autoloop.state.changes",
    "check_ends": "autoloop.state.endless",
    "lengths_of": "autoloop.state.endless",
    "input_at": "autoloop.state.guards",
    "reader": "autoloop.state.guards",
    "same_contents": "autoloop.state.guards",
    "sharing": "autoloop.state.held_instances",
    "Libraries": "autoloop.operators.mutation.kept_by_libraries",
    "Standing": "autoloop.state.lent_generators",
    "lending": "autoloop.state.lent_generators",
    "making": "autoloop.state.lent_generators",
    "with_lent": "autoloop.state.lent_generators",
    "joined_foreign": "autoloop.state.foreign_inputs",
    "key_of": "autoloop.state.foreign_inputs",
    "leave_foreign": "autoloop.state.foreign_inputs",
    "note_foreign": "autoloop.state.foreign_inputs",
    "let_be_theirs": "autoloop.state.foreign_inputs",
    "let_others_wait": "autoloop.state.other_threads",
    "ended_by": "autoloop.state.replays",
    "is_plains": "autoloop.state.replays",
    "put_back": "autoloop.state.replays",
    "replayed": "autoloop.state.replays",
}
if not TYPE_CHECKING:
    __getattr__ = door(globals(), _MODULES)

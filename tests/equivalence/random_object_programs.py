"""Random programs of classes and of the standard library, on top of those of constructs.

To a world come abstract classes, properties, descriptors, slots, operators, enumerations, dataclasses with an order,
generators that are sent values, memories of calls; deques, heaps, counters, sets, texts, ``math`` and ``itertools``.
"""

from __future__ import annotations

import random

from random_array_programs import HEAD, HELPERS
from random_construct_programs import NAMES as OUTER_NAMES
from random_construct_programs import TOOLS, ConstructWriter
from random_object_lines import BLOCKS, CHANGES, FUNCTIONS, LINES
from random_object_world import NAMES, OBJECTS
from random_state_programs import VS, WORLD


class ObjectWriter(ConstructWriter):
    """Writes a program of classes and of the standard library."""

    def simple(self) -> None:
        if not self.one_of(LINES):
            super().simple()

    def parts(self, budget: int, jumps: bool) -> None:
        if self.chance(0.4):
            super().parts(budget, jumps)
            return
        loops = jumps
        for head in self.choices.choice(BLOCKS).format(**self.known()).split("|"):
            if head.startswith("    "):
                self.head(head)
            elif head:
                loops = jumps or head.startswith(("for ", "while "))
                self.head(head)
                if head.endswith(":"):
                    self.block(budget - 1, loops and not head.startswith("except*"))

    def function(self, budget: int, jumps: bool) -> None:
        if self.chance(0.4):
            super().function(budget, jumps)
            return
        self.write_function(self.choices.choice(FUNCTIONS))

    def changes(self) -> str:
        text = super().changes().replace("def change(k):\n", "def change(k):\n    global options, running\n" + NAMES)
        before, after = text.rsplit("    return None\n", 1)
        for call in (1, 2):
            if self.chance(0.5):
                line = self.choices.choice(CHANGES).format(k=self.choices.randrange(5))
                before += f"    if k == {call}:\n        {line}\n"
        return before + "    return None\n" + after


def program(choices: random.Random) -> tuple[str, str]:
    """Return the text of a random program of classes, and how its arguments lie."""
    layout = choices.choice(("apart", "apart", "apart", "same", "view"))
    world = WORLD.format(V=choices.choice(VS), v=choices.choice(("W", "np.ones(6)"))) + TOOLS + OBJECTS
    writer = ObjectWriter(choices, layout, world)
    for _ in range(choices.randrange(2, 6)):
        writer.statement(2, False)
    body = "\n".join(writer.lines) + "\n    return " + writer.results() + "\n"
    return HELPERS + world + HEAD + OUTER_NAMES + NAMES + body + writer.changes(), layout

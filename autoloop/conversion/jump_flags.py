"""The flags that jumps become: variables that say that a loop, or the function, is to be left."""

from __future__ import annotations

from collections.abc import Callable

from autoloop_runtime.base.dataclass import dataclass, field

from .nodes import Block, Node, header


@dataclass(frozen=True)
class Context:
    """Where a block stands.

    ``tail`` tells what falling off its end means: the function returns ("function"), the loop goes on
    ("loop"), or statements follow ("inside"). ``direct`` is true while a ``return`` statement still returns
    from the function; ``loop`` holds the loop around it.
    """

    tail: str
    direct: bool
    loop: LoopFlags | None = None


@dataclass
class LoopFlags:
    """A loop being lowered: whether it stays Python, and the names of its flags by kind."""

    python: bool
    flags: dict[str, str] = field(default_factory=dict)


class JumpFlags:
    """The flags of one function.

    Attributes
    ----------
    names : list of str
        All names made here.
    returned : str
        The flag of an early ``return``; empty if there is none.
    raised : set of str
        Kinds of flags that the statements lowered so far may raise.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh
        self.names: list[str] = []
        self.returned = ""
        self.raised: set[str] = set()
        self._value = ""

    def new(self, kind: str) -> str:
        """Return a new name."""
        name = self.fresh(kind)
        self.names.append(name)
        return name

    def value(self) -> str:
        """Return the name that holds the value of an early ``return``."""
        self._value = self._value or self.new("return_value")
        return self._value

    def raised_in(self, context: Context, kind: str) -> str:
        """Return the flag of this kind, and note that the statements being lowered may raise it."""
        self.raised.add(kind)
        if kind == "did_return":
            self.returned = self.returned or self.new(kind)
            return self.returned
        assert context.loop is not None
        if kind not in context.loop.flags:
            context.loop.flags[kind] = self.new(kind)
        return context.loop.flags[kind]

    def initial(self, origin: Node, kinds: set[str], context: Context) -> Block:
        """Return the statements that lower the flags before a statement which may raise them."""
        make = header(origin)
        names = []
        if context.tail == "loop" and context.loop is not None and "did_continue" in kinds:
            names.append(context.loop.flags["did_continue"])
        if context.tail == "function" and "did_return" in kinds:
            names.append(self.returned)
        return [make.set_name(name, make.constant(False)) for name in names]

    def asked(self, kinds: set[str], context: Context) -> list[str]:
        """Return the flags to ask before what follows a statement that may have raised them."""
        loop = context.loop
        names = [] if loop is None else [loop.flags[k] for k in ("did_break", "did_continue") if k in kinds]
        return names + ([self.returned] if "did_return" in kinds else [])

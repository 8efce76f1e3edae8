"""What an op states of itself, besides how it is computed: what analyses, passes and gradients ask.

Every row of the table of ops states all traits; most by the name of a family below, with ``but`` where it differs.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..base.dataclass import dataclass, replace
from ..base.enumeration import Enum, auto
from .prices import Price, Pricing


class Batching(Enum):
    """How an op is computed for many rows at once, whose axis is put in front."""

    #: one value per element, of arguments that broadcast together: lined up, it is the same op
    ELEMENTS = auto()
    #: the axes that the attribute ``axis`` names are reduced: they move by one
    AXES = auto()
    #: as it stands, if only the first of two inputs varies and the second is a matrix
    FIRST_FACTOR = auto()
    #: row by row
    NONE = auto()


class Memory(Enum):
    """Where the result is kept."""

    #: never in the memory of an input
    FRESH = auto()
    #: it may be the first input, or a view of it, but of no other
    VIEW = auto()
    #: nothing is known
    ANY = auto()


class Fails(Enum):
    """When the kernel raises, for numbers of the dtypes and static shapes that were inferred."""

    NEVER = auto()
    #: if the inputs' shapes do not go together
    SHAPES = auto()
    #: that, and for some values of integers
    INTEGERS = auto()
    #: never where all shapes are known
    UNKNOWN_SHAPES = auto()
    #: never where all shapes are known, and none has an extent of 0
    NO_ELEMENTS = auto()
    #: never where all shapes are known, and no position is an input: of others it was asked when the node was made
    POSITIONS = auto()
    MAYBE = auto()


class NoRule(Enum):
    """What a row states in place of a gradient rule."""

    #: the derivative is zero, or there is none by definition: gradients end here
    NO_GRADIENT = auto()
    #: a gradient through it is refused (structured nodes, which are walked into, aside)
    NO_RULE = auto()


NO_GRADIENT, NO_RULE = NoRule.NO_GRADIENT, NoRule.NO_RULE


@dataclass(frozen=True)
class Traits:
    """The traits of an op.

    Attributes
    ----------
    batching : Batching
        How it is computed for many rows at once.
    memory : Memory
        Whether its result may share memory with an input.
    fails : Fails
        When its kernel raises.
    raises : type or tuple of types
        What it raises then.
    price : Pricing
        What it costs; see ``analysis.cost``.
    rematerialise : bool
        It is computed again in the backward pass rather than saved: it is cheap, or reads few elements.
    describes : bool
        Its value does not depend on the elements of its input, only on the shape.
    blas : bool
        The kernel calls BLAS, whose own threads must then be limited.
    overwrites : bool
        Each result may take over the memory of the input at its place, where nobody else reads that. So may what
        works element by element, for which ``Op.into`` says how.
    recalls : bool
        It gives what a loop has saved on its way forward, for the loop that goes back.
    """

    batching: Batching
    memory: Memory
    fails: Fails
    raises: type[Exception] | tuple[type[Exception], ...]
    price: Pricing
    rematerialise: bool
    describes: bool
    blas: bool
    overwrites: bool
    recalls: bool

    @property
    def elementwise(self) -> bool:
        """Whether there is one value per element, of arguments that broadcast together."""
        return self.batching is Batching.ELEMENTS

    def but(self, **changes: object) -> Traits:
        """Return these traits with some changed."""
        return replace(self, **changes)


#: of which nothing is known
OPAQUE = Traits(Batching.NONE, Memory.ANY, Fails.MAYBE, ValueError, Price.ARITHMETIC, False, False, False, False, False)
#: the same, of ops outside the table, which need not state anything
UNSTATED = OPAQUE.but()
#: arithmetic on each element
ELEMENTS = Traits(
    Batching.ELEMENTS, Memory.FRESH, Fails.SHAPES, ValueError, Price.ARITHMETIC, True, False, False, False, False
)  # fmt: skip
#: a function of each element
FUNCTION = ELEMENTS.but(price=Price.FUNCTION)
#: gives its input, or a part of each element
PASSING = ELEMENTS.but(memory=Memory.VIEW, price=Price.VIEW)
#: a new array, whose making cannot fail once the shapes are known to fit
MADE = OPAQUE.but(memory=Memory.FRESH, fails=Fails.UNKNOWN_SHAPES)
#: combines the elements along the axes of the attribute ``axis``
REDUCING = MADE.but(batching=Batching.AXES)
#: what an element-wise op states that has no template for its machine code: it has a rule of its own, or none
NO_TEMPLATE: Mapping[str, str] = {}
#: the same elements in another form
VIEWING = OPAQUE.but(memory=Memory.VIEW, fails=Fails.UNKNOWN_SHAPES, price=Price.VIEW, rematerialise=True)
#: the same elements in the same order
RESHAPING = VIEWING.but(overwrites=True)
#: the first input with some elements changed
UPDATING = OPAQUE.but(memory=Memory.FRESH, raises=IndexError, overwrites=True)
#: looks only at the shape
DESCRIBING = OPAQUE.but(
    memory=Memory.FRESH, fails=Fails.NEVER, price=Price.VIEW, rematerialise=True, describes=True
)  # fmt: skip
#: picks elements out of the first input by indices
PICKING = OPAQUE.but(memory=Memory.FRESH, price=Price.PICK, raises=IndexError)
#: keeps the books of a backward pass: it reads only what the forward pass has written
BOOKKEEPING = OPAQUE.but(fails=Fails.NEVER)

"""The element-wise ops as LLVM instructions, from the templates in their rows (``Op.llvm``, ``Op.libm``).

In a template ``$t`` is the operands' type and ``$s`` the suffix of its intrinsics; ``$x $y $z`` are the operands and
``$1 $2 ...`` the results of the template's earlier steps, which are separated by ``;``. Complex numbers are vectors of
two: ``$r`` is the type of their parts, ``$c`` that of the complex number of two ``$t``. A step ``@name $x, $y``
calls a helper function (``helpers``), ``~op $x`` is another op, ``~libm:name $x`` a function of the C library, which
``~complex:name $x`` is of complex numbers, ``=$1`` gives a value as it is.
Kinds are "b" boolean, "i" signed, "u" unsigned, "f" floating, "c" complex, "p" collections; one entry may serve
several. "h" is of half precision, for operands that were made wider, where that is not the same as of other floats; "v"
of complex elements of arrays, of which NumPy makes something else than of single complex numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ...ir.op import OPS, Op
from ...ops.later_rows import load_all
from ..ir.casts import joined, parts_of
from ..ir.elements import FLOAT, HALF, LType
from ..ir.writer import Module, Writer, filled
from ..toolchain.shared_libraries import Libraries, has_complex_function

#: nanoseconds of the instructions and helpers that take long, for one of many elements of four bytes
_SLOW = {"fdiv": 0.05, "llvm.sqrt": 0.06, "@floordiv": 3.0, "@mod": 3.0, "@pow": 0.8}
#: the same of functions of the C library, and of all else
_FUNCTION, _POWER, _FAST = 0.3, 0.8, 0.005
#: Functions of the C library of which there is code of our own for elements of arrays, by type: it becomes part of the
#: loop that it is in, of vectors of every width, and takes a half to a quarter of the time; an element has one value
#: wherever it stands. Of numbers the library's has the bits that Python's ``math`` gives.
_OWN = {("tanh", "float"): "tanh_f", ("tanh", "double"): "tanh_f"}
#: what is kept rather than computed twice, besides what is slow
_ROUNDS = ("llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.rint", "llvm.copysign")
_INFINITY = {"half": "0xH7C00", "float": "0x7FF0000000000000", "double": "0x7FF0000000000000"}


#: tells LLVM to do a loop round by round, or several rounds at once though they are few, or as a loop
NO_VECTORS, VECTORS = (f'!{{!"llvm.loop.vectorize.enable", i1 {told}}}' for told in ("false", "true"))
AS_LOOP = '!{!"llvm.loop.unroll.disable"}'
#: An inner loop of so many rounds LLVM would write out before it looks for vectors, and find those across the rounds
#: of the loop around it, far apart; of fewer than the last it thinks that vectors do not pay.
_SHORT, _WRITTEN_OUT, _FEW = 8, 64, 16
#: Elements further apart than this are gathered and scattered by vectors, which takes longer than one after the other
#: unless what is computed of one takes so many nanoseconds.
_CLOSE, _LONG = 8, 0.09
#: Of functions one after the other each waits for the one before, and a processor looks no further ahead than it can
#: hold: elements of several rounds are computed beside each other, which takes half as long for ten functions.
_ROUNDS_BESIDE = '!{!"llvm.loop.interleave.count", i32 4}'
#: nanoseconds of what waits for each other from which on it does so, and in loops of how many rounds
_WAITING, MANY = 0.55, 256


def vectors_pay(steps: Sequence[int], written: Sequence[int], cost: float) -> bool:
    """Return whether the rounds of a loop should be done several at once: not if it does little with elements most of
    which, or which are written, are far apart. ``steps``: how far those of each operand are; ``cost``: nanoseconds."""
    moving = [abs(step) for step in steps if step]
    apart = any(abs(step) > _CLOSE for step in written) or 2 * sum(step > _CLOSE for step in moving) > len(moving)
    return not apart or cost > _LONG


def loop_hints(steps: Sequence[int], written: Sequence[int], cost: float, rounds: int | None) -> list[str]:
    """Return what LLVM is told of a loop; ``rounds``: how many an innermost one has that is inside of others."""
    if not vectors_pay(steps, written, cost):
        return [NO_VECTORS]
    if rounds is None or not _SHORT <= rounds <= _WRITTEN_OUT:
        return []
    return [AS_LOOP, VECTORS] if rounds < _FEW else [AS_LOOP]


def beside_each_other(waiting: float) -> list[str]:
    """Return what LLVM is told of a loop; ``waiting``: nanoseconds of what waits for each other, of four bytes."""
    return [_ROUNDS_BESIDE] if waiting >= _WAITING else []


def _templates(op: Op) -> Mapping[str, str]:
    rows = op.llvm
    if rows is None:
        rows = {} if op.libm is None else {"f": f"~libm:{op.libm} $x", "c": f"~complex:c{op.libm} $x"}
    return {kinds: text for kinds, text in rows.items() if text[0] != "~" or _is_there(text)}


def _is_there(template: str) -> bool:
    """Return whether the C library has the function of complex numbers that a template calls."""
    kind, _, name = template.partition(" ")[0].partition(":")
    return kind != "~complex" or has_complex_function(name)


def _row(name: str) -> Op:
    """Return the op of a row that a template names; it may be of any module."""
    if name not in OPS:
        load_all()
    return OPS[name]


def has_template(op: Op) -> bool:
    """Return whether the row of ``op`` says how it is written."""
    return bool(_templates(op))


@lru_cache(maxsize=1024)
def template_of(op: Op, kind: str) -> str | None:
    """Return the template of ``op`` for a kind of type, ``None`` if there is none."""
    return next((template for kinds, template in _templates(op).items() if kind in kinds), None)


def cost_of(op: Op, t: LType) -> float:
    """Return nanoseconds for one element of many, roughly."""
    template = template_of(op, t.kind) or ""
    if "~" in template:
        cost = _POWER if "~libm:pow" in template else _FUNCTION
    else:
        cost = sum(price for part, price in _SLOW.items() if part in template) or _FAST
    return cost * max(t.size, 2) / 4


@lru_cache(maxsize=1024)
def is_cheap(op: Op) -> bool:
    """Return whether ``op``, which has a template, is as cheap to do again as to keep, of real numbers."""
    steps = [step for kinds, template in _templates(op).items() if kinds not in "cv" for step in template.split("; ")]
    return not op.stateful and all(_is_cheap_step(step) for step in steps)


def _is_cheap_step(step: str) -> bool:
    if step.startswith("~"):
        name = step[1:].partition(" ")[0]
        return not name.startswith("libm:") and is_cheap(_row(name))
    return not any(part in step for part in (*_SLOW, *_ROUNDS))


class Arithmetic:
    """Writes element-wise ops on values in registers.

    Parameters
    ----------
    module : Module
        Gets the helper functions and declarations.
    libraries : Libraries
        Which C functions there are.
    heeds : bool
        Whether functions have the floating-point errors that the C library's have.
    """

    def __init__(self, module: Module, libraries: Libraries, heeds: bool = False) -> None:
        self.module = module
        self.libraries = libraries
        self._heeds = heeds

    def apply(self, writer: Writer, op: Op, t: LType, args: Sequence[str], of_array: bool = False) -> str:
        """Return the value of ``op`` of ``args``, which are all of type ``t``; ``of_array``: elements of arrays."""
        template = (template_of(op, "v") if of_array and t.kind == "c" else None) or template_of(op, t.kind)
        assert template is not None
        if t is HALF and not template.startswith("="):
            # as NumPy: half precision is a way to store, not to compute
            wide = [writer.let(f"fpext half {a} to float") for a in args]
            special = template_of(op, "h")
            value = (
                self._steps(writer, special, FLOAT, wide, of_array)
                if special
                else self.apply(writer, op, FLOAT, wide, of_array)
            )
            return (
                value
                if template.rpartition("; ")[2].startswith("fcmp")
                else writer.let(f"fptrunc float {value} to half")
            )
        return self._steps(writer, template, t, args, of_array)

    def _steps(self, writer: Writer, template: str, t: LType, args: Sequence[str], of_array: bool) -> str:
        names = dict(
            zip("xyz", args), t=t.name, s=t.suffix, r=t.part.name, c=f"<2 x {t.name}>", inf=_INFINITY.get(t.name, "")
        )
        result = ""
        for number, step in enumerate(template.split("; "), 1):
            result = names[str(number)] = self._step(writer, filled(step, names), t, of_array)
        return result

    def _step(self, writer: Writer, text: str, t: LType, of_array: bool) -> str:
        if text[0] == "=":
            return text[1:]
        if text[0] not in "@~":
            return writer.let(text)
        name, _, rest = text[1:].partition(" ")
        args = rest.split(", ")
        if text[0] == "@":
            callee = self.module.helper(name, t.name)
            return writer.let(f"call {t.name} {callee}({', '.join(f'{t.name} {a}' for a in args)})")
        if name.startswith("libm:"):
            return self._libm(writer, name[5:], t.part, args, of_array)
        if name.startswith("complex:"):
            return self._of_complex(writer, name[8:], t, args[0])
        return self.apply(writer, _row(name), t, args, of_array and t.kind != "c")

    def _of_complex(self, writer: Writer, name: str, t: LType, x: str) -> str:
        """Return a call of a function of the C library for a complex number: how that is handed over the ABI says."""
        symbol, packed = self.libraries.complex_function(name, t.part)
        form = t.name if packed else f"{{{t.part.name}, {t.part.name}}}"
        parts = [f"{t.part.name} {one}" for one in ([] if packed else parts_of(writer, x, t))] or [f"{t.name} {x}"]
        taken = t.name if packed else f"{t.part.name}, {t.part.name}"
        self.module.declare(f"{form} @{symbol}({taken}) nounwind willreturn")
        if packed:
            return writer.let(f"call {form} @{symbol}({parts[0]})")
        made = writer.let(f"call {form} @{symbol}({', '.join(parts)})")
        return joined(writer, [writer.let(f"extractvalue {form} {made}, {k}") for k in range(2)], t)

    def _libm(self, writer: Writer, name: str, t: LType, args: Sequence[str], of_array: bool) -> str:
        """Return a call of a function of the C library, or of ours, which the vectoriser may widen."""
        listed = ", ".join(f"{t.name} {a}" for a in args)
        if of_array and (name, t.name) in _OWN and not self._heeds:
            return writer.let(f"call {t.name} {self.module.helper(_OWN[name, t.name], t.name)}({listed})")
        function = self.libraries.function(name, t, len(args))
        parameters = ", ".join([t.name] * len(args))
        self.module.declare(f"{t.name} @{function.symbol}({parameters}) nounwind willreturn memory(none)")
        attributes = "nounwind willreturn memory(none)"
        if function.variants:
            mappings = ",".join(v.mapping for v in function.variants)
            attributes += f' "vector-function-abi-variant"="{mappings}"'
            for v in function.variants:
                vector = f"<{v.lanes} x {t.name}>"
                self.module.declare(f"{vector} @{v.symbol}({', '.join([vector] * len(args))})")
                self.module.keep(v.symbol)
        return writer.let(f"call {t.name} @{function.symbol}({listed}) {self.module.attributes(attributes)}")

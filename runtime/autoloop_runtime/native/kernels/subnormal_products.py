"""Products of numbers that are nearly too small: multiplied by powers of two before, and divided after.

A processor takes hundreds of times as long for a multiplication with a number below 2**-126, or that gives one, as
gradients that vanish do; a conversion between such a number and a whole one takes no longer than others. What
comes out is what was to come out, but for sums of such small numbers, of which fewer are rounded.

Whether there may be any is asked of the first numbers of each row only: of a batch, whole rows vanish.
"""

from __future__ import annotations

from ...base.dataclass import dataclass, replace
from ..ir.writer import Module, Writer
from . import gemm
from .gemm import Machine, Problem

#: powers of two: below which a number is looked at, what the largest is brought to, and at most multiplied by
SMALL, WANTED, MOST = -90, 56, 63
#: bytes of both matrices, which are copied to the stack, at most
BYTES = 1 << 17
#: of a float: bits of what stands before the power of two, what is added to that, and the least normal number
_SHIFT, _BIAS, _LEAST = 23, 127, 1 << 23
_MAGNITUDE, _SIGN, _INFINITE = 0x7FFFFFFF, -(1 << 31), 0x7F800000


@dataclass(frozen=True)
class _Matrix:
    """Rows in memory; ``step``: how many elements they are apart."""

    rows: int
    columns: int
    step: int


def fits(p: Problem, machine: Machine) -> bool:
    """Return whether there is such a function for a product."""
    lanes, matrices = machine.bits // 32, _matrices(p)
    if p.t.name != "float" or matrices is None or (p.m * p.k + p.k * p.n) * p.t.size > BYTES:
        return False
    return all(x.columns % lanes == 0 and x.step >= x.columns for x in (*matrices, _Matrix(p.m, p.n, p.c)))


def _matrices(p: Problem) -> tuple[_Matrix, _Matrix] | None:
    """Return how the operands lie in memory; None if elements of neither rows nor columns are neighbours."""
    if 1 not in p.a:
        return None
    left = _Matrix(p.m, p.k, p.a[0]) if p.a[1] == 1 else _Matrix(p.k, p.m, p.a[1])
    return left, _Matrix(p.n, p.k, p.b) if p.turned else _Matrix(p.k, p.n, p.b)


def define(module: Module, name: str, p: Problem, machine: Machine, product: str) -> None:
    """Add the function ``name(a, b, c)`` that solves ``p``, as ``product`` does unless numbers are too small."""
    module.define(name, lambda: _Looking(p, machine).text(name, product))
    module.define(f"{name}_small", lambda: _Scaling(module, p, machine).text(f"{name}_small"))


class _Vectors:
    """Writes a function of a product; ``lanes`` numbers are a vector."""

    def __init__(self, p: Problem, machine: Machine) -> None:
        found = _matrices(p)
        assert found is not None
        self.p, self.lanes, (self.left, self.right) = p, machine.bits // 32, found
        self.writer = Writer()
        self.let, self.do = self.writer.let, self.writer.do
        self.whole, self.real = f"<{self.lanes} x i32>", f"<{self.lanes} x float>"

    def at(self, pointer: str, offset: str) -> str:
        return self.let(f"getelementptr float, ptr {pointer}, i64 {offset}")

    def load(self, pointer: str) -> str:
        return self.let(f"load {self.whole}, ptr {pointer}, align 4")

    def all(self, number: int) -> str:
        return f"<{', '.join([f'i32 {number}'] * self.lanes)}>"

    def spread(self, value: str, type: str) -> str:
        """Return a vector all of whose numbers are ``value``."""
        vector = f"<{self.lanes} x {type}>"
        one = self.let(f"insertelement {vector} poison, {type} {value}, i64 0")
        return self.let(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def of(self, operation: str, first: str, second: str, type: str = "") -> str:
        return self.let(f"{operation} {type or self.whole} {first}, {second}")

    def as_real(self, value: str) -> str:
        return self.let(f"bitcast {self.whole} {value} to {self.real}")

    def as_whole(self, value: str) -> str:
        return self.let(f"bitcast {self.real} {value} to {self.whole}")

    def where(self, test: str, first: str, second: str) -> str:
        """Return ones where a comparison holds, zeros elsewhere."""
        held = self.let(f"icmp {test} {self.whole} {first}, {second}")
        return self.let(f"sext <{self.lanes} x i1> {held} to {self.whole}")

    def power(self, exponent: str) -> str:
        """Return vectors of two to the power of an i32."""
        biased = self.let(f"add i32 {exponent}, {_BIAS}")
        bits = self.let(f"shl i32 {biased}, {_SHIFT}")
        return self.as_real(self.spread(bits, "i32"))


class _Looking(_Vectors):
    def text(self, name: str, product: str) -> str:
        found = [self._looked(pointer, x) for pointer, x in (("%a", self.left), ("%b", self.right))]
        both = self.let(f"or {self.whole} {found[0]}, {found[1]}")
        any_ = self.let(f"call i32 @llvm.vector.reduce.or.v{self.lanes}i32({self.whole} {both})")
        small, done = self.writer.label("small"), self.writer.label("plain")
        self.writer.branch(self.let(f"icmp ne i32 {any_}, 0"), small, done)
        self.writer.start(small)
        self.do(f"call void @{name}_small(ptr %a, ptr %b, ptr %c)")
        self.do("ret void")
        self.writer.start(done)
        self.do(f"call void @{product}(ptr %a, ptr %b, ptr %c)")
        self.do("ret void")
        return (
            f"define internal void @{name}(ptr noalias %a, ptr noalias %b, ptr noalias %c) nounwind {{\n"
            f"entry:\n{self.writer.render()}\n}}"
        )

    def _looked(self, pointer: str, x: _Matrix) -> str:
        """Return ones where the first numbers of any row are small, and not zero."""
        limit = self.all((_BIAS + SMALL) << (_SHIFT + 1))
        with self.writer.loop(x.rows) as loop:
            found = loop.carry(self.writer, self.whole, "zeroinitializer")
            row = self.load(self.at(pointer, self.let(f"mul i64 {loop.index}, {x.step}")))
            twice = self.of("shl", row, self.all(1))  # without its sign; zero is the largest then
            less = self.of("sub", twice, self.all(1))
            result = self.of("or", found.name, self.where("ult", less, limit))
            found.add(result, self.writer.block)
        return result


class _Scaling(_Vectors):
    def __init__(self, module: Module, p: Problem, machine: Machine) -> None:
        super().__init__(p, machine)
        left, right = self.left, self.right
        strides = (left.columns, 1) if p.a[1] == 1 else (1, left.columns)
        inner = replace(p, a=strides, b=right.columns)
        parts = (p.t.name, p.m, p.n, p.k, *inner.a, inner.b, inner.c, "turned" if p.turned else "dense")
        self.product = "gemm_" + "_".join(map(str, parts))
        gemm.define(module, self.product, inner, machine)

    def text(self, name: str) -> str:
        powers = []
        for pointer, own, x in (("%a", "%x", self.left), ("%b", "%y", self.right)):
            self.do(f"{own} = alloca [{x.rows * x.columns} x float], align 64")
            powers.append(self._power(pointer, x))
        both = self.let(f"add i32 {powers[0]}, {powers[1]}")  # where one is too large as it is, the other makes up
        powers = [self._limited(self._limited(self._limited(x, "sgt", both), "slt", 0), "sgt", MOST) for x in powers]
        for pointer, own, x, power in zip(("%a", "%b"), ("%x", "%y"), (self.left, self.right), powers):
            self._larger(pointer, own, x, power)
        self.do(f"call void @{self.product}(ptr %x, ptr %y, ptr %c)")
        self._smaller(_Matrix(self.p.m, self.p.n, self.p.c), self.let(f"add i32 {powers[0]}, {powers[1]}"))
        self.do("ret void")
        return (
            f"define internal void @{name}(ptr noalias %a, ptr noalias %b, ptr noalias %c) noinline cold nounwind {{\n"
            f"entry:\n{self.writer.render()}\n}}"
        )

    def _power(self, pointer: str, x: _Matrix) -> str:
        """Return the power of two that the largest number is to be multiplied by, an i32."""
        with self.writer.loop(x.rows) as rows:
            outer = rows.carry(self.writer, self.whole, "zeroinitializer")
            start = self.let(f"mul i64 {rows.index}, {x.step}")
            with self.writer.loop(x.columns // self.lanes) as columns:
                most = columns.carry(self.writer, self.whole, outer.name)
                place = self.let(f"add i64 {start}, {self.let(f'mul i64 {columns.index}, {self.lanes}')}")
                size = self.of("and", self.load(self.at(pointer, place)), self.all(_MAGNITUDE))
                larger = self.let(f"icmp ugt {self.whole} {size}, {most.name}")
                inside = self.let(f"select <{self.lanes} x i1> {larger}, {self.whole} {size}, {self.whole} {most.name}")
                most.add(inside, self.writer.block)
            outer.add(inside, self.writer.block)
        largest = self.let(f"call i32 @llvm.vector.reduce.umax.v{self.lanes}i32({self.whole} {inside})")
        power = self.let(f"sub i32 {WANTED + _BIAS}, {self.let(f'lshr i32 {largest}, {_SHIFT}')}")
        return power

    def _limited(self, power: str, test: str, limit: object) -> str:
        beyond = self.let(f"icmp {test} i32 {power}, {limit}")
        return self.let(f"select i1 {beyond}, i32 {limit}, i32 {power}")

    def _larger(self, pointer: str, own: str, x: _Matrix, power: str) -> None:
        """Write a copy of numbers, multiplied; those below the least normal one are whole numbers of 2**-149."""
        factor, lifted = self.power(power), self.power(self.let(f"sub i32 {power}, 49"))
        unit = f"<{', '.join(['float 0x39B0000000000000'] * self.lanes)}>"  # 2**-100
        with self.writer.loop(x.rows) as rows, self.writer.loop(x.columns // self.lanes) as columns:
            inside = self.let(f"mul i64 {columns.index}, {self.lanes}")
            place = self.let(f"add i64 {self.let(f'mul i64 {rows.index}, {x.step}')}, {inside}")
            there = self.let(f"add i64 {self.let(f'mul i64 {rows.index}, {x.columns}')}, {inside}")
            bits = self.load(self.at(pointer, place))
            size = self.of("and", bits, self.all(_MAGNITUDE))
            low = self.where("ult", size, self.all(_LEAST))
            high = self.of("xor", low, self.all(-1))
            normal = self.of("fmul", self.as_real(self.of("and", bits, high)), factor, self.real)
            count = self.let(f"sitofp {self.whole} {self.of('and', size, low)} to {self.real}")
            made = self.of("fmul", self.of("fmul", count, unit, self.real), lifted, self.real)
            sign = self.of("and", self.of("and", bits, low), self.all(_SIGN))
            both = self.of("or", self.of("or", self.as_whole(normal), self.as_whole(made)), sign)
            self.do(f"store {self.whole} {both}, ptr {self.at(own, there)}, align 4")

    def _smaller(self, x: _Matrix, power: str) -> None:
        """Divide the result again; what becomes too small is rounded to whole numbers of 2**-149."""
        least = self.spread(self.let(f"shl i32 {self.let(f'add i32 {power}, 1')}, {_SHIFT}"), "i32")
        less = self.spread(self.let(f"shl i32 {power}, {_SHIFT}"), "i32")
        lifted = self.power(self.let(f"sub i32 49, {power}"))
        unit = f"<{', '.join(['float 0x4630000000000000'] * self.lanes)}>"  # 2**100
        with self.writer.loop(x.rows) as rows, self.writer.loop(x.columns // self.lanes) as columns:
            inside = self.let(f"mul i64 {columns.index}, {self.lanes}")
            place = self.at("%c", self.let(f"add i64 {self.let(f'mul i64 {rows.index}, {x.step}')}, {inside}"))
            bits = self.load(place)
            size = self.of("and", bits, self.all(_MAGNITUDE))
            low = self.where("ult", size, least)
            known = self.of("fmul", self.as_real(self.of("and", size, low)), unit, self.real)
            count = self.of("fmul", known, lifted, self.real)
            round_ = self.let(f"call {self.real} @llvm.rint.v{self.lanes}f32({self.real} {count})")
            rounded = self.let(f"fptosi {self.real} {round_} to {self.whole}")
            signed = self.of("or", rounded, self.of("and", bits, self.all(_SIGN)))
            finite = self.where("ult", size, self.all(_INFINITE))
            normal = self.of("sub", bits, self.of("and", less, finite))
            kept = self.of("and", normal, self.of("xor", low, self.all(-1)))
            result = self.of("or", kept, self.of("and", signed, low))
            self.do(f"store {self.whole} {result}, ptr {place}, align 4")

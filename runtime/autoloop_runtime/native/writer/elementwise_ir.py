"""The element-wise ops as LLVM instructions: one table, op -> kind of type -> template.

In a template ``$t`` is the operands' type and ``$s`` the suffix of its intrinsics; ``$x $y $z`` are the operands and
``$1 $2 ...`` the results of the template's earlier steps, which are separated by ``;``. A step ``@name $x, $y``
calls a helper function, ``~op $x`` is another op of the table, ``=$1`` gives a value as it is.
Kinds are "b" boolean, "i" signed, "u" unsigned, "f" floating; one entry may serve several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from string import Template

from ...ir.op import OPS, Op
from ..ir.elements import FLOAT, HALF, LType
from ..ir.writer import Module, Writer
from ..toolchain.shared_libraries import Libraries


def _compare(signed: str, unsigned: str, ordered: str) -> dict[str, str]:
    return {
        "i": f"icmp {signed} $t $x, $y",
        "bu": f"icmp {unsigned} $t $x, $y",
        "f": f"fcmp {ordered} $t $x, $y",
    }


def _intrinsic(name: str) -> dict[str, str]:
    return {"f": f"call $t @llvm.{name}.$s($t $x)"}


def _bits(name: str) -> dict[str, str]:
    return {"biu": f"{name} $t $x, $y"}


RULES: dict[str, dict[str, str]] = {
    "add": {"b": "or $t $x, $y", "iu": "add $t $x, $y", "f": "fadd $t $x, $y"},
    "subtract": {"iu": "sub $t $x, $y", "f": "fsub $t $x, $y"},
    "multiply": {"b": "and $t $x, $y", "iu": "mul $t $x, $y", "f": "fmul $t $x, $y"},
    "divide": {"f": "fdiv $t $x, $y"},
    "floor_divide": {"i": "@floordiv_i $x, $y", "u": "@floordiv_u $x, $y", "f": "@floordiv_f $x, $y"},
    "mod": {"i": "@mod_i $x, $y", "u": "@mod_u $x, $y", "f": "@mod_f $x, $y"},
    "pow": {"iu": "@pow_i $x, $y", "f": "~libm:pow $x, $y"},
    "maximum": {
        "b": "or $t $x, $y",
        "i": "call $t @llvm.smax.$s($t $x, $t $y)",
        "u": "call $t @llvm.umax.$s($t $x, $t $y)",
        "f": "@max_f $x, $y",
        "h": "@first_max_f $x, $y",
    },
    "minimum": {
        "b": "and $t $x, $y",
        "i": "call $t @llvm.smin.$s($t $x, $t $y)",
        "u": "call $t @llvm.umin.$s($t $x, $t $y)",
        "f": "@min_f $x, $y",
        "h": "@first_min_f $x, $y",
    },
    "arctan2": {"f": "~libm:atan2 $x, $y"},
    "hypot": {"f": "~libm:hypot $x, $y"},
    "copysign": {"f": "call $t @llvm.copysign.$s($t $x, $t $y)"},
    "negative": {"iu": "sub $t 0, $x", "f": "fneg $t $x"},
    "sign": {"i": "@sign_i $x", "u": "icmp ne $t $x, 0; zext i1 $1 to $t", "f": "@sign_f $x"},
    "reciprocal": {"f": "fdiv $t 1.0, $x"},
    "square": {"iu": "mul $t $x, $x", "f": "fmul $t $x, $x"},
    "abs": {
        "bu": "=$x",
        "i": "call $t @llvm.abs.$s($t $x, i1 false)",
        "f": "call $t @llvm.fabs.$s($t $x)",
    },
    "sqrt": _intrinsic("sqrt"),
    "length": _intrinsic("sqrt"),
    "rsqrt": {"f": "call $t @llvm.sqrt.$s($t $x); fdiv $t 1.0, $1"},
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "trunc": _intrinsic("trunc"),
    "rint": _intrinsic("rint"),
    "sigmoid": {"f": "fneg $t $x; ~exp $1; fadd $t $2, 1.0; fdiv $t 1.0, $3"},
    "relu": {"i": "~maximum $x, 0", "u": "=$x", "f": "@max_f $x, 0.0", "h": "@first_max_f $x, 0.0"},
    # log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))
    "softplus": {"f": "~abs $x; fneg $t $1; ~exp $2; ~log1p $3; ~relu $x; fadd $t $5, $4"},
    # the larger + log1p(exp(-gap)); equal infinities have no difference
    "logaddexp": {
        "f": "fsub $t $x, $y; ~abs $1; fcmp oeq $t $x, $y; select i1 $3, $t 0.0, $t $2; fneg $t $4; ~exp $5; "
        "~log1p $6; ~maximum $x, $y; fadd $t $8, $7"
    },
    "equal": _compare("eq", "eq", "oeq"),
    "not_equal": _compare("ne", "ne", "une"),
    "less": _compare("slt", "ult", "olt"),
    "less_equal": _compare("sle", "ule", "ole"),
    "greater": _compare("sgt", "ugt", "ogt"),
    "greater_equal": _compare("sge", "uge", "oge"),
    "isnan": {"biu": "=false", "f": "fcmp uno $t $x, $x"},
    "isinf": {"biu": "=false", "f": "~abs $x; fcmp oeq $t $1, $inf"},
    "isfinite": {"biu": "=true", "f": "~abs $x; fcmp olt $t $1, $inf"},
    "logical_and": _bits("and"),
    "logical_or": _bits("or"),
    "logical_xor": _bits("xor"),
    "logical_not": {"b": "xor $t $x, true"},
    "bitwise_and": _bits("and"),
    "bitwise_or": _bits("or"),
    "bitwise_xor": _bits("xor"),
    "invert": {"b": "xor $t $x, true", "iu": "xor $t $x, -1"},
    "left_shift": {"iu": "@shl_iu $x, $y"},
    "right_shift": {"i": "@shr_i $x, $y", "u": "@shr_u $x, $y"},
    "identity": {"biufp": "=$x"},
    "stop_gradient": {"biuf": "=$x"},
}
#: ops that are one function of the C library
LIBM = {
    "exp": "exp", "expm1": "expm1", "exp2": "exp2", "log": "log", "log1p": "log1p", "log2": "log2",
    "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "cbrt": "cbrt", "erf": "erf",
}  # fmt: skip
#: a sum that grows in place, as every value here may
RULES.update({"Accumulate": RULES["add"], "Settle": RULES["identity"]})
RULES.update({op: {"f": f"~libm:{name} $x"} for op, name in LIBM.items()})

#: nanoseconds of the instructions and helpers that take long, for one of many elements of four bytes
_SLOW = {"fdiv": 0.05, "llvm.sqrt": 0.06, "@floordiv": 3.0, "@mod": 3.0, "@pow": 0.8}
#: the same of functions of the C library, and of all else
_FUNCTION, _POWER, _FAST = 0.3, 0.8, 0.005
#: what is kept rather than computed twice, besides what is slow
_ROUNDS = ("llvm.floor", "llvm.ceil", "llvm.trunc", "llvm.rint", "llvm.copysign")
_INFINITY = {"half": "0xH7C00", "float": "0x7FF0000000000000", "double": "0x7FF0000000000000"}


def _templates(op: Op) -> Mapping[str, str]:
    if op.name in RULES:
        return RULES[op.name]
    return op.llvm or ({} if op.libm is None else {"f": f"~libm:{op.libm} $x"})


def has_template(op: Op) -> bool:
    """True if the row of ``op`` says how it is written."""
    return bool(_templates(op))


@lru_cache(maxsize=1024)
def rule(op: Op, kind: str) -> str | None:
    """The template of ``op`` for a kind of type, ``None`` if there is none."""
    return next((template for kinds, template in _templates(op).items() if kind in kinds), None)


def cost_of(op: Op, t: LType) -> float:
    """Nanoseconds for one element of many, roughly."""
    template = rule(op, t.kind) or ""
    if "~" in template:
        cost = _POWER if "~libm:pow" in template else _FUNCTION
    else:
        cost = sum(price for part, price in _SLOW.items() if part in template) or _FAST
    return cost * max(t.size, 2) / 4


@lru_cache(maxsize=1024)
def is_cheap(op: Op) -> bool:
    """True if ``op``, which has a template, is as cheap to do again as to keep."""
    steps = [step for template in _templates(op).values() for step in template.split("; ")]
    return not op.stateful and all(_is_cheap_step(step) for step in steps)


def _is_cheap_step(step: str) -> bool:
    if step.startswith("~"):
        name = step[1:].partition(" ")[0]
        return not name.startswith("libm:") and is_cheap(OPS[name])
    return not any(part in step for part in (*_SLOW, *_ROUNDS))


class Arithmetic:
    """Writes element-wise ops on values in registers.

    Parameters
    ----------
    module : Module
        Gets the helper functions and declarations.
    libraries : Libraries
        Which C functions there are.
    """

    def __init__(self, module: Module, libraries: Libraries) -> None:
        self.module = module
        self.libraries = libraries

    def apply(self, writer: Writer, op: Op, t: LType, args: Sequence[str]) -> str:
        """The value of ``op`` of ``args``, which are all of type ``t``."""
        template = rule(op, t.kind)
        assert template is not None
        if t is HALF and not template.startswith("="):
            # as NumPy: half precision is a way to store, not to compute
            wide = [writer.let(f"fpext half {a} to float") for a in args]
            special = rule(op, "h")
            value = self._steps(writer, special, FLOAT, wide) if special else self.apply(writer, op, FLOAT, wide)
            return (
                value
                if template.rpartition("; ")[2].startswith("fcmp")
                else writer.let(f"fptrunc float {value} to half")
            )
        return self._steps(writer, template, t, args)

    def _steps(self, writer: Writer, template: str, t: LType, args: Sequence[str]) -> str:
        names = dict(zip("xyz", args), t=t.name, s=t.suffix, inf=_INFINITY.get(t.name, ""))
        results: list[str] = []
        for step in template.split("; "):
            text = re.sub(r"\$(\d)", lambda m: results[int(m[1]) - 1], step)
            text = Template(text).substitute(names)
            results.append(self._step(writer, text, t))
        return results[-1]

    def _step(self, writer: Writer, text: str, t: LType) -> str:
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
            return self.libm(writer, name[5:], t, args)
        return self.apply(writer, OPS[name], t, args)

    def libm(self, writer: Writer, name: str, t: LType, args: Sequence[str]) -> str:
        """A call of the C library, which the vectoriser may widen."""
        function = self.libraries.function(name, t, len(args))
        parameters = ", ".join([t.name] * len(args))
        self.module.declare(f"{t.name} @{function.symbol}({parameters}) nounwind willreturn memory(none)")
        attributes = "nounwind willreturn memory(none)"
        if function.variants:
            listed = ",".join(v.mapping for v in function.variants)
            attributes += f' "vector-function-abi-variant"="{listed}"'
            for v in function.variants:
                vector = f"<{v.lanes} x {t.name}>"
                self.module.declare(f"{vector} @{v.symbol}({', '.join([vector] * len(args))})")
                self.module.keep(v.symbol)
        listed = ", ".join(f"{t.name} {a}" for a in args)
        return writer.let(f"call {t.name} @{function.symbol}({listed}) {self.module.attributes(attributes)}")

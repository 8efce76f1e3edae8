"""Random functions of NumPy arrays, scalars and Python numbers of all dtypes: their text and their arguments.

Expressions are trees of operators, ufuncs, reductions, indices and functions that give shapes; statements assign them,
also in branches and loops that the data decides. What is written so far is run as plain Python, so what is written next
fits the dtypes and shapes there are; now and then it does not, and then plain Python raises. ``pick`` chooses, the
simplest first: Hypothesis shrinks what it draws to a short text.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

INTEGERS = "int64 int32 uint8 int8 uint64 int16 uint16 uint32".split()
DTYPES = ["float64", *INTEGERS[:2], "float32", "bool", *INTEGERS[2:], "float16", "complex128", "complex64"]
SHAPES = [(3,), (2, 3), (), (1,), (2, 1), (3, 3), (2, 2, 3), (0,), (2, 0)]
WHOLE = [1, 2, 3, 0, 5, 7, 2, 4]
SIGNED = [1, -2, 3, 0, -5, 7, 2, -1]
BROKEN = [0.5, -1.25, 2.0, 0.0, 3.5, -0.0, 1.0, -7.75]

NUMBERS = [
    "1", "2", "0.5", "-1", "0", "True", "3.0", "1j", "-2.5", "7", "np.float32(0.5)", "np.int8(3)", "np.float64(-1.5)",
    "np.uint8(200)", "np.int64(2)", "np.complex64(1j)", "np.bool_(True)", "1e30", "300",
]  # fmt: skip
BINARY = [
    "{a} + {b}", "{a} * {b}", "{a} - {b}", "{a} / {b}", "{a} < {b}", "{a} == {b}", "{a} // {b}", "{a} % {b}",
    "{a} ** {p}", "{a} & {b}", "{a} | {b}", "{a} ^ {b}", "{a} << {p}", "{a} >> {p}", "{a} @ {b}", "{a} != {b}",
    "{a} >= {b}", "divmod({a}, {b})[0]",
]  # fmt: skip
UNARY = [
    "-{a}", "abs({a})", "+{a}", "~{a}", "{a}.real", "{a}.imag", "{a}.conj()", "{a}.round(1)",
]  # fmt: skip
UFUNCS_OF_ONE = (
    "sqrt exp square absolute negative sign floor ceil trunc rint log log1p expm1 exp2 log2 log10 cbrt sin cos tan "
    "arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh isnan isinf isfinite logical_not invert reciprocal "
    "conjugate signbit spacing deg2rad rad2deg fabs positive bitwise_count"
).split()
UFUNCS_OF_TWO = (
    "add subtract multiply divide maximum minimum floor_divide remainder fmod power float_power fmax fmin hypot "
    "arctan2 copysign logaddexp logaddexp2 nextafter greater less_equal not_equal logical_and logical_or logical_xor "
    "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm heaviside ldexp"
).split()
REDUCTIONS = "sum mean max min prod any all argmax argmin std var".split()
OTHERS = [
    "np.where({mask}, {a}, {b})", "np.clip({a}, {low}, {high})", "{a}.astype({dtype})", "np.concatenate([{a}, {a}])",
    "np.stack([{a}, {a}])", "np.cumsum({a})", "np.sort({a}, axis={axis})", "np.argsort({a}, kind='stable')",
    "np.take({a}, [0, -1], axis={axis})", "{a}.reshape(-1)", "{a}.T", "{a}.ravel()", "{a}[None]", "np.flip({a})",
    "np.roll({a}, 1)", "np.diff({a})", "np.dot({a}, {a})", "np.outer({a}, {b})", "np.repeat({a}, 2)",
    "np.nan_to_num({a})", "np.zeros_like({a})", "np.full_like({a}, {number})", "np.asarray({a}, {dtype})",
    "np.round({a}, 1)", "np.cumprod({a}, axis={axis})", "np.isclose({a}, {b})", "np.array([{a}, {b}])",
    "np.tile({a}, 2)", "np.swapaxes({a}, 0, -1)", "{a}.transpose()", "{a}.flatten()", "np.squeeze({a})",
    "np.atleast_1d({a})", "np.expand_dims({a}, 0)", "np.ptp({a})", "np.median({a})", "np.count_nonzero({a})",
    "np.maximum.accumulate({a})", "np.add.reduce({a})", "np.multiply.outer({a}, {b})",
    "np.searchsorted({a}.ravel(), {b})", "np.triu({a})", "np.bincount({a})",
    "np.interp({a}, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0])", "np.select([{mask}], [{a}], {b})", "np.trace({a})",
    "np.real({a})", "np.broadcast_to({a}, (2, 3))", "np.nansum({a})", "np.linalg.norm({a})", "{a}.item()",
    "float({a})", "int({a})", "bool({a})", "len({a})", "{a}.size", "{a}.shape[0]", "{a}.ndim", "max({a}, {b})",
    "min({a}, {b})", "round({a})", "pow({a}, 2)", "np.float32({a})", "np.int16({a})", "{a}.sum()", "sum({a})",
    "complex({a})", "np.append({a}, {b})", "np.unique({a})", "np.mod({a}, 3)", "np.kron({a}, {b})",
    "np.meshgrid({a}, {b})[0]", "np.array_equal({a}, {b})", "np.allclose({a}, {b})", "({a}, {b})[1]", "{a}.copy()",
    "np.convolve({a}, {b})", "np.inner({a}, {a})", "np.einsum('i,i->', {a}, {b})", "np.nanmax({a})",
    "np.average({a})", "np.percentile({a}, 30)", "np.moveaxis({a}, 0, -1)", "np.linspace({a}, {b}, 3)",
    "np.arange({a})", "np.eye(3)[{a}]", "np.ones(3, {dtype})", "np.zeros((2, 3), {dtype})", "np.angle({a})",
    "np.sinc({a})", "np.delete({a}, 0)", "{a}.nonzero()[0]", "np.choose({a} > 0, [{a}, {b}])",
    "np.digitize({a}, [0.0, 1.0])", "np.isin({a}, {b})",
]  # fmt: skip
INDICES = [
    "0", "-1", "1:", "::-1", "::2", "..., 0", "None", "[0, -1]", "{mask}", ":, 0", "1, 2", "[[0], [1]]", "...",
    "{int}", "0, 1:", "[True, False]", ":, [0, 1]", "np.array([1, 0])", "np.argmax({a})",
]  # fmt: skip
TESTS = [
    "{s} > {number}", "{s} < {s}", "{s} <= {number}", "np.any({a})", "{s} == {s}", "not {s} > 1", "0 < {s} < 3",
    "{s} > 0 and {s} < 2", "{s} > 1 or {s} != 0", "{s}", "np.all({a} > 0)", "np.isnan({s})",
]  # fmt: skip

#: names that count the turns of loops or say how many, and of a sum: nothing else is assigned to them, so that all
#: programs end
COUNTERS = "njks"

VALUES = (np.ndarray, np.generic, int, float, complex)

Pick = Callable[[Sequence[Any]], Any]


class Argument(NamedTuple):
    """A value and the text that makes it: arrays are made anew for each call."""

    text: str

    def make(self) -> Any:
        return eval(self.text, {"np": np})


class Program(NamedTuple):
    """A function, its text, and its arguments."""

    function: Callable[..., Any]
    text: str
    arguments: tuple[Argument, ...]

    def __repr__(self) -> str:
        return f"{self.text}\nprogram({', '.join(one.text for one in self.arguments)})"


class _Phrases:
    def __init__(self, pick: Pick) -> None:
        self.pick = pick
        self.arguments: list[Argument] = []
        self.lines: list[str] = []
        #: what the names have where the next line comes to stand
        self.known: dict[str, Any] = {}
        self.ended = False
        #: how many of them are around the next line
        self.loops = 0

    def rarely(self, once_in: int) -> bool:
        return self.pick(range(once_in)) == once_in - 1

    # -- arguments --------------------------------------------------------------------------------------------

    def argument(self) -> Argument:
        kind = self.pick(["array"] * 6 + ["scalar", "number"])
        if kind == "number":
            return Argument(self.pick(["2", "0.5", "-3", "True", "1.5", "0", "2j", "float('nan')", "40", "-0.0"]))
        dtype = self.pick(DTYPES)
        values = {"u": WHOLE, "i": SIGNED, "f": BROKEN}.get(np.dtype(dtype).kind, BROKEN)
        start = self.pick(range(4))
        values = values[start:] + values[:start]
        if self.rarely(10) and dtype in INTEGERS:
            values = [int(np.iinfo(dtype).max), int(np.iinfo(dtype).min), *values[2:]]
        if self.rarely(10) and np.dtype(dtype).kind in "fc":
            values = [np.nan, np.inf, *values[2:]]
        if kind == "scalar":
            return Argument(f"np.{np.dtype(dtype).type.__name__}({_text(values[0])})")
        shape = self.pick(SHAPES)
        size = int(np.prod(shape))
        made = [values[k % len(values)] for k in range(size)]
        if dtype.startswith("complex"):
            text = f"np.array([{', '.join(f'{_text(v)}+{k % 3}j' for k, v in enumerate(made))}], '{dtype}')"
        else:
            text = f"np.array([{', '.join(map(_text, made))}], '{dtype}')"
        return Argument(text if shape == (size,) else f"{text}.reshape({shape})")

    # -- expressions --------------------------------------------------------------------------------------------

    def value(self, text: str) -> Any:
        """Return what an expression is now, or the exception it raises."""
        try:
            return quiet(lambda: eval(text, {"np": np}, dict(self.known)))
        except Exception as error:
            return error

    def name(self) -> str:
        return self.pick(list(self.known)[::-1])

    def number(self) -> str:
        return self.pick(NUMBERS)

    def operand(self, depth: int) -> str:
        if depth <= 0 or self.pick(range(3)) == 0:
            return self.number() if self.rarely(5) else self.name()
        return f"({self.expression(depth - 1)})"

    def power(self) -> str:
        """Return what something is raised to, or shifted by: no large ints of Python's, which would take all memory."""
        if self.loops > 1:
            return "2"
        names = [name for name in self.known if isinstance(self.known[name], (np.ndarray, np.generic))]
        return self.pick([*names, "2", "0", "0.5", "-1", "3", "np.int8(2)", "1j", "True"])

    def scalar(self) -> str:
        """Return an expression of no axes."""
        name = self.name()
        if np.ndim(self.value(name)) == 0:
            return name
        forms = ["np.sum({})", "{}.max()", "{}.ravel()[0]", "{}.mean()", "{}.flat[0]"]
        return self.pick(forms).format(name)

    def expression(self, depth: int = 2) -> str:
        """Return one that has a value, but for one in ten of those that have none."""
        for _ in range(3):
            text = self.tree(depth)
            made = self.value(text)
            if isinstance(made, Exception):
                if not isinstance(made, (SyntaxError, NameError, AttributeError)) and self.rarely(30):
                    return text
            elif isinstance(made, VALUES) and np.size(made) <= 60:
                return text
        return self.name()

    def tree(self, depth: int) -> str:
        kind = self.pick(["binary", "binary", "unary", "ufunc", "ufunc of two", "reduction", "other", "other", "index"])
        if kind == "binary":
            return self.fill(self.pick(BINARY), depth)
        if kind == "unary":
            return self.fill(self.pick(UNARY), depth)
        if kind == "ufunc":
            return self.fill(f"np.{self.pick(UFUNCS_OF_ONE)}({{a}}{self.keywords(20)})", depth)
        if kind == "ufunc of two":
            return self.fill(f"np.{self.pick(UFUNCS_OF_TWO)}({{a}}, {{b}}{self.keywords(10)})", depth)
        if kind == "reduction":
            return self.reduction(depth)
        return self.fill(self.pick(OTHERS) if kind == "other" else f"{{a}}[{self.pick(INDICES)}]", depth)

    def keywords(self, once_in: int) -> str:
        return f", dtype={self.dtype()}" if self.rarely(once_in) else ""

    def dtype(self) -> str:
        return self.pick([*[f"np.{one}" for one in DTYPES], "'float32'", "float", "int", "complex", "bool"])

    def reduction(self, depth: int) -> str:
        name = self.pick(REDUCTIONS)
        sums, extremes = name in ("sum", "prod", "mean"), name in ("max", "min")
        given = [
            f"axis={self.pick(['0', '-1', '1', '(0, 1)', 'None', '()'])}" if self.pick([True, False]) else "",
            "keepdims=True" if self.rarely(4) else "",
            f"dtype={self.dtype()}" if self.rarely(8) and (sums or name in ("std", "var")) else "",
            "where={a} > 0" if self.rarely(12) and (sums or name in ("any", "all")) else "",
            "ddof=1" if self.rarely(4) and name in ("std", "var") else "",
            "initial=2" if self.rarely(12) and (extremes or name in ("sum", "prod")) else "",
        ]
        keywords = [one for one in given if one]
        if self.rarely(3):
            return self.fill(f"{{a}}.{name}({', '.join(keywords)})", depth)
        return self.fill(f"np.{name}({', '.join(['{a}', *keywords])})", depth)

    def fill(self, form: str, depth: int) -> str:
        """Return the form with its holes filled: ``a`` and ``b`` are operands, the same wherever they stand."""
        a = self.operand(depth)
        if "{mask}" in form:
            form = form.replace("{mask}", self.pick(["{a} > 0", "{a} != {b}", "np.isfinite({a})"]))
        holes: dict[str, Callable[[], str]] = {
            "{a}": lambda: a, "{b}": lambda: self.operand(depth - 1), "{s}": self.scalar, "{p}": self.power,
            "{number}": self.number, "{dtype}": self.dtype, "{axis}": lambda: self.pick(["0", "-1", "1", "None"]),
            "{low}": lambda: self.pick(["-1", "0.5", "None", "0"]), "{int}": lambda: self.pick(["2", "-2", "0"]),
            "{high}": lambda: self.pick(["2", "1.5", "None", "100"]),
        }  # fmt: skip
        for hole, made in holes.items():
            if hole in form:
                form = form.replace(hole, made()) if hole != "{s}" else _each(form, hole, made)
        return form


class _Writer(_Phrases):
    """Writes statements of them, and so a function."""

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def target(self) -> str:
        names = ["t", "u", *[name for name in self.known if name[0] not in COUNTERS]]
        return self.pick(names)

    def statement(self, depth: int, in_loop: bool = False) -> None:
        kinds = ["assign"] * 6 + ["augment"] * 2
        if depth < 3:
            kinds += ["if", "if", "for", "while", "return"]
        kind = self.pick(kinds)
        if kind == "assign":
            self.assign(depth)
        elif kind == "augment":
            self.augment(depth)
        elif kind == "if":
            self.branch(depth)
        elif kind == "return":
            self.line(depth, f"if {self.test()}:")
            self.line(depth + 1, f"return {self.kept(self.expression(1), self.result())}")
        else:
            self.loop(depth, kind)
        if not in_loop and depth == 1:
            self.run()

    def assign(self, depth: int) -> None:
        """Give a name a value: in branches and loops most often one of the dtype it has, since others are refused."""
        name, text = self.target(), self.expression()
        self.line(depth, f"{name} = {self.kept(text, name) if depth > 1 and name in self.known else text}")

    def kept(self, text: str, name: str) -> str:
        """Return an expression, three times of four with the dtype of a name's value."""
        wanted, made = self.known[name], self.value(text)
        if self.rarely(4) or not isinstance(wanted, (np.ndarray, np.generic)):
            return text
        if isinstance(made, np.ndarray) and made.ndim:
            return f"({text}).astype(np.{wanted.dtype.name})"
        return f"np.{wanted.dtype.name}({text})" if isinstance(made, (np.generic, int, float)) else name

    def result(self) -> str:
        """Return the name whose value the function gives where it gives one."""
        return ["a", *[name for name in self.known if name in "tus"]][-1]

    def augment(self, depth: int) -> None:
        """Change a number that is not an array; arrays that are written into are another's story."""
        if "s" not in self.known:
            self.line(depth, f"s = {self.scalar()} * 1")
            self.known = {**self.known, "s": self.value(self.lines[-1].split("=", 1)[1])}
            return
        sign = self.pick("+ * - / ** // % & | ^ <<".split())
        self.line(depth, f"s {sign}= {self.pick(['2', '0.5', '-1', '3']) if sign in ('**', '<<') else self.scalar()}")

    def test(self) -> str:
        return self.fill(self.pick(TESTS), 0)

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.test()}:")
        self.statement(depth + 1)
        if self.pick([True, False]):
            self.line(depth, "else:")
            self.statement(depth + 1)

    def loop(self, depth: int, kind: str) -> None:
        before = self.known
        if kind == "for":
            over, born = self.iterable()
            self.line(depth, f"for {', '.join(born)} in {over}:")
        else:
            counter = f"j{depth}"
            born = {counter: 1}
            self.line(depth, f"{counter} = 0")
            self.line(depth, f"while {counter} < n{self.pick(['', '', f' and ({self.test()})'])}:")
            self.line(depth + 1, f"{counter} += 1")
        self.known = {**before, **born}
        self.loops += 1
        self.statement(depth + 1, True)
        if self.rarely(3):
            self.statement(depth + 1, True)
        if self.rarely(6):
            self.line(depth + 1, f"if {self.test()}:")
            self.line(depth + 2, self.pick(["break", "continue"]))
        self.known = before
        self.loops -= 1

    def iterable(self) -> tuple[str, dict[str, Any]]:
        """Return what a loop goes over, and the names that it gives values to, with their first ones."""
        name = self.name()
        made = self.value(name)
        if self.rarely(3) and np.ndim(made) and len(made):
            return self.pick([(name, {"e": made[0]}), (f"enumerate({name})", {"k": 0, "e": made[0]})])
        return self.pick(["range(n)", "range(n)", "range(1, n)", "range(3)"]), {"k": 0}

    def run(self) -> None:
        """Run what is written, and see what the names have."""
        text = "\n".join([self.head(), *self.lines, "    return locals()"])
        namespace: dict[str, Any] = {"np": np}
        quiet(lambda: exec(text, namespace))
        try:
            made = quiet(lambda: namespace["program"](*[one.make() for one in self.arguments]))
        except Exception:
            made = None
        self.ended = not isinstance(made, dict)
        if not self.ended:
            self.known = {name: one for name, one in made.items() if isinstance(one, VALUES)}
            self.ended = any(np.size(one) > 60 for one in self.known.values())

    def head(self) -> str:
        return f"def program({', '.join([*'abcd'[: len(self.arguments) - 1], 'n'])}):"

    def program(self) -> Program:
        self.arguments = [self.argument() for _ in range(self.pick([1, 2, 3, 4]))]
        turns = ["3", "np.int64(2)", "np.array(3)", "2", "0", "np.array(0)", "np.uint8(2)"]
        self.arguments.append(Argument(self.pick(turns)))
        self.run()
        for _ in range(self.pick([1, 2, 3])):
            if not self.ended:
                self.statement(1)
        self.line(1, f"return {self.pick([self.result(), self.expression(1)])}" if not self.ended else "return a")
        text = "\n".join([self.head(), *self.lines]) + "\n"
        return Program(compiled(text), text, tuple(self.arguments))


def _each(form: str, hole: str, made: Callable[[], str]) -> str:
    while hole in form:
        form = form.replace(hole, made(), 1)
    return form


def _text(value: Any) -> str:
    return repr(value) if np.isfinite(value) else f"np.{value}"


def quiet(f: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f()


def compiled(text: str) -> Callable[..., Any]:
    """Return the function of a text, which can be read where it says that it stands."""
    filename = f"<random expression {hash(text)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"np": np, "__name__": "random_expression"}
    quiet(lambda: exec(compile(text, filename, "exec"), namespace))
    return namespace["program"]


def random_program(pick: Pick) -> Program:
    """Return a random function and arguments for it."""
    return _Writer(pick).program()

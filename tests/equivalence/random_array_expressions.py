"""Random expressions over arrays: parts, views, new arrays, numbers, tests, of a shape and dtype that fit.

What writes them has run the program so far, once, on arrays of its own: so it knows of what shape and dtype everything
is that the next line may use, and most programs do more than raise an exception.
"""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np

VIEWS = (
    "{}.T", "{}.ravel()", "{}.reshape(-1)", "{}[::-1]", "{}[None]", "{}.view()", "{}[...]", "np.asarray({})",
    "np.atleast_2d({})", "np.squeeze({})", "np.flip({})", "{}.real", "{}[:]", "{}[..., None]",
)  # fmt: skip
VIEWS_OF_MATRICES = (
    "{}[0]", "{}[:, 1]", "{}[1:, 1:]", "{}.swapaxes(0, 1)", "np.moveaxis({}, 0, 1)", "{}.diagonal()",
    "{}.reshape(-1)[1:]", "list({})[1]", "np.ravel({}, 'F')",
)  # fmt: skip


class Expressions:
    """Writes expressions.

    Parameters
    ----------
    choices : random.Random
        What decides.
    world : dict
        All names, and a value of each.
    """

    def __init__(self, choices: random.Random, world: dict[str, Any]) -> None:
        self.choices, self.world = choices, world
        self.counters: list[str] = []
        self.made = 0
        self.depth = 1

    def one(self, *some: Any) -> Any:
        return self.choices.choice(some)

    def chance(self, share: float) -> bool:
        return self.choices.random() < share

    def array(self, least: int = 1, kinds: str = "fi") -> str:
        """Return the name of an array with at least so many axes, rather a float one, rather a new one."""
        found = [
            name
            for name, value in self.world.items()
            if isinstance(value, np.ndarray) and value.ndim >= least and value.dtype.kind in kinds and value.size
        ]
        return self.choices.choice([*found, *found[-2:], *[one for one in found if one in "abm"]])

    def new(self) -> str:
        """Return a name for what is assigned next, now and then one that there is."""
        if self.depth == 1 and self.chance(0.15):
            return self.array()
        self.made += 1
        return f"v{self.made}"

    def value_of(self, text: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(text, self.world)

    def position(self, size: int) -> str:
        """Return an index of one element of an axis."""
        known = [str(k) for k in (0, 1, -1) if -size <= k < size]
        running = [f"{k} % {size}" for k in self.counters]
        running += [k for k in self.counters if self.world[k] < size and size >= 3]
        running += [f"n - {1 + (size < 3)}" for _ in range(self.chance(0.3))]
        return self.choices.choice([*known, *running, *running])

    def slice(self) -> str:
        fixed = ("1:", ":-1", "::2", "::-1", ":", "1:3", "-2:", ":3", "4:0:-2", "n - 2:", ":n")
        running = [one.replace("k", k) for k in self.counters for one in ("k:", ":k + 1", "k:k + 2", ":k - 5:-1")]
        return self.choices.choice([*fixed, *running])

    def fancy(self, name: str, size: int) -> str:
        mask = f"{name} > {self.one('x', '2', 'x * 2')}" if self.world[name].dtype.kind in "fi" else "..."
        places = [str(self.choices.randrange(size)) for _ in range(self.choices.randrange(1, 4))]
        listed = f"[{', '.join(places)}]"
        return self.one(mask, listed, f"np.array({listed})", f"np.arange({size})[::-1]")

    def index(self, name: str) -> str:
        """Return an index of an array, of one kind or mixed."""
        shape = self.world[name].shape
        if len(shape) == 1:
            if self.chance(0.2):
                return self.fancy(name, shape[0])
            return self.one(self.position(shape[0]), self.position(shape[0]), self.slice(), self.slice(), "...")
        if self.chance(0.1):
            return f"{name} > x"
        axes = [self.one(self.position(size), self.slice(), ":") for size in shape[: self.choices.randrange(1, 3)]]
        if self.chance(0.15):
            axes[0] = self.one("[0, 1]", "[1, 1]", "np.array([1, 0])", "...")
        return ", ".join(axes)

    def scalar(self) -> str:
        numbers = ["x", "2", "0.5", "-1", *self.counters, *self.counters]
        if self.chance(0.35):
            name = self.array()
            axes = ", ".join(self.position(size) for size in self.world[name].shape)
            return self.one(f"{name}[{axes}]", f"{name}[{axes}]", f"{name}.sum() * 0.1", f"{name}.max()")
        number = self.choices.choice(numbers)
        return self.one(number, number, f"{number} + {self.choices.choice(numbers)}")

    def like(self, shape: tuple[int, ...]) -> str:
        """Return an expression that can be broadcast to a shape."""
        if not shape or self.chance(0.4):
            return self.scalar()
        found = []
        for name in [self.array(kinds="fib") for _ in range(6)]:
            forms = ("{}", "{}[::-1]", "{}[0]", "{}.T", "{}[1:]", "{}[:-1]", "{}.ravel()", f"{{}}[:{shape[-1]}]")
            for form in self.choices.sample(forms, 3):
                text = form.format(name)
                value = self.value_of(text)
                if np.ndim(value) <= len(shape) and np.ndim(value):
                    if all(one in (1, size) for one, size in zip(value.shape[::-1], shape[::-1])):
                        found.append(text)
        if not found:
            return self.scalar()
        text = self.choices.choice(found)
        return self.one(
            text, text, f"{text} * 0.5", f"{text} + x", f"np.sqrt(abs({text}))", f"{text} - {self.scalar()}"
        )

    def test(self) -> str:
        name = self.array()
        axes = ", ".join(self.position(size) for size in self.world[name].shape)
        form = self.one("{}[{}] > x", "{}[{}] < 2", "{}.sum() > 9", "x > 1", "x < 1", "n > 2", "{}[{}] > {}.mean()")
        if self.counters and self.chance(0.3):
            k = self.choices.choice(self.counters)
            form = self.one(f"{k} == 1", f"{k} % 2 == 0", f"{k} > 0")
        return form.format(name, *([name] if form.count("{}") == 1 else [axes, name]))

    def view(self, name: str) -> str:
        """Return an expression that is a view of an array, or a copy where NumPy makes one."""
        shape = self.world[name].shape
        size = self.world[name].size
        forms = [*VIEWS, f"{{}}[{self.slice()}]", f"{{}}[{self.index(name)}]"]
        if size % 2 == 0:
            forms += ["{}.reshape(2, -1)", "np.split({}.ravel(), 2)[1]", f"{{}}.reshape({size // 2}, 2)"]
        if len(shape) == 2:
            forms += [*VIEWS_OF_MATRICES, f"{{}}[{self.position(shape[0])}]"]
        return self.choices.choice(forms).format(name)

    def made_new(self) -> str:
        """Return an expression that makes an array."""
        name = self.array()
        size = self.one("3", "4", "6", "n", "n + 1")
        return self.one(
            f"np.zeros({size})", f"np.ones({size})", f"np.zeros({size}, {self.one('int', 'np.float32', 'complex')})",
            f"np.zeros((n, {size}))", f"np.zeros_like({name})", f"{name}.copy()", f"{name} + 1", f"{name} * x",
            f"np.arange({size}) * 1.0", f"np.full({size}, x)", f"np.array([{self.scalar()}, {self.scalar()}])",
            f"{name}.astype(np.float32)", f"np.array({name})", f"{name}[[1, 0]]", f"np.where({name} > 2, {name}, 0)",
            f"np.sort({name})", f"np.empty({size}); {{}}.fill({self.scalar()})",
        )  # fmt: skip

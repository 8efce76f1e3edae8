"""What is checked while the compiler is killed and stopped at random moments."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import autoloop as al
import numpy as np
from api import automatic, background, child, process
from api import tier_up as later

#: what may happen to it; what is killed by the system is killed with the first
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGTERM)
#: so many losses ``auto`` must bear: two for each time that it asks, but one
BORNE = 2 * later.TRIES - 1


def loop(a: float, b: float) -> Callable[[Any, Any], Any]:
    """A loop that nobody has compiled yet."""

    def f(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = np.where(x > a, x * 0.5 - b, x + b)
            i += 1
        return x

    return f


@contextlib.contextmanager
def losing(generator: random.Random, pause: float, most: int, words: list[str]) -> Iterator[None]:
    """Lose compilers every now and then, ``most`` in all."""
    over = threading.Event()

    def lose() -> None:
        left = most
        while left and not over.wait(generator.expovariate(1 / pause)):
            for one in child._alive.copy():
                if left:
                    chosen = generator.choice(SIGNALS)
                    one._process.send_signal(chosen)
                    words.append(f"compilers that got {chosen.name}")
                    left -= 1

    thread = threading.Thread(target=lose)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def of_lost_compilers(seed: int) -> tuple[list[str], list[str]]:
    """Results are right, nothing hangs, and ``auto`` has its machine code in the end."""
    with (
        patch.object(child, "LOOK", 0.05),
        patch.object(later, "price", lambda nodes: 0.0),
        patch.object(automatic, "SMALLEST", 0.0),
    ):
        return _run(seed, 8)


def _run(seed: int, loops: int) -> tuple[list[str], list[str]]:
    generator = random.Random(seed)
    words: list[str] = []
    wrong: list[str] = []

    def judge(name: str, got: Any, want: Any) -> None:
        right = np.array_equal(got, want)
        words.append(f"{name} {'right' if right else 'WRONG'}")
        if not right:
            wrong.append(f"seed {seed}: {name} gives {got}, Python {want}")

    def case() -> tuple[Any, Any, tuple[Any, ...]]:
        f = loop(generator.random(), generator.random())
        given = np.array([generator.random() for _ in range(5)]), np.int64(generator.randrange(2, 50))
        return f, f(*given), given

    with losing(generator, 0.05, 10**9, words):
        for _ in range(loops):
            f, want, given = case()
            try:
                judge("native", al.function(f, executor="native")(*given), want)
            except process.CompilerDied:
                words.append("native lost twice")
    for _ in range(2):
        f, want, given = case()
        decorated = al.function(f)
        with losing(generator, 0.03, BORNE, words):
            for _ in range(100):
                judge("auto", decorated(*given), want)
                background.wait(0.01)
        why, settled = "", False
        for _ in range(20):
            judge("auto", decorated(*given), want)
            background.wait()
            why = al.explain(decorated, *given).loops[0].why
            settled = "machine code, made" in why or "slower" in why
            if settled:
                break
        words.append(f"auto {'recovered' if settled else 'did NOT recover'}")
        if not settled:
            wrong.append(f"seed {seed}: auto is left with: {why}")
    return words, wrong

"""Many seeds, some at a time in processes of their own, and what came of each.

``STRESS=0.1 python -m pytest -m nightly tests/stress`` does a tenth of the work.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

#: seconds after which a program is taken to hang: its process ends and says where it was
PATIENCE = 300
PIECE = 100

#: seed -> what came of it: one word each, and the sentences about what is wrong
Check = Callable[[int], tuple[list[str], list[str]]]


@dataclass
class Tally:
    """What came of many seeds."""

    words: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, words: list[str], wrong: list[str]) -> None:
        self.words.update(words)
        self.wrong.extend(wrong)


def scaled(count: int) -> int:
    """``count``, or the part of it that the environment asks for."""
    return max(1, round(count * float(os.environ.get("STRESS", "1"))))


def run_piece(check: Check, seeds: list[int], answer: Connection | None = None) -> Tally:
    """Check these seeds here, and send what came of them."""
    tally = Tally()
    for seed in seeds:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        tally.add(*check(seed))
    faulthandler.cancel_dump_traceback_later()
    if answer is not None:
        answer.send(tally)
    return tally


def run_apart(check: Check, seeds: list[int]) -> Tally:
    """Check these seeds in a process of their own; one that dies or hangs is an error that shows its seeds."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=run_piece, args=(check, seeds, there))
    process.start()
    there.close()
    try:
        tally: Tally = here.recv()
    except EOFError:
        tally = Tally(wrong=[f"seeds {seeds[0]} to {seeds[-1]}: the process died or hung"])
    process.join()
    return tally


def spread(check: Check, seeds: range) -> Tally:
    """Check all seeds on all cores."""
    pieces = [list(seeds[k : k + PIECE]) for k in range(0, len(seeds), PIECE)]
    total = Tally()
    faulthandler.cancel_dump_traceback_later()  # pytest's own is for tests that do the work themselves
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(lambda piece: run_apart(check, piece), pieces):
            total.add(list(done.words.elements()), done.wrong)
    return total

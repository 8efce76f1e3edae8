"""What is checked while the files of the cache are damaged at random moments, and two processes use it."""

from __future__ import annotations

import ast
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import autoloop as al
import numpy as np
from lost_compilers import loop

#: different loops, which come again and again
LOOPS = 6


def _content(change: Callable[[bytes, random.Random], bytes]) -> Callable[[Path, random.Random], None]:
    def damage(path: Path, generator: random.Random) -> None:
        with open(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW), "r+b", buffering=0) as file:
            changed = change(file.read() or b"", generator)
            file.seek(0)
            file.write(changed)
            file.truncate()

    return damage


def _flipped(data: bytes, generator: random.Random) -> bytes:
    place = generator.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << generator.randrange(8)]) + data[place + 1 :]


def _exchange(path: Path, generator: random.Random) -> None:
    os.replace(generator.choice(sorted(path.parent.iterdir())), path)


def _become(make: Callable[[Path], object]) -> Callable[[Path, random.Random], None]:
    def damage(path: Path, generator: random.Random) -> None:
        path.unlink()
        make(path)

    return damage


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "truncated": _content(lambda data, generator: data[: generator.randrange(len(data))]),
    "one bit flipped": _content(_flipped),
    "another's content": _exchange,
    "garbage": _content(lambda data, generator: generator.randbytes(len(data))),
    "removed": lambda path, generator: path.unlink(),
    "unreadable": lambda path, generator: path.chmod(0),
    "a folder": _become(os.mkdir),
    "a pipe": _become(os.mkfifo),
    "a link to nowhere": _become(lambda path: path.symlink_to("nowhere")),
    "a link to itself": _become(lambda path: path.symlink_to(path.name)),
    "the folder removed": lambda path, generator: shutil.rmtree(path.parent),
    "the folder open to others": lambda path, generator: path.parent.chmod(0o777),
    "the folder read-only": lambda path, generator: path.parent.chmod(0o500),
    "the folder closed again": lambda path, generator: path.parent.chmod(0o700),
}


def _damage(folder: Path, generator: random.Random, over: threading.Event, words: list[str]) -> None:
    while not over.wait(generator.expovariate(1 / 0.002)):
        with contextlib.suppress(OSError, IndexError, ValueError):
            entry = generator.choice(sorted(folder.iterdir()))
            name = generator.choice(list(DAMAGES))
            DAMAGES[name](entry, generator)
            words.append(f"entries damaged ({name})")


def compare(seed: int, count: int) -> tuple[list[str], list[str]]:
    """Compile loops that may be in the cache."""
    generator = random.Random(seed)
    words: list[str] = []
    wrong: list[str] = []
    for _ in range(count):
        number = generator.randrange(LOOPS)
        f, n = loop(0.25 * number, 0.125 * number + 0.5), np.int64(number + 7)
        x = np.array([0.5, -2.0, generator.random()])
        got = al.function(f, executor="native")(x, n)
        want = f(x, n)
        right = np.array_equal(got, want)
        words.append(f"results {'right' if right else 'WRONG'}")
        if not right:
            wrong.append(f"seed {seed}: loop {number} gives {got}, Python {want}")
    return words, wrong


def of_broken_caches(seed: int, count: int = 60) -> tuple[list[str], list[str]]:
    """Results are right, whatever is found in the cache; another process uses and damages it, too."""
    folder = Path(tempfile.mkdtemp())
    before = {name: os.environ.get(name) for name in ("AUTOLOOP_CACHE", "AUTOLOOP_CACHE_DIR")}
    os.environ.update({"AUTOLOOP_CACHE": "1", "AUTOLOOP_CACHE_DIR": str(folder / "cache")})
    try:
        program = f"import broken_caches; print(broken_caches._both({seed + 1_000_000}, {count}))"
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        other = subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True)
        words, wrong = _both(seed, count)
        said, _ = other.communicate()
        if other.returncode:
            return words, [*wrong, f"seed {seed}: the other process ended with {other.returncode}"]
        other_words, other_wrong = ast.literal_eval(said)
        return words + other_words, wrong + other_wrong
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        shutil.rmtree(folder, ignore_errors=True)


def _both(seed: int, count: int) -> tuple[list[str], list[str]]:
    """Use the cache and damage it."""
    over, damaged = threading.Event(), list[str]()
    folder = Path(os.environ["AUTOLOOP_CACHE_DIR"])
    thread = threading.Thread(target=_damage, args=(folder, random.Random(seed), over, damaged))
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", al.UnusableCacheWarning)
            words, wrong = compare(seed, count)
    finally:
        over.set()
        thread.join()
    return words + damaged, wrong

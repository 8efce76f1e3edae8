"""From LLVM IR to a function in memory: the cache on disk, the compiler, the linker."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import platform
from functools import lru_cache
from typing import Any

import numpy as np

from ...base import forks
from ...base import native_extra as extra
from ...base.dataclass import dataclass
from ...base.kept_entries import DiskCache, sha256
from . import compiler, interpreter, linker
from .cache import default_cache
from .shared_libraries import c_address

#: a feature of compilers before LLVM 22
OLD_MASKS = "alignment of masked loads is an operand"
#: before this intrinsics had to be declared
OLDEST_LLVM = 20
#: raised when the same IR is to become other code: part of what compiled code is kept under, and the IR another
CODE = 1

#: held while code is made, so that nothing is compiled twice; nobody forks waiting for it
_making = forks.Kind(
    "machine code", "what a thread of the parent had made is in the cache on disk, or made again"
).lock()


class MissingExtra(ImportError, NotImplementedError):
    """``executor="native"`` without llvmlite."""


@dataclass(frozen=True)
class Host:
    """The machine that code is made for, and the compiler that makes it; ``features`` are those of both."""

    triple: str
    cpu: str
    flags: str
    features: frozenset[str]
    version: tuple[int, ...]
    binding: str

    def described(self) -> dict[str, str]:
        """Return what ``compiler`` is told of it."""
        return {"triple": self.triple, "cpu": self.cpu, "flags": self.flags}


@lru_cache(maxsize=1)
def host() -> Host:
    """Return this machine, as LLVM describes it.

    Raises
    ------
    MissingExtra
        If llvmlite is not installed, or too old.
    """
    package = extra.folder()
    why_not = extra.why_not()
    if package is None or why_not:
        raise _missing(why_not)
    # elsewhere LLVM is in this process anyway, and what CPU this is is not so easily told
    cache = default_cache() if linker.is_supported() else None
    key = _fingerprint(package)
    known = cache.load(key) if cache is not None else None
    if known is None:
        try:
            found = _ask({"describe": True})[0]
        except ImportError as error:
            raise _missing(f"llvmlite cannot be imported ({error})") from error
        if cache is not None:
            cache.store(key, _lines(found).encode())
    else:
        found = _described(known.decode())
    version = tuple(found["version"])
    if version[0] < OLDEST_LLVM:
        raise _missing(f"the LLVM of the llvmlite that is installed is {version[0]}, not {OLDEST_LLVM} or newer")
    features = frozenset(found["features"])
    if version[0] < 22:
        features |= {OLD_MASKS}
    return Host(found["triple"], found["cpu"], found["flags"], features, version, found["binding"])


def _lines(found: dict[str, Any]) -> str:
    """Return what ``compiler.describe`` gives as text: to read JSON takes more modules than all else here."""
    values = {**found, "features": " ".join(found["features"]), "version": " ".join(map(str, found["version"]))}
    return "\n".join(f"{name}={value}" for name, value in values.items())


def _described(text: str) -> dict[str, Any]:
    """Return what ``_lines`` wrote."""
    found: dict[str, Any] = dict(line.split("=", 1) for line in text.split("\n"))
    return {**found, "features": found["features"].split(), "version": list(map(int, found["version"].split()))}


def _missing(why: str) -> MissingExtra:
    return MissingExtra(f"executor='native' needs llvmlite: {why}; {extra.UPGRADE} mends it [AL602]")


def _fingerprint(package: str) -> str:
    """Return a key for this CPU and this llvmlite, found without loading it."""
    parts = [str(CODE), platform.system(), platform.release(), platform.machine(), str(package)]
    binding = os.path.join(package, "binding")
    names = sorted(name for name in os.listdir(binding) if "llvmlite" in name) if os.path.isdir(binding) else []
    for path in (os.path.join(package, "__init__.py"), *[os.path.join(binding, name) for name in names]):
        found = os.stat(path)
        parts.append(f"{os.path.basename(path)} {found.st_size} {found.st_mtime_ns}")
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in iter(file.readline, "\n"):  # of the first processor
            if not line:
                break
            if line.startswith(("vendor_id", "cpu family", "model", "stepping", "flags")):
                parts.append(line)
    return f"machine-{_digest(parts)}"


def _digest(parts: list[str]) -> str:
    return sha256("\0".join(parts).encode()).hex()


def _ask(request: dict[str, Any]) -> tuple[Any, bytes]:
    """Return what the compiler answers: in a process of its own where its work can be used without it."""
    if linker.is_supported():
        with forks.undivided():
            from . import process  # with sockets and what starts programs: code that is kept needs nothing of it

        # what can be imported here and not there comes from where only this process looks
        with contextlib.suppress(process.Unavailable, ImportError):
            return process.ask(request)
    with forks.undivided():
        return compiler.answer(request)


@dataclass(frozen=True)
class Code:
    """Machine code in memory; it stays there as long as this object.

    Attributes
    ----------
    engine
        Who owns the memory.
    address : int
        Of the function.
    was_kept : bool
        Whether it comes from the cache on disk.
    """

    engine: Any
    address: int
    was_kept: bool = False


def compile_ir(ir: str, addresses: dict[str, int], cache: DiskCache | None, as_written: bool = False) -> Code:
    """Return machine code for the one public function of ``ir``, called ``{name}`` in it.

    Parameters
    ----------
    ir : str
    addresses : dict of str to int
        Where the symbols are that it calls.
    cache : DiskCache, optional
        Where compiled code is kept.
    as_written : bool
        Nothing is gained from LLVM's passes over the IR, which take three times as long as all else.
    """
    h = host()
    key = key_of(ir, h, as_written)
    name = f"autoloop_{key[:32]}"
    with _making:
        image = cache.load(key) if cache is not None else None
        was_kept = image is not None
        if image is None:
            image = _compiled(ir.replace("{name}", name), as_written)
            if cache is not None:
                cache.store(key, image)
    if linker.is_supported():
        with contextlib.suppress(linker.Unsupported):
            linked = linker.link(image, name, lambda symbol: addresses.get(symbol) or c_address(symbol))
            return Code(linked, linked.address, was_kept)
    with forks.undivided():
        return Code(*compiler.link_in_process(image, addresses, name, h.described()), was_kept)


def key_of(ir: str, h: Host, as_written: bool = False) -> str:
    """Return what the code of ``ir`` for a machine is kept under: all that it depends on."""
    machine = [h.triple, h.cpu, h.flags, str(h.version), h.binding]
    alone = linker.is_supported() and not interpreter.why_not()
    options = [compiler.LEVEL, () if as_written else compiler.LOOPS, compiler.PROCESS if alone else (), as_written]
    return _digest([str(CODE), ir, *machine, repr(options), *_libraries()])


@lru_cache(maxsize=1)
def _libraries() -> tuple[str, ...]:
    """Return the versions of the libraries that machine code calls, or does as they do."""
    scipy = importlib.util.find_spec("scipy")
    found = extra.version(os.path.dirname(scipy.origin), "version.py") if scipy is not None and scipy.origin else None
    name = "CS_GNU_LIBC_VERSION"
    c_library = os.confstr(name) if name in getattr(os, "confstr_names", ()) else platform.libc_ver()
    return np.__version__, str(found), str(c_library)


def _compiled(ir: str, as_written: bool) -> bytes:
    machine = host().described()
    return _ask({"ir": ir, "machine": machine, "level": compiler.LEVEL, "as_written": as_written})[1]


def text_of_code(ir: str, as_assembly: bool) -> str:
    """Return what LLVM makes of ``ir`` for this machine, for a person to read: optimised IR, or assembly."""
    form = "asm" if as_assembly else "llvm"
    named = ir.replace("{name}", "run")
    request = {"ir": named, "machine": host().described(), "level": compiler.LEVEL, "text": form}
    return _ask(request)[1].decode()


def text_with_remarks(ir: str) -> tuple[str, str]:
    """Return the assembly of ``ir``, and what LLVM remarks on vectors, a line each; nothing where there can be no
    process of its own for that."""
    named = ir.replace("{name}", "run")
    request = {"ir": named, "machine": host().described(), "level": compiler.LEVEL, "text": "asm", "remarks": True}
    with forks.undivided():
        from . import process
    try:
        remarks, text = process.ask_alone(request)
    except process.Unavailable:
        return text_of_code(ir, True), ""
    return text.decode(), remarks


def callable_of(code: Code) -> Any:
    """Return the function as something Python can call; it is called with the interpreter's lock,
    which it gives up itself."""
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(code.address)

"""From LLVM IR to a function in memory: the cache on disk, the compiler, the linker."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...background import exclusive
from ...dataclass import dataclass
from ...forks import undivided
from . import compiler, linker, process
from .cache import DiskCache, default_cache
from .gemm import OLD_MASKS
from .libraries import c_address

#: what the package is called that people install
EXTRA = "autoloop[native]"
#: before this intrinsics had to be declared; llvmlite 0.45 has it
OLDEST_LLVM = 20


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

    def described(self) -> dict[str, str]:
        """What ``compiler`` is told of it."""
        return {"triple": self.triple, "cpu": self.cpu, "flags": self.flags}


@lru_cache(maxsize=1)
def host() -> Host:
    """This machine, as LLVM describes it.

    Raises
    ------
    MissingExtra
        If llvmlite is not installed, or too old.
    """
    cache, key = default_cache(), _fingerprint()
    known = cache.load(key) if cache is not None else None
    if known is None:
        try:
            found = _ask({"describe": True})[0]
        except ImportError as error:
            raise _missing() from error
        if cache is not None:
            cache.store(key, json.dumps(found).encode())
    else:
        found = json.loads(known)
    version = tuple(found["version"])
    if version[0] < OLDEST_LLVM:
        raise MissingExtra(
            f"executor='native' needs LLVM {OLDEST_LLVM} or newer, the llvmlite that is installed has "
            f"{'.'.join(map(str, version))}; upgrade it with pip install -U '{EXTRA}'"
        )
    features = frozenset(found["features"])
    if version[0] < 22:
        features |= {OLD_MASKS}
    return Host(found["triple"], found["cpu"], found["flags"], features, version)


def _missing() -> MissingExtra:
    return MissingExtra(
        f"executor='native' needs llvmlite, which is not installed; install it with pip install '{EXTRA}'"
    )


def _fingerprint() -> str:
    """A key for this CPU and this llvmlite, found without loading it."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise _missing()
    parts = [platform.platform(), platform.machine(), spec.origin]
    for path in (Path(spec.origin), *Path(spec.origin).parent.glob("binding/*llvmlite*")):
        parts.append(f"{path.name} {path.stat().st_size} {path.stat().st_mtime_ns}")
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        parts += [line for line in lines if line.startswith(("vendor_id", "cpu family", "model", "stepping", "flags"))]
    return f"host-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()}"


def _ask(request: dict[str, Any]) -> tuple[Any, bytes]:
    """What the compiler answers: in a process of its own where its work can be used without it."""
    with exclusive:
        if linker.is_supported():
            with contextlib.suppress(process.Unavailable):
                return process.ask(request)
        with undivided():  # LLVM has locks of its own
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
    """

    engine: Any
    address: int


def compile_ir(ir: str, addresses: dict[str, int], cache: DiskCache | None) -> Code:
    """Machine code for the one public function of ``ir``, called ``{name}`` in it.

    Parameters
    ----------
    ir : str
    addresses : dict of str to int
        Where the symbols are that it calls.
    cache : DiskCache, optional
        Where compiled code is kept.
    """
    h = host()
    key = hashlib.sha256("\0".join((ir, h.triple, h.cpu, h.flags, str(h.version))).encode()).hexdigest()
    name = f"autoloop_{key[:32]}"
    with exclusive:  # nothing is compiled twice
        image = cache.load(key) if cache is not None else None
        if image is None:
            image = _compiled(ir.replace("{name}", name))
            if cache is not None:
                cache.store(key, image)
        if linker.is_supported():
            with contextlib.suppress(linker.Unsupported):
                linked = linker.link(image, name, lambda symbol: addresses.get(symbol) or c_address(symbol))
                return Code(linked, linked.address)
        with undivided():
            return Code(*compiler.link_in_process(image, addresses, name, h.described()))


def _compiled(ir: str) -> bytes:
    return _ask({"ir": ir, "machine": host().described()})[1]


def callable_of(code: Code) -> Any:
    """The function as something Python can call; it is called with the interpreter's lock, which it gives up itself."""
    return ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(code.address)

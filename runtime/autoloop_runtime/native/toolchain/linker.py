"""From an object file to a function in memory.

LLVM has a loader, but whoever calls it has all of LLVM in the process. What it makes for this purpose is simple: an ELF
file in the large code model, whose few references are absolute addresses. See the "System V Application Binary
Interface" and its supplement for AMD64. Other machines' files are left to LLVM.

It stays beside LLVM's because it is lighter: the first call of a function whose code is on disk takes a thirteenth of
the time (13 ms against 170 on a busy machine) and some 30 MB less memory (``python tests/benchmarks/own_parts.py
linking``).
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ...base.dataclass import dataclass

_ALLOCATED, _WRITABLE = 2, 1  # flags of a section
_SYMBOLS, _RELA, _NOBITS, _UNWIND = 2, 4, 8, 0x70000001  # types of a section
_UNDEFINED = 0  # the section of a symbol that is somewhere else
#: type of a reference -> format, and whether it is relative to its own place
_REFERENCES = {1: ("<Q", False), 24: ("<q", True), 2: ("<i", True), 4: ("<i", True)}


class Unsupported(Exception):
    """The file, or the system, asks for more than is understood here."""


def is_supported() -> bool:
    """Return whether object files of this machine are understood."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and ctypes.sizeof(ctypes.c_void_p) == 8


@dataclass(frozen=True)
class _Section:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


class Linked:
    """Code in memory, as long as this object lives; if that is there when the interpreter ends, for ever.

    Threads may be in it then: while all objects are taken down those that do not need the interpreter go on.

    Attributes
    ----------
    address : int
        Of the function.
    """

    def __init__(self, memory: mmap.mmap, address: int) -> None:
        self.address = address
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))
        # nothing that is registered here is called any more once the interpreter begins to end
        weakref.finalize(self, ctypes.pythonapi.Py_DecRef, ctypes.py_object(memory)).atexit = False


def link(image: bytes, name: str, address_of: Callable[[str], int | None]) -> Linked:
    """Put an object file into memory, ready to run.

    Parameters
    ----------
    image : bytes
    name : str
        The function whose address is wanted.
    address_of : callable
        Where a symbol is that the file does not define.

    Raises
    ------
    Unsupported
        If something in it is not understood, or a symbol is nowhere.
    """
    try:
        return _Linker(image).link(name, address_of)
    except (struct.error, IndexError, ValueError, OSError) as error:
        raise Unsupported(f"{type(error).__name__}: {error}") from None


class _Linker:
    def __init__(self, image: bytes) -> None:
        self.image = image
        if image[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", image, 16) != (1, 62):
            raise Unsupported("no relocatable ELF file for x86-64")
        (start,) = struct.unpack_from("<Q", image, 40)
        size, count = struct.unpack_from("<HH", image, 58)
        self.sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", image, start + size * k)) for k in range(count)]
        #: number of a section -> where it lies in memory
        self.places: dict[int, int] = {}

    def link(self, name: str, address_of: Callable[[str], int | None]) -> Linked:
        """See the function."""
        fixed = self._lay_out(0, written=False)
        size = self._lay_out(_rounded(fixed, mmap.PAGESIZE), written=True)
        # a process that is forked from this one has its own
        memory = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        for number, place in self.places.items():
            section = self.sections[number]
            if section.kind != _NOBITS:
                memory[place : place + section.size] = self.image[section.offset : section.offset + section.size]
        symbols: list[int] = []
        for section in self.sections:
            if section.kind == _RELA and section.info in self.places:
                self._relocate(memory, base, section, address_of)
            elif section.kind == _SYMBOLS:
                symbols += [self._base(place, base) + value for n, place, value in self._symbols(section) if n == name]
        found = symbols[0] if symbols else 0
        if not found:
            raise Unsupported(f"{name} is not defined")
        _make_executable(base, fixed)
        return Linked(memory, found)

    def _lay_out(self, size: int, written: bool) -> int:
        """Find places behind ``size`` for the sections that the code writes to, or for the others; gives the end."""
        for number, section in enumerate(self.sections):
            # nobody unwinds the stack through this code
            loaded = section.flags & _ALLOCATED and section.size and section.kind != _UNWIND
            if loaded and bool(section.flags & _WRITABLE) == written:
                self.places[number] = size = _rounded(size, max(1, section.alignment))
                size += section.size
        return size

    def _relocate(self, memory: Any, base: int, section: _Section, address_of: Callable[[str], int | None]) -> None:
        """Fill in the addresses that ``section`` lists."""
        target = base + self.places[section.info]
        symbols = list(self._symbols(self.sections[section.link]))
        for k in range(section.offset, section.offset + section.size, 24):
            offset, info, addend = struct.unpack_from("<QQq", self.image, k)
            if info & 0xFFFFFFFF not in _REFERENCES:
                raise Unsupported(f"a reference of type {info & 0xFFFFFFFF}")
            form, relative = _REFERENCES[info & 0xFFFFFFFF]
            name, place, value = symbols[info >> 32]
            if place == _UNDEFINED:
                outside = address_of(name)
                if not outside:
                    raise Unsupported(f"the symbol {name!r} is nowhere")
                value = outside
            else:
                value += self._base(place, base)
            value += addend - (target + offset if relative else 0)
            struct.pack_into(form, memory, target - base + offset, value)

    def _base(self, number: int, base: int) -> int:
        """Return the address of a section."""
        if number not in self.places:
            raise Unsupported(f"a reference to section {number}")
        return base + self.places[number]

    def _symbols(self, table: _Section) -> Iterator[tuple[str, int, int]]:
        """Yield name, number of the section, and place in it of each symbol."""
        names = self.sections[table.link].offset
        for k in range(table.offset, table.offset + table.size, 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.image, k)
            start = names + name
            yield self.image[start : self.image.index(b"\0", start)].decode(), section, value


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _make_executable(address: int, size: int) -> None:
    """From now on the memory can be run and not be written."""
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    if protect(address, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "mprotect")

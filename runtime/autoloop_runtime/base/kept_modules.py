"""The code of our modules in one file of the cache, so that a start need not look for each of them.

A start loads some two hundred small modules. Python looks for each in a list of folders, and reads and checks a file of
bytecode; where it may keep none (``-B``, ``PYTHONDONTWRITEBYTECODE``) it compiles each anew. Here they come from one
file: a process that had to load many in the usual way writes it when it ends, and the next one takes them from there.

Each is taken only while its source is what it was, by time and size, as Python does with bytecode, and only from where
Python would take it. Whatever else looks for modules before Python's own finder goes first. A file that is damaged, or
was not written by this user for this Python and this installation, counts as none.

What a module imports is in the file with it, and is loaded before it, one after the other: where its import statements
come to it, it is there. Python's way to load a module, down from the statement that asks for it, takes four times as
long. It is for what somebody asks for, and loads what nobody has begun to.
"""

from __future__ import annotations

import atexit
import contextlib
import marshal
import os
import sys
from _thread import get_ident
from collections.abc import Iterator, Sequence
from importlib import import_module, util
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from .cache_folder import cache_folder, content_of, problem, put

#: whose modules are kept
_OURS = ("autoloop.", "autoloop_runtime.")
#: what those of them are called that are no packages, and that users import
_OF_USERS = ("typing",)
#: whether Python does as ``_QuickModule`` tells
_MAKES_ERRORS = sys.version_info < (3, 12)
#: how many modules a process must have loaded in the usual way for the file to be written again: to load these from it
#: saves what writing takes in ten starts or so
ENOUGH = 4
#: how many files there may be: one for each installation, Python and level of optimisation
MOST_FILES = 8
_ENDING = ".modules"
#: Python's own finders of what is in the interpreter, which ours never is: to ask them first takes two calls a module
_OF_PYTHON = (BuiltinImporter, FrozenImporter)
#: bytes of each of what stands first: a hash of the name, the sum of the rest, its last bytes, how long the index is
_WORD = 8
#: changes with what an ``Entry`` is
_FORM = 2


#: what is known of a module: where the group of its code begins and ends, its file, whether it is a package, of the
#: source the time in nanoseconds and the size, where Python has the bytecode, for who asks, its place in the group, and
#: how many right before it were loaded for it
Entry = tuple[int, int, str, bool, int, int, str | None, int, int]
#: what was loaded in the usual way: its source, its code, for which module it was loaded, and how many modules had been
#: loaded when it began, and when it was there
Noted = tuple[tuple[str, int, int], CodeType, str, int, int]


class _QuickModule(ModuleType):
    """A module that Python 3.11 is quickly told of what it has not.

    Each ``from`` asks the module for ``__path__``, and of a module that 3.11 takes for one an error is made twice, and
    thrown away: as long as all the rest of the statement takes. Later versions do not make it.
    """

    __getattribute__ = object.__getattribute__

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)  # cloudpickle, which looks for the class itself, sends modules so


def named(*modules: ModuleType) -> None:
    """Have modules that users have under a name be what a module is to anybody."""
    for module in modules:
        module.__class__ = ModuleType


def _executed(module: ModuleType) -> None:
    """Have a module that has a ``__getattr__`` of its own be asked for what it has not: only Python's class does so."""
    if "__getattr__" in vars(module):
        named(module)


def _kind_of(name: str, is_package: bool) -> type[ModuleType]:
    """Return what a module is made as; a package has what it is asked for, and may have more by a function."""
    is_inner = not is_package and name.rpartition(".")[2] not in _OF_USERS
    return _QuickModule if is_inner and _MAKES_ERRORS else ModuleType


class _Spec(ModuleSpec):
    """Where a module of ours is.

    A relative import statement asks what it is in. Python's own specs work that out each time, and once more where the
    module is made.
    """

    parent = ""
    loader: _Loader


class _Loader(SourceFileLoader):
    """Loads a module as Python does, but may have its code already, and notes it if it has not."""

    def __init__(self, finder: Finder, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._finder = finder
        #: of the source, before anything is read of it: what is changed meanwhile is found changed the next time
        self.found = _found(path)

    def get_code(self, fullname: str) -> CodeType | None:
        code = self._finder.take(fullname)
        if code is None:
            code = super().get_code(fullname)
            if code is not None and self.found is not None:
                self._finder.note(fullname, (self.path, *self.found), code)
        return code

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a module that has what Python asks it for: for each thing that it lacks an error is made first."""
        folders = spec.submodule_search_locations
        module = _kind_of(spec.name, folders is not None)(spec.name)
        vars(module).update(
            __file__=spec.origin, __cached__=spec.cached, __loader__=self, __package__=spec.parent, __spec__=spec
        )
        if folders is not None:
            vars(module)["__path__"] = folders
        return module

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _executed(module)


class _NotingLoader(_Loader):
    """Loads a module in the usual way, and has what is loaded meanwhile stand with it in the file."""

    def exec_module(self, module: ModuleType) -> None:
        with self._finder.loading(module.__name__):
            super().exec_module(module)


class _Given:
    """Gives who asks for a module by import the one that was begun, or loaded, while it was asked for."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class Finder:
    """Finds our modules, in one file if they are there.

    Parameters
    ----------
    path : str
        Of the file; it need not be there.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._index, self._groups = _read(path)
        #: where a group begins -> its modules, in the order in which they were there
        self._opened: dict[int, tuple[str, ...]] = {}
        #: of groups that were opened, what was not asked for yet
        self._codes: dict[str, CodeType] = {}
        #: what was loaded in the usual way. All that was loaded for one module stands in one group, with one copy of
        #: what several of them name: it is loaded together always
        self._noted: dict[str, Noted] = {}
        #: thread -> the module that it loads, and others for it
        self._loaded_for: dict[int, str] = {}
        self._is_stale = False
        #: module -> for which it is loaded: itself, if an import asks for it first
        self._begun_for: dict[str, str] = {}
        #: what is being loaded for another module: the thread, and the module as far as it is
        self._running: dict[str, tuple[int, ModuleType]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module of ours is; ``None`` for others."""
        if not fullname.startswith(_OURS) or not path:
            return None
        root = self._begun_for.setdefault(fullname, fullname)
        if root != fullname and target is None and (module := self._begun(fullname, root)) is not None:
            return ModuleSpec(fullname, _Given(module), origin=module.__file__)  # type: ignore[arg-type]
        if (kept := self._kept(fullname, next(iter(path)))) is not None:
            return kept
        if self._index.pop(fullname, None) is not None:
            self._is_stale = True
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _NotingLoader(self, fullname, spec.loader.path)
        return spec

    def _begun(self, fullname: str, root: str) -> ModuleType | None:
        """Return a module that has been loaded for another one; as far as it is, if this thread does so."""
        thread, module = self._running.get(fullname, (None, None))
        if thread == get_ident():
            return module
        if module is not None:
            import_module(root)  # the thread that loads it has the lock
        return sys.modules.get(fullname)

    def _kept(self, fullname: str, folder: str) -> _Spec | None:
        """Return where a module is; ``None`` if it is not in the file, or not the one that Python would find."""
        known = self._index.get(fullname)
        if known is None:
            return None
        _, _, file, is_package, time, size, bytecode, *_ = known
        package, _, last = fullname.rpartition(".")
        stem = f"{folder}{os.sep}{last}"
        if file != (f"{stem}{os.sep}__init__.py" if is_package else f"{stem}.py"):
            return None
        loader = _Loader(self, fullname, file)
        if loader.found != (time, size):
            return None
        spec = _Spec(fullname, loader, origin=file, is_package=is_package)
        spec.parent = fullname if is_package else package
        spec.has_location = True
        spec.cached = bytecode
        if is_package:
            spec.submodule_search_locations = [stem]
        return spec

    def take(self, fullname: str) -> CodeType | None:
        """Load what a module imports; return its code, and keep it no longer.

        What is loaded a second time is loaded in the usual way: ``None``, also if it is not there, or another thread is
        opening its group.
        """
        known = self._index.get(fullname)
        if known is None:  # or its source has changed, and its group may be open
            return None
        begin, end, *_, place, count = known
        if begin not in self._opened:
            self._opened[begin] = ()
            codes = marshal.loads(self._groups[begin:end])
            self._codes.update(codes)
            self._opened[begin] = tuple(codes)
        for name in self._opened[begin][place - count : place]:
            if name in sys.modules:  # loaded before this finder was asked for anything
                continue
            if name in self._codes and self._begun_for.setdefault(name, fullname) == fullname:
                self._load(name)
        return self._codes.pop(fullname, None)

    def _load(self, fullname: str) -> None:
        """Load a module that nobody asked for yet; nothing if it is not to be had from here."""
        package, _, last = fullname.rpartition(".")
        __import__(package)
        path = sys.modules[package].__path__
        spec = None if self._is_others(fullname, path) else self._kept(fullname, next(iter(path)))
        if spec is None:
            del self._begun_for[fullname]
            return
        module = spec.loader.create_module(spec)
        self._running[fullname] = get_ident(), module
        try:
            exec(self._codes.pop(fullname), vars(module))
            _executed(module)
        except BaseException as error:
            del self._begun_for[fullname]
            if isinstance(error, Exception):  # it comes again where the module is imported, and who is ready for it
                return
            raise
        finally:
            del self._running[fullname]
        sys.modules[fullname] = module
        setattr(sys.modules[package], last, module)

    def _is_others(self, fullname: str, path: Sequence[str]) -> bool:
        """Return whether one that looks for modules before this one finds it."""
        for one in sys.meta_path:
            if one is self:
                return False
            if not hasattr(one, "find_spec") or one.find_spec(fullname, path, None) is not None:
                break
        return True

    def note(self, fullname: str, source: tuple[str, int, int], code: CodeType) -> None:
        """Remember what was loaded in the usual way, for the end of the process."""
        if fullname in self._index:
            return
        if not self._noted:
            atexit.register(self.write)
        number = len(self._noted)
        self._noted[fullname] = (source, code, self._loaded_for.get(get_ident(), fullname), number, number)

    @contextlib.contextmanager
    def loading(self, fullname: str) -> Iterator[None]:
        """Have what this thread loads meanwhile stand with a module, or with the one that this is loaded for."""
        thread = get_ident()
        is_first = self._loaded_for.setdefault(thread, fullname) == fullname
        try:
            yield
        except BaseException:
            self._noted.pop(fullname, None)
            raise
        finally:
            if is_first:
                self._loaded_for.pop(thread, None)
        if (noted := self._noted.pop(fullname, None)) is not None:  # after what was loaded for it
            self._noted[fullname] = (*noted[:-1], len(self._noted))

    def end_of_import(self) -> None:
        """Have what was loaded up to here stand together."""
        self._noted = {name: (*noted[:2], "", *noted[3:]) for name, noted in self._noted.items()}

    def write(self) -> None:
        """Write the file anew if much was not in it; a disk that is full or read-only is no error."""
        noted, self._noted = self._noted, {}
        least = 1 if sys.dont_write_bytecode else ENOUGH  # where each is compiled anew at every start
        if len(noted) < least and not self._is_stale:
            return
        with contextlib.suppress(OSError):
            folder = os.path.dirname(self._path)
            os.makedirs(folder, 0o700, exist_ok=True)
            if problem(folder):
                return
            index, kept = ({}, memoryview(b"")) if self._is_stale else _read(self._path)
            groups, begin = [bytes(kept)], len(kept)
            together: dict[str, list[str]] = {}
            for name, (_, _, first, _, _) in noted.items():
                if name not in index:
                    together.setdefault(first, []).append(name)
            for names in together.values():
                groups.append(marshal.dumps({name: noted[name][1] for name in names}))
                end = begin + len(groups[-1])
                index.update({name: _entry(begin, end, names, noted, place) for place, name in enumerate(names)})
                begin = end
            known = marshal.dumps(index)
            content = b"".join([len(known).to_bytes(_WORD, "little"), known, *groups])
            put(self._path, _head(self._path, memoryview(content)) + content)
            _leave_newest(folder)


def _entry(begin: int, end: int, names: list[str], noted: dict[str, Noted], place: int) -> Entry:
    (file, time, size), _, _, began, _ = noted[names[place]]
    is_package = os.path.basename(file) == "__init__.py"
    count = sum(noted[name][-1] >= began for name in names[:place])
    return begin, end, file, is_package, time, size, util.cache_from_source(file), place, count


def _found(file: str) -> tuple[int, int] | None:
    """Return the time and the size of a source; ``None`` if it is not there."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _head(path: str, content: memoryview) -> bytes:
    """Return what tells whether content was damaged, or is another file's.

    A hash of all of it would take much of the time that is saved: the words are added up.
    """
    whole = len(content) // _WORD * _WORD
    words = int(np.frombuffer(content[:whole], "<u8").sum())
    rest = content[whole:].tobytes().ljust(_WORD, b"\0")
    return util.source_hash(os.path.basename(path).encode()) + words.to_bytes(_WORD, "little") + rest


def _read(path: str) -> tuple[dict[str, Entry], memoryview]:
    """Return what a file knows of each module, and the groups of their codes; nothing of a file that is damaged."""
    try:
        if not problem(os.path.dirname(path)):
            data = memoryview(content_of(path))
            content = data[3 * _WORD :]
            if content and _head(path, content) == data[: 3 * _WORD]:
                groups = _WORD + int.from_bytes(content[:_WORD], "little")
                return marshal.loads(content[_WORD:groups]), content[groups:]
    except OSError:
        pass
    return {}, memoryview(b"")


def _leave_newest(folder: str) -> None:
    """Remove what was written first if there are many files."""
    files = [entry for entry in os.scandir(folder) if entry.name.endswith(_ENDING)]
    for entry in sorted(files, key=lambda one: one.stat().st_mtime)[:-MOST_FILES]:
        os.unlink(entry.path)


def find_kept() -> Finder | None:
    """Return what finds our modules from now on, right before Python's own; ``None`` if nothing is to be kept."""
    folder = cache_folder("modules")
    if folder is None or PathFinder not in sys.meta_path:
        return None
    told = (
        _FORM, os.path.dirname(__file__), sys.version, sys.implementation.cache_tag, sys.flags.optimize,
        sys.pycache_prefix, util.MAGIC_NUMBER,
    )  # fmt: skip
    finder = Finder(os.path.join(folder, util.source_hash(repr(told).encode()).hex() + _ENDING))
    place = sys.meta_path.index(PathFinder)
    while place and sys.meta_path[place - 1] in _OF_PYTHON:
        place -= 1
    sys.meta_path.insert(place, finder)
    return finder

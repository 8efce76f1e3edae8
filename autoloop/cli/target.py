"""``FILE.py:FUNC``, ``MODULE:FUNC`` and ``FILE.ipynb:FUNC``: importing the file and finding the function."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import linecache
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from autoloop_runtime.base.dataclass import dataclass
from autoloop_runtime.base.parsing import signature_of

from ..bound_function import BoundFunction
from ..function import Function
from ..viewing.stage_texts import source_of, undecorated
from .problems import UsageError, did_you_mean

#: what may be the name of a module
_NAMES = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True)
class Target:
    """A function that was named on the command line.

    Attributes
    ----------
    name : str
        As it was given: ``solve`` or ``Solver.step``.
    path : Path
        The file.
    found : callable
        What the name stands for, decorated or not.
    owner : type or None
        The class around it.
    """

    name: str
    path: Path
    found: Callable[..., Any]
    owner: type | None

    @property
    def python_function(self) -> Callable[..., Any]:
        """The undecorated function."""
        inner: Callable[..., Any] = getattr(self.found, "python_function", self.found)
        return inner

    def source(self) -> tuple[str, int]:
        """Return the text of the function, and the number of its first line (``UsageError`` if there is none)."""
        try:
            return source_of(self.found)
        except (OSError, TypeError):
            raise UsageError(f"the source of {self.name!r} cannot be found [AL801]") from None

    def filename(self) -> str:
        """Return the name of the file of the function, as its code has it."""
        code = getattr(undecorated(self.found), "__code__", None)
        return "" if code is None else str(code.co_filename)

    def as_function(self, executor: str | None = None) -> Function | BoundFunction:
        """Return the function ready to be traced, decorated if it is not, and bound if it is a method.

        Parameters
        ----------
        executor : str, optional
            Instead of the one that the decorator names.
        """
        found = self._bound() if self._needs_instance() else self.found
        if not isinstance(found, (Function, BoundFunction)):
            return Function(found, executor=executor or "auto")
        if executor is None or executor == found.executor:
            return found
        return Function(found.python_function, found.input_signature, found.autograph, executor, found.name)

    def _needs_instance(self) -> bool:
        if self.owner is None:
            return False
        written = inspect.getattr_static(self.owner, self.name.rpartition(".")[2])
        return isinstance(written, Function) or inspect.isfunction(written)

    def _bound(self) -> Callable[..., Any]:
        assert self.owner is not None
        try:
            signature_of(self.owner).bind()
        except TypeError as error:
            raise UsageError(
                f"{self.name} needs an instance of {self.owner.__name__}, which cannot be made without arguments "
                f"({error}); write a small function that makes one and calls the method [AL801]"
            ) from None
        method: Callable[..., Any] = getattr(self.owner(), self.name.rpartition(".")[2])
        return method


def load_target(spec: str) -> Target:
    """Import the file of ``FILE.py:FUNC``, or the module of ``MODULE:FUNC``, and look the function up.

    The file is imported, so what stands under ``if __name__ == "__main__":`` does not run. Of a notebook the cells are
    run, without what is IPython's own.

    Raises
    ------
    UsageError
        If there is no such file or no such function.
    """
    file, colon, name = spec.rpartition(":")
    if not colon or not name or name.endswith(".py"):
        file, name = spec.rstrip(":"), ""
    path = Path(file)
    if not path.is_file() and _NAMES.fullmatch(file) and (found := _module_of(file)) is not None:
        return _find(found, Path(found.__file__ or file), name) if name else _asked_which(file, found)
    if not path.is_file():
        advice = "" if name else "; a function is named as FILE.py:FUNC"
        raise UsageError(f"there is no file {file!r}{advice} [AL801]")
    module = _of_notebook(path) if path.suffix == ".ipynb" else _import(path)
    return _find(module, path, name) if name else _asked_which(file, module)


def _asked_which(file: str, module: ModuleType) -> NoReturn:
    raise UsageError(f"which function of {file}? It has {', '.join(_names(module)) or 'none'}: {file}:NAME [AL801]")


def _module_of(name: str) -> ModuleType | None:
    """Import a module by its name, as a script in this folder would; None if there is none."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise


def _of_notebook(path: Path) -> ModuleType:
    """Run the cells of a notebook, each as a file of its own, that tracebacks and conversion find the lines of."""
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
        cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{path} is not a notebook [AL801]") from None
    module = ModuleType(path.stem)
    sys.modules[module.__name__] = module
    for number, cell in enumerate(cells, 1):
        if cell.startswith("%%"):  # another language, or another way to run it
            continue
        text = re.sub(r"^([ \t]*)[%!?].*", r"\1pass", cell, flags=re.MULTILINE)
        filename = f"{path}[{number}]"
        linecache.cache[filename] = len(text), None, text.splitlines(True), filename
        exec(compile(text, filename, "exec"), vars(module))
    return module


def _import(path: Path) -> ModuleType:
    folder, name = path.resolve().parent, path.stem
    while (folder / "__init__.py").is_file():  # a module of a package is imported under its full name
        folder, name = folder.parent, f"{folder.name}.{name}"
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))  # as Python does for a script: its neighbours can be imported
    try:
        if "." in name:
            return importlib.import_module(name.removesuffix(".__init__"))
        return _execute(path, name if name not in sys.modules else f"_autoloop_cli_{name}")
    except SystemExit as error:
        raise UsageError(
            f"{path} ended the program while it was imported (exit code {error.code!r}); put its main part under "
            f"if __name__ == '__main__': [AL801]"
        ) from None


def _execute(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file [AL801]")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_function(value: Any) -> bool:
    return isinstance(value, (Function, BoundFunction)) or inspect.isroutine(value)


def _names(module: ModuleType) -> list[str]:
    """Return the functions and methods that are defined in ``module``."""
    found = []
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if _is_function(value):
            found.append(name)
        elif inspect.isclass(value):
            found += [f"{name}.{key}" for key, v in vars(value).items() if _is_function(v) and key[:2] != "__"]
    return found


def _find(module: ModuleType, path: Path, name: str) -> Target:
    value: Any = module
    owner: Any = None
    for part in name.split("."):
        owner, value = value, getattr(value, part, None)
        if value is None:
            raise UsageError(f"{path} has no function {name!r}{did_you_mean(name, _names(module))} [AL801]")
    if inspect.isclass(value):
        methods = [n for n in _names(module) if n.startswith(f"{name}.")]
        raise UsageError(f"{name!r} is a class; name one of its methods: {', '.join(methods) or 'it has none'} [AL801]")
    if not callable(value):
        raise UsageError(f"{name!r} in {path} is no function, but of type {type(value).__name__} [AL801]")
    return Target(name, path, value, owner if inspect.isclass(owner) else None)

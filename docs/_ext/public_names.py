"""The directives of the reference: tables of public names, and what their docstrings say.

    ```{names} autoloop.linalg
    det inv solve
    ```

stands for a summary of these names and, below it, an entry for each. Without names it is all that the module lists;
with ``:rest:`` all that no page of the folder names. ``list-of-names`` is a table alone, ``other-spellings`` says what
is called by several names.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import autoloop
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PAGES = Path(__file__).resolve().parents[1] / "reference"
_NAMES = re.compile(r"^```\{names\} (\S+)\n((?:[\w ]+\n)*)```$", re.M)


def module_of(name: str) -> ModuleType:
    """Return what a dotted name stands for; not all of these are modules that can be imported by it."""
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return functools.reduce(getattr, name.split(".")[1:], autoloop)


def public_names(module: ModuleType) -> list[str]:
    """Return what a module shows; a star takes of these what is none of Python's only."""
    return sorted(name for name in dir(module) if name[0] != "_")


def is_shown(value: Any) -> bool:
    """Return whether a value has an entry of its own: functions and classes have one."""
    return inspect.isclass(value) or inspect.isroutine(value)


def named(module: str) -> set[str]:
    """Return the names of one module that pages show."""
    found: set[str] = set()
    for page in PAGES.glob("*.md"):
        for of, names in _NAMES.findall(page.read_text(encoding="utf-8")):
            if of == module:
                found.update(names.split())
    return found


def rest() -> list[str]:
    """Return the functions and classes of the top level that no page names, nor another module has under that name."""
    elsewhere = {id(getattr(autoloop.linalg, name)) for name in public_names(autoloop.linalg)}
    elsewhere |= {id(getattr(autoloop.sparse, name)) for name in public_names(autoloop.sparse)}
    elsewhere |= {id(getattr(autoloop, name)) for name in named("autoloop")}
    values = {name: getattr(autoloop, name) for name in public_names(autoloop)}
    return sorted({v.__name__ for v in values.values() if is_shown(v) and id(v) not in elsewhere} & values.keys())


def summary(value: Any) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def members(cls: type) -> list[str]:
    """Return a table of the methods and attributes of a class, in lines."""
    rows = []
    for name in sorted(n for n in dir(cls) if n[0] != "_"):
        value = inspect.getattr_static(cls, name)
        value = getattr(value, "__func__", value)  # of what belongs to the class
        text = summary(value)
        if (
            not text
            or isinstance(value, type(tuple.count))
            or type(value).__name__ in ("member_descriptor", "_tuplegetter")
        ):
            continue
        if callable(value):
            plain = [p.replace(annotation=p.empty) for p in inspect.signature(value).parameters.values()]
            kept = inspect.Signature([p for p in plain if p.name not in ("self", "cls")])
            name += str(kept)
        rows += [f"   * - ``{name}``", f"     - {text}"]
    return (
        ["", ".. rubric:: Methods and attributes", "", ".. list-table::", "   :widths: auto", "", *rows] if rows else []
    )


def _directive(value: Any) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if callable(value) else "autodata"


class _Lines(SphinxDirective):
    has_content = True

    def parsed(self, lines: list[str]) -> list[nodes.Node]:
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, node)
        return node.children


class Names(_Lines):
    """Shows public names of one module."""

    required_arguments = 1
    option_spec: ClassVar = {"rest": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the summary and the entries."""
        module = module_of(self.arguments[0])
        if "rest" in self.options:
            names = rest()
        else:
            names = " ".join(self.content).split() or public_names(module)
        names = [name for name in names if not inspect.isbuiltin(getattr(module, name))]
        lines = [
            "```{eval-rst}",
            ".. currentmodule:: " + self.arguments[0],
            "",
            ".. list-table::",
            "   :widths: auto",
            "",
        ]
        for name in names:  # as autosummary does, which would read each docstring once more
            lines += [f"   * - :py:obj:`{name}`", f"     - {summary(getattr(module, name))}"]
        for name in names:
            value = getattr(module, name)
            lines += ["", f".. {_directive(value)}:: {name}"]
            if inspect.isclass(value) and not issubclass(value, BaseException):
                lines += [f"   {line}".rstrip() for line in members(value)]
        return self.parsed([*lines, "```"] if names else ["There are none at present."])


class ListOfNames(_Lines):
    """Shows a table of what a module has, and what that is in ``autoloop``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        module = module_of(self.arguments[0])
        lines = ["| name | |", "| --- | --- |"]
        for name in public_names(module):
            value = getattr(module, name)
            same = getattr(autoloop, name, None) is value
            text = summary(value) if is_shown(value) or inspect.ismodule(value) else ""
            text = f"`autoloop.{name}`" if same else text.replace("|", "\\|").replace("``", "`")
            lines.append(f"| `{name}` | {text} |")
        return self.parsed(lines)


class OtherSpellings(_Lines):
    """Shows which names at top level are other spellings of one function."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        lines = ["| also | is |", "| --- | --- |"]
        for name in public_names(autoloop):
            value = getattr(autoloop, name)
            if inspect.isroutine(value) and value.__name__ != name and hasattr(autoloop, value.__name__):
                lines.append(f"| `{name}` | `{value.__name__}` |")
        return self.parsed(lines)


def _with_one_template(doc_string: type, load_config: Callable[[Any, dict[str, Any]], None]) -> None:
    """Let numpydoc compile its template once; it does so for each docstring."""

    def load(self: Any, config: dict[str, Any]) -> None:
        load_config(self, {"template": _templates[0], **config} if _templates else config)
        _templates.append(self.template)

    _templates: list[Any] = []
    doc_string.load_config = load


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives; autodoc imports what it documents by name."""
    _with_one_template(SphinxDocString, SphinxDocString.load_config)
    for name in ("config", "nest", "random", "sparse"):
        sys.modules.setdefault(f"autoloop.{name}", getattr(autoloop, name))
    app.add_directive("names", Names)
    app.add_directive("list-of-names", ListOfNames)
    app.add_directive("other-spellings", OtherSpellings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""The generated boxes of ``runtime/README.md`` are what the code makes today."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import traceback
from pathlib import Path

import autoloop
from api import Graph, emit, lower
from each_case import each

PAGE = Path(__file__).resolve().parents[1] / "runtime" / "README.md"
BOX = re.compile(r"<!-- artefact: (\w+) -->\n```(\w+)\n(.*?)```", re.S)


def decay(x, limit):
    steps = autoloop.constant(0)
    while autoloop.sum(x) > limit:
        x = x * 0.5
        steps += 1
    return x, steps


def lines_of(graph: Graph, indent: str = "") -> list[str]:
    """The nodes of a graph, a line each; sub-graphs indented."""
    out = []
    for node in graph.nodes:
        inputs = ", ".join(t.name for t in node.inputs)
        value = f" = {node.attrs['value']}" if node.op.name == "Const" else ""
        results = ", ".join(f"{t.dtype}{list(t.shape)}" for t in node.outputs)
        out.append(f"{indent}{node.name} = {node.op.name}({inputs}){value} -> {results}")
        for part in ("cond", "body", "then", "else"):
            if part in node.attrs:
                out.append(f"{indent}  {part}:")
                out.extend(lines_of(node.attrs[part], indent + "    "))
    if graph.outputs:
        out.append(f"{indent}return {', '.join(t.name for t in graph.outputs)}")
    return out


def failing() -> str:
    @autoloop.function
    def look_up(table, n):
        i = total = autoloop.constant(0)
        while i < n:
            total += table[i]
            i += 1
        return total

    try:
        look_up(autoloop.constant([10, 20, 30]), autoloop.constant(5))
    except IndexError as error:
        text = "".join(traceback.format_exception(error))
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if "in look_up" in line)
    # versions of Python differ in which parts of a line they underline
    kept = [line for line in lines[start:] if line.strip(" ^~")]
    tail = [re.sub(r'File ".*?([^/]*\.py)"', r'File "\1"', line) for line in kept]
    return re.sub(r"\((\S*/)?(\w+\.py):\d+\)|(at )(\S*/)?(\w+\.py):\d+", r"\3(\2\5)", "\n".join(tail))


def artefacts() -> dict[str, str]:
    function = autoloop.function(decay)
    concrete = function.get_concrete_function(
        autoloop.TensorSpec([3], autoloop.float32), autoloop.TensorSpec([], autoloop.float32)
    )
    graph, optimized = concrete.graph, concrete.runner.graph
    lowered = lower(optimized, optimized.outputs, optimized.inputs)
    flat = []
    for node in lowered.nodes:
        inputs = ", ".join(f"{lowered.nodes[i].name}:{k}" for i, k in node.inputs)
        frame = lowered.frames[node.frame].name
        flat.append(f"{node.kind.name:15}{node.name}({inputs})" + (f"  in frame {frame!r}" if node.frame else ""))
    return {
        "source": inspect.getsource(decay),
        "converted": autoloop.to_code(decay).strip(),
        "structured": "\n".join(lines_of(graph)),
        "lowered": "\n".join(flat),
        "sequential": emit(optimized).source.strip(),
        "failure": failing(),
    }


def test_the_boxes_are_what_the_code_makes():
    made = artefacts()
    page = PAGE.read_text()
    found = BOX.findall(page)
    assert {name for name, _, _ in found} == set(made)
    if os.environ.get("UPDATE_PAGES"):
        PAGE.write_text(BOX.sub(lambda m: f"<!-- artefact: {m[1]} -->\n```{m[2]}\n{made[m[1]].strip()}\n```", page))
        return
    for name, _, text in found:
        assert text.strip() == made[name].strip(), f"box {name!r} of {PAGE} is out of date; run with UPDATE_PAGES=1"


@each(re.findall(r"^\| \d\w* .*?\| `([\w.]+)` \| `(\w+)\.(\w+)`", PAGE.read_text(), re.M))
def test_the_doors_it_names_exist(room, module, name):
    assert callable(getattr(importlib.import_module(f"{room}.{module}"), name))

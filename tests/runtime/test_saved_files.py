"""Files of saved functions that are damaged, or made to do harm: one error, whatever is wrong."""

from __future__ import annotations

import copy
import hashlib
import inspect
import io
import json
import random
import struct

import autoloop as al
import numpy as np
import pytest
from api import ATTRIBUTES, OPS, load_rows


def _program(x, n, d):
    i, out = 0, []
    s = x * 0
    while i < n:
        s = s + np.sin(x) * i + d["a"]
        if s.sum() > 3:
            s = s - 1
        out.append(s[1 : i + 2].sum())
        print(f"at {i:3d}", s.sum())
        if i > 50:
            raise ValueError("x", i)
        i += 1
    x[0] = 1
    return s, out, {"b": i, "c": np.einsum("i,i", s, s)}, x, x[1:], "text", np.ones(2)


@pytest.fixture(scope="module")
def content():
    file = io.BytesIO()
    al.save(_program, file, np.arange(3.0), np.int64(4), {"a": np.float64(2.0), "k": 3})
    return file.getvalue()


def load(content):
    return al.load(io.BytesIO(content))


def header_of(content):
    size = struct.unpack("<Q", content[16:24])[0]
    return json.loads(content[64 : 64 + size])


def with_header(content, header):
    """Return a file with another header, and a checksum that fits."""
    size, count = struct.unpack("<QQ", content[16:32])
    head = json.dumps(header).encode() if not isinstance(header, bytes) else header
    body = head + b"\0" * (-(64 + len(head)) % 64) + content[len(content) - count :]
    digest = hashlib.sha256(body).digest()
    return content[:16] + struct.pack("<QQ", len(head), count) + digest + body


def test_a_file_is_loaded(content):
    assert with_header(content, content[64 : 64 + struct.unpack("<Q", content[16:24])[0]]) == content
    assert load(content).name == "_program"


def test_damage_is_found(content):
    rng = random.Random(0)
    for place in [*range(64), *rng.sample(range(64, len(content)), 100)]:
        with pytest.raises(al.LoadError):
            load(content[:place] + bytes([content[place] ^ (1 << rng.randrange(8))]) + content[place + 1 :])
    for size in [*range(0, 65, 8), *rng.sample(range(64, len(content)), 20)]:
        with pytest.raises(al.LoadError):
            load(content[:size])
    with pytest.raises(al.LoadError, match="goes on after its end"):
        load(content + b"\0")


def test_another_version_says_so(content):
    with pytest.raises(al.LoadError, match="version 2 of the format, this autoloop reads version 1"):
        load(content[:8] + struct.pack("<I", 2) + content[12:])


def _paths(value, before=()):
    yield before
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from _paths(value[key], (*before, key))


def _nested(depth):
    value = 0
    for _ in range(depth):
        value = ["tuple", value]
    return value


ODD = [
    None, True, False, 0, -1, 1, 2, 3, 7, 1 << 40, 1 << 62, 1 << 63, 1 << 70, 1.5, "", "x", "add", "f8", "O",
    "U1000000", "Placeholder", "Const", "\n", "a\nimport os", "{0.__class__}", "file:///tmp/x", [], {}, [[]], ["tuple"],
    ["shape", None], ["shape", 1 << 40, 1 << 40], ["float", "inf"], ["array", 0], ["variable", 0], ["index", 0, 0],
    ["dict", [[], 1]], ["made", "ValueError", ["tuple"]], ["function", "math.sin"], ["constant", ["list"]],
    ["unknown rank"], ["dtype", "f8"], ["dtype", "f4"], _nested(200),
]  # fmt: skip


def _changed(header, rng):
    """Return a header with something else in one to three places."""
    header = copy.deepcopy(header)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = rng.choice(list(_paths(header))[1:])
        inside = header
        for key in path[:-1]:
            inside = inside[key]
        how = rng.random()
        if how < 0.6:
            inside[path[-1]] = copy.deepcopy(rng.choice(ODD))
        elif how < 0.7:
            del inside[path[-1]]
        elif how < 0.85 or isinstance(inside, dict):
            other = header
            for key in rng.choice(list(_paths(header))):
                other = other[key]
            inside["more" if how >= 0.85 else path[-1]] = copy.deepcopy(other)
        else:
            inside.insert(path[-1], copy.deepcopy(rng.choice(ODD)))
    return header


def _load_changed(content, seed, times):
    load_rows()
    header, rng = header_of(content), random.Random(seed)
    loaded = 0
    for _ in range(times):
        try:
            load(with_header(content, _changed(header, rng)))
            loaded += 1
        except al.LoadError:
            pass
    return loaded


def test_a_changed_header_is_one_error(content):
    assert _load_changed(content, 0, 30) < 10


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 9))
def test_many_changed_headers(content, seed):
    assert _load_changed(content, seed, 600) < 60


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("graph", "nodes", 3, "op"), "os.system", "there is no operation 'os.system'"),
        (("graph", "nodes", 3, "name"), "a\nimport os", "a name is none"),
        (("graph", "nodes", 0, "out", 0, 0), "f4", "does not fit"),
        (("graph", "nodes"), _nested(900), "it has not the parts that it must have"),
        (("arrays", 0), ["f8", [1 << 40], 0], "an array does not lie in the file"),
        (("arrays", 0), ["U1000000", [1 << 20], 0], "an array does not lie in the file"),
        (("arrays", 0), ["O", [], 0], "is no dtype"),
        (("lines", 0, 0), "x" * 10_000, "a name is none"),
        (("function", "parameters", 0, 0), "no name", "what the file says of arguments"),
        (("function", "written"), [7], "what is written to is no array|other results"),
    ],
    ids=range(10),
)
def test_what_is_wrong_is_said(content, path, value, words):
    header = header_of(content)
    inside = header
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    with pytest.raises(al.LoadError, match=words):
        load(with_header(content, header))


_ARGUMENT = ["argument", 0, "array", "f8", ["shape", 3]]
_OUTPUT = ["output", 0, "array", True, None, []]
_FIELDS = ["a", "b"]


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("parameters", {}, "a list is none"),
        ("parameters", [[1, 1]], "a parameter is none"),
        ("arguments", [["x", True, _ARGUMENT], ["x", False, _ARGUMENT]], "an argument is none"),
        ("arguments", [["x", True, _ARGUMENT], ["n", False, ["constant", 1]]], "that are given by name come last"),
        ("arguments", [["x", False, ["argument", 1, "array", "f8", ["shape", 3]]]], "an argument is none"),
        ("arguments", [["x", False, ["argument", 0, "array", "f8", ["shape", 4]]]], "is not what the graph takes"),
        ("arguments", [["x", False, ["dict", ["a", _ARGUMENT], ["a", _ARGUMENT]]]], "a dict has a key twice"),
        ("arguments", [["x", False, ["named arguments", [1, _ARGUMENT]]]], "an argument has no such name"),
        ("arguments", [["x", False, ["named tuple", "P", ["a", "a"], _ARGUMENT, _ARGUMENT]]], "has no such fields"),
        ("arguments", [["x", False, ["named tuple", "P", ["1"], _ARGUMENT]]], "a named tuple has no such fields"),
        ("arguments", [["x", False, ["named tuple", "P", ["1"]]]], "a named tuple has not the fields"),
        ("arguments", [["x", False, _nested(100)]], "structures are nested too deeply"),
        ("arguments", [["x", False, 3]], "a structure has no such form"),
        (None, {"arguments": [], "written": [], "results": _OUTPUT}, "there are fewer arguments than the graph has"),
        ("arguments", [["x", False, ["tuple", _ARGUMENT, _ARGUMENT]]], "an argument is none"),
        ("results", ["output", 0, "array", 1, None, []], "a result is none"),
        ("results", ["output", 70, "array", True, None, []], "there are more results than the graph has"),
        ("results", ["output", 0, "array", True, [0, 1], []], "a result has not these axes"),
        ("results", ["argument", 70, True, []], "a result is no argument"),
        ("results", ["argument", 0, True, [["part", ["float", "0x1p+1"]]]], "a view is none"),
        ("results", ["argument", 0, True, [["axes", [-1]]]], "a view has no such axes"),
        ("results", ["mixed number", ["a"], "f8", _OUTPUT, _OUTPUT], "a number has no such types"),
        ("results", ["mixed number", [1], "f8", 3, _OUTPUT], "a part of a result is none"),
        ("results", ["growing list", "x", ["kind", "array"], []], "a list has not as many parts"),
        ("results", ["growing list", "x", ["kind", 1], []], "there is no such kind of value"),
        ("results", ["growing list", "x", ["kind", "array"], [["f8", ["shape"], _OUTPUT]]], "elements of no array"),
        ("results", ["constant", 1], "there are other results than the graph has"),
        ("written", [70], "what is written to is no array"),
        ("name", "\x00", "a name is none"),
    ],
    ids=range(29),
)  # fmt: skip
def test_what_is_wrong_about_calls_is_said(content, key, value, words):
    header = header_of(content)
    header["function"].update({key: value} if key else value)
    with pytest.raises(al.LoadError, match=words):
        load(with_header(content, header))


def test_shapes_are_inferred_again(content):
    header = header_of(content)
    node = next(one for one in header["graph"]["nodes"] if one["op"] == "multiply")
    node["out"][0][1] = ["shape", 300]
    with pytest.raises(
        al.LoadError, match=r"it gives float64 of shape \(3,\), the file says float64 of shape \(300,\)"
    ):
        load(with_header(content, header))


def _prints(graph):
    for node in graph["nodes"]:
        if node["op"] in ("print", "format"):
            yield node
        for value in node.get("attrs", {}).values():
            if isinstance(value, dict):
                yield from _prints(value)


@pytest.mark.parametrize(
    ("name", "value"), [("stream", "file:///tmp/x"), ("template", "{0.real}"), ("template", "{:99999d}")]
)
def test_prints_do_no_more_than_print(content, name, value):
    header = header_of(content)
    for node in _prints(header["graph"]):
        if name in node["attrs"]:
            node["attrs"][name] = value
    with pytest.raises(al.LoadError, match=f"its attribute '{name}' is none that it may have"):
        load(with_header(content, header))


def test_json_that_python_cannot_read(content):
    for head in (b"[" * 100_000, b'{"arrays": ' + b"1" * 5000 + b"}", b'{"arrays": [NaN]}', b"\xff", b"[]"):
        with pytest.raises(al.LoadError):
            load(with_header(content, head))


def test_every_attribute_of_a_row_is_stated_or_cannot_be_saved():
    load_rows()
    python = {
        "call",
        "draw",
        "func",
        "grad",
        "single",
        "types",
    }  # what holds Python functions, and what stands with them
    for op in OPS.values():
        parameters = inspect.signature(op.infer).parameters.values()
        names = {one.name for one in parameters if one.kind is one.KEYWORD_ONLY}
        assert names <= {*ATTRIBUTES, *python}, op

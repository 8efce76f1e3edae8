"""``autoloop.report``: the page, and the data in it."""

from __future__ import annotations

import hashlib
import inspect
import json
import warnings
from html.parser import HTMLParser
from pathlib import Path

import autoloop as al
import numpy as np
import pytest
from autoloop.cli import main
from autoloop.viewing.report.html_page import embedded
from executors import needs_native

ROOT = Path(__file__).parent.parent


@al.function
def newton(x, tolerance):
    """</script><script>alert("1")</script><!-- & < >"""
    turns = 0
    while abs(x * x - 2) > tolerance:  # "</script>" & <b>
        x = x - (x * x - 2) / (2 * x)
        if turns > 10:
            x = x + 1.0
        turns += 1
    return x, turns


ARGS = np.float64(1.0), np.float64(1e-6)
TEXT, FIRST = "".join((LINES := inspect.getsourcelines(newton.python_function))[0]), LINES[1]


def number_of(part):
    """The number of the first line of ``newton`` that holds a text."""
    return FIRST + TEXT[: TEXT.index(part)].count("\n")


class Page(HTMLParser):
    """The tags of a page, and the texts of its scripts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.scripts = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def made():
    return al.report(newton, *ARGS)


def test_the_page_is_one_file_that_asks_for_nothing(made):
    page = Page(made.html)
    names = [tag for tag, _ in page.tags]
    assert names.count("script") == 2 and "img" not in names
    assert [attrs["href"] for _, attrs in page.tags if "href" in attrs] == ["data:,"]
    assert not any("src" in attrs for _, attrs in page.tags)
    assert "default-src 'none'" in next(attrs["content"] for _, attrs in page.tags if "http-equiv" in attrs)
    assert len(made.html) < 400_000


def test_the_data_is_what_was_put_in_whatever_texts_hold(made):
    data = json.loads(Page(made.html).scripts[0])
    frame = Page(made._repr_html_()).tags
    assert [tag for tag, _ in frame] == ["iframe"] and frame[0][1]["srcdoc"] == made.html
    assert data == json.loads(json.dumps(made.data))
    assert data["source"]["text"] == TEXT and data["source"]["first_line"] == FIRST
    assert "".join(text for _, spans in data["source"]["rows"] for _, text in spans) == TEXT.replace("\n", "")
    odd = {"</SCRIPT": ["<!--", "\ud800", "\u2028", "&lt;", 'a"b\\']}
    assert json.loads(embedded(odd)) == odd and "<" not in embedded(odd) and embedded(odd).isascii()


def test_what_belongs_to_a_line_says_so(made):
    stages = {stage["name"]: stage for stage in made.data["stages"]}
    step, guard = number_of("x = x - "), number_of("while ")
    for name in ("structured", "optimized", "lowered"):
        ops = [box["label"] for box in stages[name]["boxes"] if box["line"] == step]
        assert sorted(ops) == ["divide", "multiply", "multiply", "subtract", "subtract"], name
        assert {cluster["line"] for cluster in stages[name]["clusters"]} >= {0, guard}
    rows = {
        name: ["".join(text for _, text in spans) for lines, spans in stages[name]["rows"] if line_in(lines, step)]
        for name in ("converted", "python")
    }
    assert [row.strip() for row in rows["converted"]] == ["x = x - (x * x - 2) / (2 * x)"]
    assert len(rows["python"]) == 1 and "/" in rows["python"][0]


def test_the_memory_of_arrays_is_told_by_lines():
    def f(x, n):
        for _ in range(n):
            x = np.tanh(x[::2])
            x[0] = 1.0
        return x

    first = inspect.getsourcelines(f)[1]
    table = al.report(f, np.ones(1000), al.TensorSpec([], al.int64)).data["memory"]
    rows = [(line - first, *cells[2:]) for line, cells in table["rows"]]
    assert rows[0] == (0, "x", "float64[1000]", "8 kB", "given")
    assert any(row[0] == 2 and row[4] == "a view" and row[3] == "" for row in rows)
    assert any(row[0] == 3 and "in place" in row[4] for row in rows)
    assert al.report(newton, *ARGS).data["memory"] is None


@needs_native
def test_machine_code_is_linked_and_remarked_on():
    @al.function
    def f(x, n):
        for _ in range(n):
            x = x * 2.0 + 1.0
        return x

    first = inspect.getsourcelines(f.python_function)[1]
    made = al.report(f, np.ones(100), np.int64(3))
    stage = next(stage for stage in made.data["stages"] if stage["name"] == "asm")
    assert {line for line, _ in stage["rows"]} >= {0, first + 2, first + 3}
    assert {line for line, _ in stage["remarks"]} <= {first + 2, first + 3}


def line_in(lines, line):
    return line in (lines if isinstance(lines, list) else [lines])


def test_loops_of_generated_python_know_their_line():
    def sums(x, n):
        total = 0.0
        for i in range(n):
            for k in range(3):
                total = total + x * k
        return total

    first = inspect.getsourcelines(sums)[1]
    stages = {stage["name"]: stage for stage in al.report(sums, np.float64(1.0), np.int64(3)).data["stages"]}
    heads = [lines for lines, spans in stages["python"]["rows"] if spans and "for" in [text for _, text in spans]]
    assert heads and all(line_in(lines, first + 2 + k) for k, lines in enumerate(heads))


def test_what_cannot_be_had_says_why():
    made = al.report(newton, al.TensorSpec([], al.float64), 1e-3)
    assert all(stage.get("rows") or stage.get("boxes") or stage.get("missing") for stage in made.data["stages"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it runs without conversion
        made = al.report(eval("lambda x: x + 1"), al.TensorSpec([None], al.float64))
    missing = {stage["name"]: stage["missing"] for stage in made.data["stages"] if "missing" in stage}
    assert made.data["source"] is None and set(missing) == {"converted", "asm"}
    assert "source" in missing["converted"]


def test_of_a_method_and_a_derivative():
    class Model:
        rate = 2.0

        @al.function
        def step(self, x):
            while x < 10.0:
                x = x * self.rate
            return x

    assert "self.rate" in al.report(Model().step, np.float64(1.0)).data["source"]["text"]
    made = al.report(al.grad(lambda x: x * x), np.float64(1.0))
    assert made.data["title"].startswith("grad(") and "x * x" in made.data["source"]["text"]


def test_the_command_line_writes_it(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(f"import autoloop as al\n\n{TEXT}".replace("& < >", "\u2028 \x0c"), encoding="utf-8")
    out = tmp_path / "report.html"
    assert main(["report", f"{program}:newton", "--args", "np.float64(1), 1e-3", "-o", str(out)]) == 0
    data = json.loads(Page(out.read_text(encoding="utf-8")).scripts[0])
    assert data["source"]["file"] == "program.py" and data["source"]["first_line"] == 3
    rows = {"".join(text for _, text in spans).strip(): line for line, spans in data["source"]["rows"]}
    assert rows["turns += 1"] == 11 and "\u2028" in data["source"]["text"]
    assert str(out) in capsys.readouterr().err
    al.report(newton, *ARGS, path=out)
    assert newton.name in repr(al.report(newton, *ARGS)) and "newton" in out.read_text(encoding="utf-8")


def test_the_front_end_comes_built_with_the_notices_of_what_it_holds():
    folder = Path(inspect.getfile(al)).parent / "viewing" / "report"
    script = (folder / "page.js").read_text(encoding="utf-8")
    assert script.startswith("/* Generated from tools/report-page") and "Permission" in script and "dagre" in script
    assert len(script) < 300_000 and (folder / "page.css").stat().st_size


def test_the_front_end_is_built_of_its_sources():
    folder, digest = ROOT / "tools" / "report-page", hashlib.sha256()
    names = sorted(path.name for path in (folder / "src").iterdir())
    for name in ("build.mjs", "package-lock.json", *[f"src/{name}" for name in names]):
        digest.update(f"{name}\n{(folder / name).read_text(encoding='utf-8')}\n".encode())
    built = (ROOT / "autoloop" / "viewing" / "report" / "page.js").read_text(encoding="utf-8")
    assert f"Sources: {digest.hexdigest()}" in built, "cd tools/report-page && npm ci && npm run build"

"""What people see of a function: pictures, texts of its stages, and what notebooks show."""

from __future__ import annotations

import inspect
import re
import sys
import xml.etree.ElementTree as ET

import autoloop as al
import autoloop.compat.v1 as v1
import numpy as np
import pytest
from autoloop.cli import main
from autoloop.drawing import Picture
from autoloop.viewing.stage_texts import STAGES, text_of
from autoloop.viewing.tensorboard_graph import _MODULES, described
from executors import needs_native


@al.function
def newton(x, tolerance):
    turns = 0
    while abs(x * x - 2) > tolerance:  # "</script>" & <b>
        x = x - (x * x - 2) / (2 * x)
        if turns > 10:
            x = x + 1.0
        turns += 1
    return x, turns


SOURCE = f"import autoloop as al\n\n{inspect.getsource(newton.python_function)}"
ARGS = np.float64(1.0), np.float64(1e-6)


def whole(html):
    """Return html as a tree: so it is well formed, and everything in it is escaped."""
    return ET.fromstring(f"<div>{re.sub('&(?!amp;|lt;|gt;|quot;|#)', '!', html)}</div>")


def test_a_notebook_shows_each_of_our_values():
    newton(*ARGS)
    trace = newton.get_concrete_function(*ARGS)
    with al.Graph().as_default() as graph:
        al.constant(1.0) + 2
    shown = {
        "converted": newton, "svg": trace, "While": trace.graph, "Add": graph, "loops": al.explain(newton, *ARGS),
        "Tensor float32[2,3]": al.ones([2, 3]), "…": al.arange(100), "3": al.constant(3.0),
        "TensorArray": al.TensorArray(al.float32, 3), "dtype=": trace.graph.outputs[0],
    }  # fmt: skip
    for word, value in shown.items():
        html = value._repr_html_()
        whole(html)
        assert word.lower() in html.lower(), (word, html[:200])
    assert "&lt;/script&gt;" in newton._repr_html_() and "</script>" not in newton._repr_html_()
    assert al.arange(100)._repr_html_().count("<td") == 11
    rows = ["".join(cell.itertext()) for row in whole(newton._repr_html_()).iter("tr") for cell in row]
    place = rows.index(next(one for one in rows if "while abs" in one))
    assert rows[place - 1].isdigit() and "</script>" in rows[place + 1] and "def loop_test" in rows[place + 4]


def test_of_a_method_and_of_what_has_no_source():
    class Model:
        @al.function
        def step(self, x):
            return x + 1

    assert "def step(self, x)" in re.sub("<[^>]*>", "", Model().step._repr_html_())
    made = eval("lambda x: x + 1")
    whole(al.function(made)._repr_html_())


@pytest.mark.parametrize("stage", ["structured", "optimized", "regions", "lowered", "scheduled"])
def test_draw(stage, tmp_path):
    drawing = al.draw(newton, *ARGS, stage=stage)
    assert isinstance(drawing.picture, Picture) and drawing.picture.title == "newton(x, tolerance)"
    ET.fromstring(drawing._repr_svg_())
    drawing.save(tmp_path / "a.svg")
    drawing.save(tmp_path / "a.dot")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == drawing.svg
    assert (tmp_path / "a.dot").read_text(encoding="utf-8").startswith("digraph")
    with pytest.raises(ValueError, match="a drawing is saved as .svg, .png, .dot or .gv, not as "):
        drawing.save(tmp_path / "a.jpg")


def test_draw_of_plain_functions_traces_and_graphs():
    assert "boxes" in repr(al.draw(lambda x: x + 1, al.ones([2])))
    assert al.draw(newton.get_concrete_function(*ARGS)).svg == al.draw(newton, *ARGS).svg
    graph = newton.get_concrete_function(*ARGS).graph
    assert al.draw(graph, stage="structured").picture.boxes
    with pytest.raises(ValueError, match="stage must be one of structured"):
        al.draw(newton, *ARGS, stage="python")


def test_every_stage_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "job.py"
    path.write_text(SOURCE)
    words = {
        "source": "while abs", "converted": "ops.while_stmt", "structured": "= While(", "optimized": "= While(",
        "lowered": "NextIteration(", "python": "def run(x, tolerance):", "sequential": "def run(x, tolerance):",
    }  # fmt: skip
    for stage, word in words.items():
        assert main(["show", f"{path}:newton", "--stage", stage, "--args", "tensor(1.0), tensor(1e-6)"]) == 0
        assert word in capsys.readouterr().out, stage
    assert set(words) == {*STAGES, "sequential"} - {"llvm", "asm"}


@needs_native
def test_machine_code_is_shown_of_exact_shapes(tmp_path, capsys):
    trace = newton.get_concrete_function(*ARGS)
    assert "define" in text_of(trace, "llvm") and "fmul double" in text_of(trace, "llvm")
    assert ".globl" in text_of(trace, "asm") or "global" in text_of(trace, "asm")
    open_one = al.function(lambda x: x + 1).get_concrete_function(al.TensorSpec([None], al.float32))
    with pytest.raises(ValueError, match="give an array for x"):
        text_of(open_one, "llvm")


@pytest.fixture
def shell():
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    yield interactive.InteractiveShell.instance()
    interactive.InteractiveShell.clear_instance()


def test_cells_of_a_notebook(shell):
    from IPython.utils.capture import capture_output

    cell = "@al.function\ndef f(x):\n    while x.sum() < 10:\n        x = x * 2\n    return x\n\nprint(f(np.ones(2)))"
    with capture_output() as out:
        shell.run_cell("import numpy as np, autoloop as al\n%load_ext autoloop")
        shell.run_cell_magic("autoloop", "", cell)
        shell.run_cell_magic("autoloop", "g", "g = 3")
        again = cell.replace("x * 2", "x * 3")
        for _ in range(3):
            shell.run_cell(again)
        shell.run_cell("%timeit -n 2 -r 1 f(np.ones(2))")
    assert out.stdout.startswith("[8. 8.]\n") and "[9. 9.]\n[9. 9.]\n[9. 9.]\n" in out.stdout
    assert "the cell defines no function 'g'" in out.stdout
    assert "ops.while_stmt" in out.outputs[0].data["text/plain"]
    assert al.load_ipython_extension is not None
    with capture_output() as out:
        shell.run_cell_magic("autoloop", "", "def g(x):\n    yield x\ndef h(x):\n    return x")
    texts = [one.data["text/plain"] for one in out.outputs]
    assert "`yield` cannot be converted" in texts[0] and "def h(x)" in texts[1]


def test_the_lines_of_a_traceback_in_a_notebook(shell):
    from IPython.utils.capture import capture_output

    shell.run_cell("import numpy as np, autoloop as al")
    loop = "    while i < x[0]:\n        i += 1\n        assert i < 3, 'many'\n"
    cell = f"@al.function\ndef f(x):\n    i = 0\n{loop}    return i"
    with capture_output() as out:
        shell.run_cell(f"{cell}\n\nf(np.array([10.0]))")
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.stdout)
    assert re.search(r"-+> 6 +assert i < 3, 'many'", text) and re.search(r"-+> 9 f\(np", text), text
    assert "at In[1]:6, in iteration 2 of the loop 'while' (In[1]:4)" in text and "autoloop/" not in text.replace(
        "<autoloop", ""
    )


def test_frames_of_a_traceback_have_the_names_of_functions():
    @al.function(executor="sequential")
    def counted(x):
        i = 0
        while i < x[0]:
            i += 1
            assert i < 3, "many"
        return i

    with pytest.raises(AssertionError) as caught:
        counted(np.array([10.0]))
    codes = [entry.frame.code.raw for entry in caught.traceback[1:]]
    assert len(codes) == 3 and {(code.co_name, code.co_qualname) for code in codes} == {("counted", "counted")}


def graph_of_1x():
    graph = v1.Graph()
    with graph.as_default():
        x = v1.placeholder(v1.float32, [None, 3], name="x")
        v1.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + v1.reduce_sum(x)), [0, v1.constant(0.0)])
    return graph


def test_a_graph_with_placeholders_as_a_picture_and_as_tensorboard_has_it():
    graph = graph_of_1x()
    assert "LoopCond" in al.draw(graph).svg
    nodes = {name: (op, inputs, attrs) for name, op, inputs, attrs in described(graph)}
    assert nodes["x"][0] == "Placeholder" and nodes["x"][2]["dtype"] == ("type", 1)
    assert nodes["while/body/add"][:2] == ("add", ["while/Switch:1", "while/body/Const"])
    assert "^while/pivot" in nodes["while/body/sum"][1]
    assert nodes["while/Enter"][2]["frame_name"] == ("s", b"while")
    given = [one.lstrip("^").partition(":")[0] for _, inputs, _ in nodes.values() for one in inputs]
    assert set(given) <= set(nodes)


def test_tensorboard_has_what_a_function_gives():
    @al.function
    def printed(result, n):
        for i in range(n):
            print(i)
        return result + 1, n

    graph = printed.get_concrete_function(np.ones(3), np.int64(3)).graph
    given = {name: inputs for name, op, inputs, _ in described(graph) if op == "_Retval"}
    (last,) = given.pop("effects")
    assert given == {"result_1": ["add"], "result_2": ["n"]} and last.startswith("while/Exit")


def test_tensorboard_reads_what_is_written(tmp_path, capsys):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with v1.summary.FileWriter(str(tmp_path / "a"), graph_of_1x()) as writer:
        writer.flush()
    assert writer.get_logdir() == str(tmp_path / "a")
    path = tmp_path / "job.py"
    path.write_text(SOURCE)
    call = ["graph", f"{path}:newton", "--args", "tensor(1.0), tensor(1e-6)", "--format", "tensorboard"]
    assert main([*call, "-o", str(tmp_path / "b")]) == 0
    assert main(call) == 2 and "give it with -o DIR" in capsys.readouterr().err
    for folder, count in (("a", 22), ("b", 32)):
        read = EventAccumulator(str(tmp_path / folder))
        read.Reload()
        nodes = read.Graph().node
        assert len(nodes) >= count and "NextIteration" in {node.op for node in nodes}


def test_without_tensorboard_it_is_said_what_to_install(monkeypatch, tmp_path, capsys):
    for name in _MODULES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"TensorBoard's files are written by its library .*autoloop\[viewer\]"):
        v1.summary.FileWriter(str(tmp_path), graph_of_1x())
    path = tmp_path / "job.py"
    path.write_text(SOURCE)
    call = ["graph", f"{path}:newton", "--args", "tensor(1.0), tensor(1e-6)", "--format", "tensorboard"]
    assert main([*call, "-o", str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.startswith("autoloop: TensorBoard's files are written by its library")


@al.function
def nested(a, n):
    s = a
    for i in range(n):
        j = 0
        while j < i:
            s = np.tanh(s @ a) + j
            j += 1
    return s


def test_lines_end_in_a_direction_titles_stand_free_and_shared_enters_are_named():
    drawing = al.draw(nested, np.ones((3, 3)), np.int64(4))
    for path in re.findall(r'<path class="edge"[^>]* d="([^"]*)"', drawing.svg):
        points = [tuple(map(float, pair)) for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)(?= [LC]|$)", path)]
        assert all(one != other for one, other in zip(points, points[1:])), path
    titles = re.findall(r'<text x="([\d.]+)" y="[\d.]+" font-weight="bold" fill="#3b5578"', drawing.svg)
    assert len(titles) == 2
    named = {box.note for box in drawing.picture.boxes if box.style == "invariant"}
    assert named == {"a", "n", "iteration"}


def test_regions_show_their_code_when_the_mouse_rests_on_them():
    assert "def run(x, tolerance):" in al.draw(newton, *ARGS, stage="regions").svg


def test_pixels(tmp_path, monkeypatch, capsys):
    path = tmp_path / "job.py"
    path.write_text(SOURCE)
    call = ["graph", f"{path}:newton", "--args", "tensor(1.0), tensor(1e-6)", "--format", "png"]
    assert main(call) == 2 and "name it with -o FILE" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "resvg_py", None)
        with pytest.raises(ImportError, match=r"pixels are drawn by resvg-py .*autoloop\[viewer\]"):
            al.draw(newton, *ARGS).save(tmp_path / "a.png")
    pytest.importorskip("resvg_py")
    assert main([*call, "-o", str(tmp_path / "a.png")]) == 0
    al.draw(newton, *ARGS).save(tmp_path / "b.png")
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")

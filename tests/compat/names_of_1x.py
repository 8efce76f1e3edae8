"""Which names of 1.x there are: ``python tests/compat/names_of_1x.py`` writes ``docs/names-of-1.x.md``.

What TensorFlow has is kept in ``names_of_tensorflow.json``; where it is installed, the same command with
``--tensorflow`` writes that anew.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path

STORED = Path(__file__).with_name("names_of_tensorflow.json")
PAGE = Path(__file__).parents[2] / "docs" / "names-of-1.x.md"
ROOMS = ("", "nn", "train", "random", "initializers", "flags", "app")
#: classes whose methods are told, too
CLASSES = ("Session", "InteractiveSession", "Graph", "Variable", "VariableScope", "train.Saver", "train.Optimizer")
#: what the page calls the names that are not there -> a pattern, the first that matches
GROUPS = (
    ("modules and their likes", r"^(app|audio|autograph|bitwise|compat|config|contrib|data|debugging|distribut\w+|"
     r"dtypes|errors|estimator|experimental|feature_column|gfile|graph_util|image|io|keras|layers|linalg|lite|lookup|"
     r"logging|losses|manip|math|metrics|mixed_precision|mlir|profiler|python_io|quantization|queue|ragged|raw_ops|"
     r"resource_loader|saved_model|sets|signal|sparse|spectral|strings|summary|sysconfig|test|tpu|types|user_ops|"
     r"version|xla)$"),
    ("classes", r"^[A-Z]\w*[a-z]\w*$"),
    ("dtypes", r"^(q?u?int\d+(_ref)?|bfloat16(_ref)?|\w+_ref|resource|variant|half|double|complex|quint\w+|qint\w+)$"),
    ("files, records and text", r"read_file|write_file|matching_files|decode|encode|parse|string|substr|regex|"
     r"as_string|serialize|tensor_proto|base64|gfile|py_function|load_|import_graph|unicode"),
    ("quantisation", r"quanti|fake_quant"),
    ("sparse tensors", r"sparse"),
    ("segments, partitions and batches", r"segment|dynamic_|batch|space|depth|ragged|extract"),
    ("linear algebra", r"matrix|matmul|svd|qr|eig|cholesky|triangular|diag|linalg|adjoint|tridiagonal"),
    ("Fourier transforms", r"fft|dct"),
    ("special functions", r"igamma|gamma|zeta|beta|lbeta|bessel|erf|i0|i1"),
    ("variables and sessions", r"variable|session|partition|initial|scope|graph|device|regularizer|setdiff|resource"),
    ("constants of the installation", r"^[A-Z_]+$|^_"),
)  # fmt: skip


def _default(value):
    name = getattr(value, "name", None) if type(value).__name__ == "DType" else None
    if name is not None or type(value).__module__ == "numpy.dtypes":
        return name or str(value)
    return (
        str(value.value) if type(value).__module__.startswith("tensorflow") and hasattr(value, "value") else repr(value)
    )


def signature(f):
    """The parameters of a function as text, or None."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return None
    told = []
    for p in parameters:
        if p.name == "self":
            continue
        stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(p.kind.name, "")
        shown = "" if p.default is p.empty else f"={_default(p.default)}"
        told.append(f"{stars}{p.name}{'=...' if ' at 0x' in shown or 'numpy' in shown else shown}")
    return ", ".join(told)


def instances(tf):
    """One of each class that is told: some attributes are theirs alone."""
    with tf.Graph().as_default() as graph:
        variable = tf.Variable(1.0)
        rate = tf.train.GradientDescentOptimizer(0.1)
        return dict(zip(CLASSES, (
            tf.Session(), tf.Session(), graph, variable, tf.get_variable_scope(), tf.train.Saver(), rate,
        )))  # fmt: skip


def described(tf, has_instances=False):
    """The names of a namespace of 1.x, with the parameters of what can be called."""
    made = instances(tf) if has_instances else {}
    found = {}
    for room in ROOMS:
        owner = getattr(tf, room) if room else tf
        for name in dir(owner):
            if name[0] != "_" and not (room and inspect.ismodule(getattr(owner, name))):
                value = getattr(owner, name)
                found[f"{room}.{name}" if room else name] = signature(value) if callable(value) else None
    for name in CLASSES:
        owner = tf
        for part in name.split("."):
            owner = getattr(owner, part)
        owner = made.get(name, owner)
        for method in dir(owner):
            if method[0] != "_":
                value = getattr(owner, method)
                found[f"{name}.{method}"] = signature(value) if callable(value) else None
    return found


def store():
    import importlib

    tensorflow = importlib.import_module("tensorflow")
    found = described(tensorflow.compat.v1)
    lines = [f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
    STORED.write_text(f'{{"by": "TensorFlow {tensorflow.__version__}", "names": {{\n' + ",\n".join(lines) + "\n}}\n")


def _listed(names):
    return ", ".join(f"`{name}`" for name in sorted(names)) + "."


def rendered():
    """The page."""
    import autoloop.compat.v1 as v1

    stored = json.loads(STORED.read_text())
    theirs, ours = stored["names"], described(v1, True)
    both = {name for name in ours if name in theirs}
    lines = PAGE_HEAD.format(by=stored["by"], there=len(both), others=len(theirs) - len(both)).splitlines()
    tops = sorted({name for name in both if "." not in name})
    lines += ["", "## There", "", "`tf.` " + _listed(tops)]
    for owner in (*[room for room in ROOMS if room], *CLASSES):
        lines += ["", f"`tf.{owner}.` " + _listed(_of(both, owner))]
    lines += [
        "",
        "## There with other arguments",
        "",
        OTHER_ARGUMENTS,
        "",
        "| name | here | TensorFlow |",
        "| --- | --- | --- |",
    ]
    for name in sorted(both):
        if theirs[name] is not None and ours[name] is not None and _plain(ours[name]) != _plain(theirs[name]):
            lines.append(f"| `{name}` | `{ours[name] or '-'}` | `{theirs[name] or '-'}` |")
    lines += ["", "## There besides", "", BESIDES, "", _listed(n for n in ours if "." not in n and n not in theirs)]
    lines += ["", "## Not there"]
    missing = {name for name in theirs if name not in ours}
    tops = {name for name in missing if "." not in name}
    for title, pattern in (*GROUPS, ("others", "")):
        group = {name for name in tops if re.search(pattern, name)}
        tops -= group
        if group:
            lines += ["", f"**{title}**: {_listed(group)}"]
    for owner in (*[room for room in ROOMS if room], *CLASSES):
        if _of(missing, owner):
            lines += ["", f"**`tf.{owner}`**: {_listed(_of(missing, owner))}"]
    return "\n".join(lines) + "\n"


def _of(names, owner):
    """The names of an owner, without it."""
    rest = (name.removeprefix(f"{owner}.") for name in names if name.startswith(f"{owner}."))
    return {name for name in rest if "." not in name}


def _plain(parameters):
    """Parameters without what their names for operations are by default."""
    return re.sub(r"name='\w*'", "name=None", parameters).replace("'", "")


PAGE_HEAD = """\
# Names of 1.x

`import autoloop.compat.v1 as tf` runs programs of TensorFlow 1: graphs, sessions, variables, loops, gradients,
optimizers, saving. This page says which names there are. `python tests/compat/names_of_1x.py` writes it from the
namespace itself and from the names of {by}, of which {there} are there and {others} are not; a test compares.
A name that is not there raises `AttributeError` with a hint to this page.

## What is as in TensorFlow, and what is not

* Names, order and defaults of arguments, dtypes and shapes of results, names of variables and operations of the
  functions below are TensorFlow's. Whole programs are run under both: `tests/compat/programs_of_1x.py`.
* Random numbers are TensorFlow's own for the same seeds (`seed=`, or with `set_random_seed` besides), run by run:
  uniform, normal and truncated ones, integers, shuffles, and what initialisers and dropout make of them. Not so the
  second and later runs of `multinomial`, and operations without a seed of their own in a graph with one: their seed is
  made of the number of operations.
* Errors have Python's types: a failed assertion (`Assert`, `assert_*` in a run, `check_numerics`) is an
  `AssertionError`, an index out of range an `IndexError`, a variable without a value a `RuntimeError`, a time limit a
  `TimeoutError`; there is no `tf.errors`. What TensorFlow refuses when the graph is built for its types (`ValueError`,
  `TypeError`) is refused with the same types.
* Two dtypes meet as in NumPy, where TensorFlow refuses: `int32 + float32` is float64. Functions of floats take
  integers.
* There is one machine. `device`, `ConfigProto`, `use_locking`, `colocate_gradients_with_ops` and their likes are
  accepted and place, lock and change nothing.
* `Session.partial_run` is not there: run the first fetches, and feed their values to the next run.
* `train.Saver` writes files of its own (`PATH.variables`: a table and bytes, of which nothing is run when they are
  read, written whole or not at all). TensorFlow's checkpoints are not read, and no graph is written.
* `RunOptions(trace_level=RunOptions.FULL_TRACE)` with a `RunMetadata` gives `step_stats` (when each operation ran),
  and `as_chrome_trace()`.
* `as_graph_def()` gives the nodes as they are lowered, of which loops are Enter, Merge, Switch, NextIteration and Exit;
  operations have the names of this library. `SerializeToString()` needs the extra `viewer`.
* The gradient of `softmax_cross_entropy_with_logits` is that of the formula; TensorFlow's is the same where the
  probabilities of each row sum to 1."""
OTHER_ARGUMENTS = "What is written here is what is taken; names and positions that both have mean the same."
BESIDES = "What `autoloop` has under names that 1.x does not know:"

if __name__ == "__main__":
    if "--tensorflow" in sys.argv:
        del sys.argv[1:]  # which its flags would read
        store()
    else:
        PAGE.write_text(rendered())

"""The command ``autoloop``: show, run, graph, trace and explain functions of a file.

Everything here works after a plain install; nothing but the standard library parses, colours and draws.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoloop_runtime.running.prepare import EXECUTORS

from .. import __version__
from ..versions import show_versions
from ..viewing.stage_names import named
from ..viewing.stage_texts import STAGES as TEXTS
from .error_command import explain_code
from .graph_command import FORMATS, STAGES, draw
from .problems import UsageError, report_failure
from .report_command import write_report
from .run_command import COMMANDS
from .show import print_source

_ARGS_HELP = (
    "arguments as in a call: Python literals, and arrays made by zeros, ones, full, eye, arange, linspace, random, "
    'normal, tensor, array, with a dtype last if wanted: "10, zeros(3, 3), x=ones(5, float64)"; np.zeros(3) and '
    "np.array([1.5]) have NumPy's dtypes. A Python number is a Python value to the function (loops on it unroll); "
    "tensor(10) is a tensor. float32[None, 3] stands for any such tensor where no value is needed"
)
_DEFAULT_STAGE = "by default converted; of a derivative, such as grad(f), with --args structured"
_EPILOG = """examples:
  autoloop show solver.py:newton --side-by-side
  autoloop run solver.py:newton --args "tensor(2.0), 1e-6" --repeat 100
  autoloop graph solver.py:newton --args "tensor(2.0), 1e-6" -o newton.svg
  autoloop trace solver.py:newton --args "tensor(2.0), 1e-6" -o trace.json
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        By default the arguments of the process.

    Returns
    -------
    int
        The exit code: 0, or 2 if the command cannot be carried out or the function fails.
    """
    try:
        options = _parser().parse_args(argv)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 2
    command: Callable[[argparse.Namespace], None] = options.command
    try:
        command(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"autoloop: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, e.g. head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        sys.stdout.flush()
        report_failure(error)
        return 2
    return 0


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments"):
            message += "; the arguments of FUNC are one text: --args 'zeros(3), 1e-6'"
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="autoloop",
        description="See what autoloop makes of a function: FILE.py:FUNC, MODULE:FUNC or FILE.ipynb:FUNC, where FUNC "
        "may be Class.method.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"autoloop {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_show(_command(commands, "show", print_source, "print the converted source"))
    one = _command(commands, "run", COMMANDS["run"], "call the function and print its result")
    _add_running(one)
    one.add_argument("--repeat", type=_positive, default=1, metavar="N", help="call it N times and print times")
    _add_graph(_command(commands, "graph", draw, "draw the dataflow graph"))
    one = _command(commands, "trace", COMMANDS["trace"], "run the function and write a timeline")
    _add_running(one, "dataflow")
    one.add_argument("-o", "--output", required=True, metavar="FILE", help="for ui.perfetto.dev or chrome://tracing")
    one = _command(
        commands,
        "explain",
        COMMANDS["explain"],
        "say what became of loops and calls, why, and what to do",
    )
    one.add_argument("--json", action="store_true", help="as JSON")
    _add_executor(one)
    one = _command(commands, "report", write_report, "write a page with every stage, linked by lines", "?")
    one.add_argument(
        "--trace", metavar="FILE", help="instead of a function: the timeline of a file that trace has written"
    )
    one.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the page: one .html that needs no other file"
    )
    _add_executor(one)
    codes = commands.add_parser(
        "error", help="say what the code of a message means", description="Print what it means."
    )
    codes.add_argument(
        "code", metavar="CODE", nargs="?", help="such as AL105; without one the titles of all are printed"
    )
    codes.set_defaults(command=explain_code)
    words = "print versions, settings and folders, for reports of defects"
    versions = commands.add_parser("versions", help=words, description=words[0].upper() + words[1:] + ".")
    versions.set_defaults(command=lambda _: show_versions())
    return parser


def _command(
    commands: Any, name: str, action: Callable[[argparse.Namespace], None], text: str, targets: str | None = None
) -> _Parser:
    parser: _Parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    words = "the function; its file, module or notebook is imported"
    parser.add_argument("target", metavar="FILE.py:FUNC", nargs=targets, help=words)
    parser.add_argument("--args", metavar="ARGS", help=_ARGS_HELP)
    parser.set_defaults(command=action)
    return parser


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--side-by-side", action="store_true", help="each line beside what comes of it")
    parser.add_argument("--html", action="store_true", help="a page with both")
    parser.add_argument(
        "--stage", choices=tuple(TEXTS), type=named,
        help="; ".join([*[f"{name}: {words}" for name, words in TEXTS.items()], _DEFAULT_STAGE]),
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of printing")


def _add_graph(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, help="by default after the name of FILE, or dot; tensorboard: FILE is a folder"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write there instead of printing")
    parser.add_argument(
        "--stage", choices=tuple(STAGES), type=named, default="lowered",
        help="; ".join(f"{name}: {words}" for name, words in STAGES.items()),
    )  # fmt: skip


def _add_executor(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    words = default or "the function's own"
    parser.add_argument("--executor", choices=EXECUTORS, default=default, help=f"what runs it (default: {words})")


def _add_running(parser: argparse.ArgumentParser, executor: str | None = None) -> None:
    _add_executor(parser, executor)
    parser.add_argument("--threads", type=_positive, metavar="N", help="worker threads")


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"needs a positive integer, not {text!r} [AL802]")
    return value

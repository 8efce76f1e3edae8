"""From a converted tree to its code.

The tree itself is compiled, under the user's file name. It stands inside a factory whose parameters are the
free variables, so that the compiler treats them as such; only its code object is used.
"""

from __future__ import annotations
import __future__

import copy
import inspect
import types
import warnings
from collections.abc import Iterator, Sequence

import gast

from .callables import CONVERTED_MARK
from .exits import block_fields
from .nodes import Maker, Node
from .source import FunctionSource
from .translation import to_ast

_FACTORY = "make_converted"
_ATTEMPT = "autoloop_attempt_"
_FUTURE_FLAGS = 0
for _name in __future__.all_feature_names:
    _FUTURE_FLAGS |= getattr(__future__, _name).compiler_flag


def compile_function(
    tree: Node,
    source: FunctionSource,
    original: types.CodeType,
    ops: str,
    generated: Sequence[str],
) -> types.CodeType:
    """Compile a converted tree and return the code object of the function itself.

    Parameters
    ----------
    tree : gast.FunctionDef or gast.Lambda
        The converted function.
    source : FunctionSource
        Where it comes from.
    original : types.CodeType
        The user's code object.
    ops : str
        The free variable that holds the operators.
    generated : sequence of str
        Names of generated functions; tracebacks show the user's function name in their place.
    """
    module = to_ast(_in_factory(tree, source, original, ops))
    flags = original.co_flags & _FUTURE_FLAGS
    with warnings.catch_warnings():
        # What Python finds odd it has told when it compiled the user's own code.
        warnings.simplefilter("ignore", SyntaxWarning)
        compiled = compile(module, source.filename, "exec", flags=flags, dont_inherit=True)
    found = [code for code in _inner_codes(compiled) if code.co_name == original.co_name]
    code = found[-1]
    prefix = code.co_qualname
    return _finished(code, prefix, original, frozenset(generated))


def _in_factory(tree: Node, source: FunctionSource, original: types.CodeType, ops: str) -> Node:
    make = Maker(tree)
    if isinstance(tree, gast.FunctionDef):
        tree = copy.copy(tree)
        tree.body = _with_clean_tracebacks(_letting_refusals_pass(tree.body, ops), ops)
        # A function with parameters in brackets would stand in a scope of its own; only its code is wanted.
        tree.type_params = []
    body = [tree]
    if isinstance(tree, gast.Lambda):
        # Defaults are evaluated by the user's own definition.
        tree = gast.copy_location(gast.Lambda(_without_defaults(tree.args), tree.body), tree)
        body = [make.return_(tree)]
    elif tree.name not in original.co_freevars:
        # Otherwise the factory would hide the global that a recursive call means.
        body = [make.globals([tree.name]), tree]
    factory: Node = make.function(_FACTORY, [ops, *original.co_freevars], body)
    if source.class_name is not None:
        # Names like __x are mangled by the class around them.
        factory = make.place(gast.ClassDef(source.class_name, [], [], [factory], [], []))
    return gast.Module([factory], [])


def _letting_refusals_pass(body: list[Node], ops: str, of_class: bool = False) -> list[Node]:
    """Put a handler before the user's own that raises on what autoloop refuses: a graph must not hold the way out.

    It is part of what runs and not of what is shown.
    """
    for statement in list(body):
        for _, _, block in block_fields(statement):  # before: what is put in here is no manager of the user's
            _letting_refusals_pass(block, ops, of_class)
        if isinstance(statement, gast.With):
            for item in statement.items:
                make = Maker(item.context_expr)
                item.context_expr = make.call(make.attribute(make.load(ops), "managed"), item.context_expr)
        if isinstance(statement, gast.Try):
            _watched(body, statement, ops, of_class)
        if isinstance(statement, gast.Try) and statement.handlers:
            make = Maker(statement.handlers[0])
            kinds = make.call(make.attribute(make.load(ops), "refusals"))
            again = make.place(gast.Raise(None, None))
            statement.handlers.insert(0, make.place(gast.ExceptHandler(kinds, None, [again])))
        if isinstance(statement, gast.FunctionDef | gast.ClassDef):
            _letting_refusals_pass(statement.body, ops, isinstance(statement, gast.ClassDef))
    return body


def _watched(body: list[Node], statement: Node, ops: str, of_class: bool) -> None:
    """Let the operators look at what a ``try`` has added to a graph, and at what its ``finally`` adds.

    In the body of a class they look at the ``try`` only: a name for both would be an attribute.
    """
    make = Maker(statement)
    kinds = [copy.deepcopy(one.type) if one.type else make.load("BaseException") for one in statement.handlers]
    caught = [make.lambda_(make.tuple(kinds))] if kinds else []
    watching = make.call(make.attribute(make.load(ops), "attempt"), *caught)
    if of_class or not statement.finalbody:
        statement.body = [_inside(statement.body, watching)]
        return
    name = f"{_ATTEMPT}{id(statement)}"
    body.insert(body.index(statement), make.set_name(name, watching))
    statement.body = [_inside(statement.body, make.load(name))]
    last = make.call(make.attribute(make.load(name), "last"))
    statement.finalbody = [_inside(statement.finalbody, last)]


def _inside(block: list[Node], manager: Node) -> Node:
    make = Maker(block[0])
    return make.place(gast.With([make.place(gast.withitem(manager, None))], block, None))


def _with_clean_tracebacks(body: list[Node], ops: str) -> list[Node]:
    """Return a function's body with a handler around it that takes the operators' frames out of tracebacks.

    It is part of what runs and not of what is shown: to the user's code it makes no difference.
    """
    has_docstring = isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant)
    first, rest = (body[:1], body[1:]) if has_docstring else ([], body)
    if not rest:
        return body
    make = Maker(rest[0])
    hide = make.expression(make.call(make.attribute(make.load(ops), "hide_own_frames")))
    handler = make.place(gast.ExceptHandler(None, None, [hide, make.place(gast.Raise(None, None))]))
    return [*first, make.place(gast.Try(rest, [handler], [], []))]


def _without_defaults(args: Node) -> Node:
    return gast.arguments(
        args.args, args.posonlyargs, args.vararg, args.kwonlyargs, [None] * len(args.kwonlyargs), args.kwarg, []
    )


def _inner_codes(module: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code objects defined directly in the factory."""
    code = module
    while code.co_name != _FACTORY:
        code = next(one for one in code.co_consts if isinstance(one, types.CodeType))
    yield from (one for one in code.co_consts if isinstance(one, types.CodeType))


def _finished(code: types.CodeType, prefix: str, original: types.CodeType, generated: frozenset[str]) -> types.CodeType:
    """Mark a code object and all inside it as converted, under the user's names."""
    constants = tuple(
        _finished(one, prefix, original, generated) if _is_function_code(one) else one for one in code.co_consts
    )
    name = original.co_name if code.co_name in generated else code.co_name
    qualname = original.co_qualname + code.co_qualname.removeprefix(prefix)
    if code.co_name in generated:
        qualname = original.co_qualname
    return code.replace(co_consts=(*constants, CONVERTED_MARK), co_name=name, co_qualname=qualname)


def _is_function_code(constant: object) -> bool:
    """Return whether a constant is the code of a function; what a class body holds is converted when it is called."""
    return isinstance(constant, types.CodeType) and bool(constant.co_flags & inspect.CO_OPTIMIZED)

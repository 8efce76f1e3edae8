"""LLVM IR whose instructions are marked with lines, as IR that tells LLVM of these lines, and the lines of what LLVM
makes of it."""

from __future__ import annotations

import re

#: what ends a marked line of IR, see ``writer.marked_lines``
_MARK = re.compile(r"  ; @(\d+)$", re.M)
_FUNCTION = re.compile(r"^define [^\n]*\{\n.*?^\}", re.M | re.S)
_CALL = re.compile(r"^\s+(?:%\S+ = )?(?:tail |musttail |notail )?call ")
_INSTRUCTION = re.compile(r"^[\s\]]")
_METADATA = re.compile(r"^!(\d+) = ", re.M)


def with_debug_lines(ir: str) -> str:
    """Return IR in which marks have become debug information: LLVM tells in assembly and remarks of which line
    something is; of line 0 what is of none."""
    if not _MARK.search(ir):
        return ir
    first = max((int(number) for number in _METADATA.findall(ir)), default=-1) + 1
    made = _Debug(first)
    return _MARK.sub("", _FUNCTION.sub(lambda found: made.function(found[0]), ir)) + made.metadata()


class _Debug:
    """The metadata that says of which lines instructions are; its numbers begin at ``first``."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._nodes = [
            '!DIFile(filename: "source", directory: "")',
            f"distinct !DICompileUnit(language: DW_LANG_C99, file: !{first}, isOptimized: true, runtimeVersion: 0, "
            "emissionKind: DebugDirectivesOnly)",
            '!{i32 2, !"Debug Info Version", i32 3}',
            "!DISubroutineType(types: !{null})",
        ]

    def _add(self, node: str) -> str:
        self._nodes.append(node)
        return f"!{self._first + len(self._nodes) - 1}"

    def function(self, text: str) -> str:
        """Return a function with debug information. All need it: LLVM forgets that of what it puts into one without."""
        head, *lines = text.split("\n")
        name = head.partition("@")[2].partition("(")[0]
        unit, file, kind = f"!{self._first + 1}", f"!{self._first}", f"!{self._first + 3}"
        scope = self._add(
            f'distinct !DISubprogram(name: "{name}", file: {file}, type: {kind}, unit: {unit}, '
            "spFlags: DISPFlagDefinition | DISPFlagOptimized)"
        )
        places: dict[str, str] = {}
        for number, line in enumerate(lines):
            marked = _MARK.search(line)
            line = line[: marked.start()] if marked else line
            if not _INSTRUCTION.match(line) or not (marked or _CALL.match(line)):
                continue
            of = marked[1] if marked else "0"  # every call needs a place
            if of not in places:
                places[of] = self._add(f"!DILocation(line: {of}, scope: {scope})")
            lines[number] = f"{line}, !dbg {places[of]}"
        return "\n".join([f"{head.removesuffix('{')}!dbg {scope} {{", *lines])

    def metadata(self) -> str:
        """Return the metadata, to stand behind the rest."""
        nodes = [f"!{self._first + k} = {node}" for k, node in enumerate(self._nodes)]
        named = [f"!llvm.dbg.cu = !{{!{self._first + 1}}}", f"!llvm.module.flags = !{{!{self._first + 2}}}"]
        return "\n".join([*named, *nodes, ""])


_DEBUG = re.compile(r",? !dbg !(\d+)")
_PLACE = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.M)
_DEBUG_NODE = re.compile(r"^(!\d+ = (distinct )?!DI|!llvm\.dbg\.cu|!llvm\.module\.flags|.*!\"Debug Info Version\")")


def located_ir(text: str) -> tuple[str, list[int]]:
    """Return IR without what is for debuggers, and of which line each of its lines is, 0 if of none."""
    places = {number: int(line) for number, line in _PLACE.findall(text)}
    kept: list[str] = []
    lines: list[int] = []
    for one in text.removesuffix("\n").split("\n"):
        if _DEBUG_NODE.match(one):
            continue
        found = _DEBUG.search(one)
        kept.append(_DEBUG.sub("", one))
        lines.append(places.get(found[1], 0) if found else 0)
    return "\n".join([*kept, ""]), lines


_REMARK = re.compile(r"^remark: .*?:(\d+):\d+: (.*)$", re.M)


def located_remarks(text: str) -> list[tuple[int, str]]:
    """Return the remarks that LLVM printed, each with the line that it is on; none twice."""
    found = list(dict.fromkeys((int(line), words.strip()) for line, words in _REMARK.findall(text)))
    return [
        (line, words) for line, words in found
        if not any(other != words and other.startswith(words) and line == at for at, other in found)
    ]  # fmt: skip


_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)")
#: of no interest to who reads the code: where debuggers and unwinders find things
_LEFT_OUT = re.compile(
    r"\s*(\.loc\s|\.file\s|\.cfi_|\.Ltmp\d+:|\.Lfunc_(begin|end)\d+:|\.section\s+\"?\.debug|\.size\s)"
)


def located_assembly(text: str) -> tuple[str, list[int]]:
    """Return assembly without what is for debuggers, and of which line each of its lines is, 0 if of none."""
    kept: list[str] = []
    lines: list[int] = []
    line = 0
    for one in text.removesuffix("\n").split("\n"):
        found = _LOC.match(one)
        if found:
            line = int(found[1])
        if one and not one[0].isspace() and not one.startswith(".L"):  # a function
            line = 0
        if _LEFT_OUT.match(one):
            continue
        kept.append(one)
        lines.append(line if one.startswith("\t") and not one.startswith("\t.") else 0)
    return "\n".join([*kept, ""]), lines

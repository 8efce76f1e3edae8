"""Standalone html pages: source beside converted source, source beside its graph."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .highlight import CSS, spans_of, to_html

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font-family: Helvetica, Arial, sans-serif; margin: 24px; color: #222; background: #fff; }}
h1 {{ font-size: 20px; margin: 0 0 4px; }} .note {{ color: #6b6b6b; font-size: 13px; margin: 0 0 16px; }}
.columns {{ display: flex; gap: 24px; align-items: flex-start; flex-wrap: wrap; }}
section {{ min-width: 0; max-width: 100%; }} h2 {{ font-size: 14px; margin: 0 0 6px; color: #3b5578; }}
pre {{ background: #f7f9fc; border: 1px solid #d9e1ec; border-radius: 8px; padding: 10px 0; margin: 0;
  overflow-x: auto; font: 13px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
pre .row {{ display: block; padding: 0 14px 0 0; white-space: pre; }}
pre .row::before {{ content: attr(data-line); display: inline-block; width: 3.2em; margin-right: 1em;
  text-align: right; color: #9aa7b8; }}
pre .row.lit {{ background: #fff3c4; }} svg .node {{ cursor: default; }}
svg .node.lit > :nth-child(2) {{ stroke-width: 3; }}
{css}</style>
</head>
<body>
<h1>{title}</h1>
<p class="note">{note}</p>
<div class="columns">
{sections}
</div>
{script}</body>
</html>
"""

#: resting on a node marks the line it was made from, and the other way round
_SCRIPT = """\
<script>
for (const one of document.querySelectorAll('[data-line]:not([data-line=""])')) {
  const same = document.querySelectorAll(`[data-line="${one.dataset.line}"]`);
  one.addEventListener("mouseenter", () => same.forEach((e) => e.classList.add("lit")));
  one.addEventListener("mouseleave", () => same.forEach((e) => e.classList.remove("lit")));
}
</script>
"""


def page(title: str, note: str, sections: list[str], *, linked: bool = False) -> str:
    """Return a whole page.

    Parameters
    ----------
    title, note : str
        The heading, and a line below it.
    sections : list of str
        Html, side by side where there is room.
    linked : bool
        Nodes and lines of source with the same line number light up together.
    """
    return _PAGE.format(
        title=escape(title), note=escape(note), css=CSS, sections="\n".join(sections), script=_SCRIPT if linked else ""
    )


def listing(heading: str, source: str, first: int = 1, comes_of: Sequence[int] | None = None) -> str:
    """Return a section with numbered lines of source; ``first`` is the number of the first one.

    Of what was made of another source it is the numbers of that from which its lines *come*, 0 for none.
    """
    lines = spans_of(source)
    numbers = range(first, first + len(lines)) if comes_of is None else [one or "" for one in comes_of]
    rows = [
        f'<span class="row" data-line="{number}">{to_html(spans)}</span>'
        for number, spans in zip(numbers, lines, strict=True)
    ]
    return f"<section><h2>{escape(heading)}</h2><pre>{''.join(rows)}</pre></section>"

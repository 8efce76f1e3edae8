"""The page itself: the built front end, and the data that it shows."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent
#: nothing is asked for, nothing is sent; what runs is the script below alone
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<noscript>This page shows its data with JavaScript, which is switched off.</noscript>
<script type="application/json" id="data">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


def html_page(data: dict[str, Any]) -> str:
    """Return the page that shows ``data``, which is JSON's kind of values."""
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return _PAGE.format(
        policy=_POLICY, title=escape(data["title"]), style=style, data=embedded(data), script=_harmless(script)
    )


def embedded(data: Any) -> str:
    """Return JSON in which no tag begins or ends, whatever its texts hold."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _harmless(script: str) -> str:
    """Return a script that does not end where a text in it says so."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")

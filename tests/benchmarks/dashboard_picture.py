"""The picture of Dask's dashboard: ``python tests/benchmarks/dashboard_picture.py docs/dashboard.png``.

It runs ``samples/load_profiles.py`` and takes the picture while its loop goes on, or when that has ended. It needs
Chromium (``apt install chromium``) and Bokeh (``pip install bokeh``), and is no part of the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

SAMPLE = Path(__file__).parents[2] / "samples" / "load_profiles.py"
#: seconds that a browser and a sample have to begin
PATIENCE = 120.0
SIZE = (1280, 760)


class Page:
    """A page of a browser that is told what to do by its debugging protocol."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection, self._numbers = connection, itertools.count(1)

    async def call(self, method: str, **given: Any) -> Any:
        number = next(self._numbers)
        await self._connection.write_message(json.dumps({"id": number, "method": method, "params": given}))
        while True:
            message = await self._connection.read_message()
            if message is None:
                raise SystemExit("the browser has gone")
            answer = json.loads(message)
            if answer.get("id") == number:
                return answer.get("result")

    async def picture(self) -> bytes:
        width, height = SIZE
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        return base64.b64decode((await self.call("Page.captureScreenshot", format="png"))["data"])


async def seen(stream: asyncio.StreamReader, pattern: bytes, who: str) -> bytes:
    """Return what matches a pattern in what is printed."""
    while line := await stream.readline():
        found = re.search(pattern, line)
        if found:
            return found[1]
    raise SystemExit(f"the {who} has ended too early")


async def page_at(port: str) -> Page:
    """Return the page of the browser whose debugging protocol is spoken there."""
    pages = json.load(urllib.request.urlopen(f"http://{port}/json"))
    where = next(one["webSocketDebuggerUrl"] for one in pages if one["type"] == "page")
    return Page(await websocket_connect(where, max_message_size=1 << 28))


async def taken(days: int, after: float, chromium: str) -> bytes:
    """Return the picture of the dashboard so many seconds after it is open, or when the loop has ended."""
    pipe = asyncio.subprocess.PIPE
    sample = await asyncio.create_subprocess_exec(
        sys.executable, "-u", str(SAMPLE), str(days), "--wait", stdin=pipe, stdout=pipe
    )
    assert sample.stdout is not None
    try:
        found = await asyncio.wait_for(seen(sample.stdout, rb"(http://\S+/status)", "sample"), PATIENCE)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = await asyncio.create_subprocess_exec(
                chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                "--remote-debugging-port=0", "--remote-allow-origins=*", f"--window-size={SIZE[0]},{SIZE[1]}",
                f"--user-data-dir={profile}", found.decode(), stdout=subprocess.DEVNULL, stderr=pipe,
            )  # fmt: skip
            try:
                assert browser.stderr is not None
                port = await asyncio.wait_for(seen(browser.stderr, rb"listening on ws://([^/]+)/", "browser"), PATIENCE)
                page = await page_at(port.decode())
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(seen(sample.stdout, rb"(rounds in)", "sample"), after)
                return await page.picture()
            finally:
                browser.terminate()
                await browser.wait()
    finally:
        await sample.communicate(b"\n")  # it ends, when it is done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("picture", type=Path)
    parser.add_argument("--days", type=int, default=400_000)
    parser.add_argument("--after", type=float, default=20.0, help="seconds after which the picture is taken, at most")
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    options.picture.write_bytes(asyncio.run(taken(options.days, options.after, options.chromium)))


if __name__ == "__main__":
    main()

"""Pictures look the same whoever draws them: Chromium, librsvg, resvg."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET

import autoloop as al
import numpy as np
import pytest
from autoloop.viewing.pictures import to_png

pytestmark = pytest.mark.nightly
Image = pytest.importorskip("PIL.Image")

#: so many pixels to a side are seen as one, and so far may two pictures differ there: letters differ by 25 of 255, an
#: arrowhead that points elsewhere by 90
BLOCK, MOST = 6, 45


@al.function
def nested(a, n):
    s = a
    for i in range(n):
        j = 0
        while j < i:
            s = np.tanh(s @ a) + j
            j += 1
        if i > 2:
            print("at", i)
            s = s / 2
    return s


@al.function
def of_loop(w, x, n):
    def powers(w, x, n):
        for _ in range(n):
            x = al.tanh(al.matmul(x, w))
        return al.sum(x)

    return al.grad(powers)(w, x, n)


@al.function
def of_rows(rows):
    return al.map_fn(lambda row: row * row + 1, rows)


CASES = {
    "nested": (nested, (np.ones((3, 3)), np.int64(4))),
    "gradient": (of_loop, (al.ones([3, 3]), al.ones([2, 3]), al.constant(5))),
    "rows": (of_rows, (al.ones([5, 2]),)),
}


def blocks(path, size):
    image = Image.open(path).convert("RGBA")
    sheet = Image.new("RGBA", image.size, "white")
    sheet.alpha_composite(image)
    small = sheet.convert("L").resize((size[0] // BLOCK, size[1] // BLOCK), Image.Resampling.BOX)
    return np.asarray(small, float)


def by_chromium(svg, png, size, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1"]
    options += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={size[0]},{size[1]}", f"--screenshot={png}"]
    subprocess.run([chromium, *options, svg.as_uri()], check=True, capture_output=True, timeout=120)


def by_librsvg(svg, png, size, tmp_path):
    if shutil.which("rsvg-convert") is None:
        pytest.skip("no rsvg-convert")
    subprocess.run(["rsvg-convert", str(svg), "-o", str(png)], check=True, timeout=120)


def by_resvg(svg, png, size, tmp_path):
    pytest.importorskip("resvg_py")
    png.write_bytes(to_png(svg.read_text(encoding="utf-8")))


@pytest.mark.parametrize("other", [by_librsvg, by_resvg])
@pytest.mark.parametrize("stage", ["structured", "regions", "lowered"])
@pytest.mark.parametrize("name", CASES)
def test_the_same_in_a_browser_and_elsewhere(name, stage, other, tmp_path):
    f, args = CASES[name]
    svg, seen, drawn = tmp_path / "a.svg", tmp_path / "seen.png", tmp_path / "drawn.png"
    al.draw(f, *args, stage=stage).save(svg)
    root = ET.fromstring(svg.read_text(encoding="utf-8"))
    size = int(root.get("width")), int(root.get("height"))
    by_chromium(svg, seen, size, tmp_path)
    other(svg, drawn, size, tmp_path)
    difference = np.abs(blocks(seen, size) - blocks(drawn, size))
    assert difference.max() < MOST, np.unravel_index(difference.argmax(), difference.shape)

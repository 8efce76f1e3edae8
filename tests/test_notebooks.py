"""The notebooks of ``docs`` are executed, and give what they are stored with."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import notebooks
import pytest

PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))
#: what tells on which machine a notebook was executed
MACHINES = re.compile(r"/tmp/|/home/|/root/|/usr/|[A-Z]:\\\\|site-packages|ipykernel_|0x[0-9a-f]{6}")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_what_is_stored_is_shown_anywhere(path):
    text = path.read_text(encoding="utf-8")
    assert not MACHINES.search(text)
    shown = [one for cell in json.loads(text)["cells"] for one in cell.get("outputs", ())]
    for one in shown:
        if "image/svg+xml" in one.get("data", {}):
            ET.fromstring("".join(one["data"]["image/svg+xml"]))
    assert shown and all(one.get("name") != "stderr" for one in shown)


@pytest.mark.nightly
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_kernel_gives_what_is_stored(path):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    stored = list(notebooks.outputs(nbformat.read(path, as_version=4)))
    assert list(notebooks.outputs(notebooks.executed(path))) == stored

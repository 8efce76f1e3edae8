"""How the documents are built: ``sphinx-build -W -b html docs PLACE``, without network.

The pages are Markdown, and read as well where the repository is shown; what leads from them to files outside of this
folder is mended here.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "_ext"))

project = "autoloop"
author = "the authors of autoloop"
copyright = author
_MAIN = (ROOT / "autoloop" / "__init__.py").read_text(encoding="utf-8")
release = version = re.findall(r'^__version__ = "(.+)"', _MAIN, re.MULTILINE)[0]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "numpydoc",
    "no_network",
    "public_names",
    "repository_links",
    "replay_page",
]
exclude_patterns = ["_build", "notebooks"]
source_suffix = {".md": "markdown"}
nitpicky = False

# Markdown
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
#: the pages are read by themselves as well, and begin with the heading that suits them
suppress_warnings = ["myst.header"]

# the reference
add_module_names = False
autosummary_generate = False  # numpydoc brings it
autodoc_typehints = "none"  # the tables of parameters say it
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"
doctest_global_setup = """
import warnings

import numpy as np

import autoloop
import autoloop as al

np.set_printoptions(precision=4)
"""
doctest_test_doctest_blocks = "default"

# the look
html_theme = "pydata_sphinx_theme"
html_title = f"autoloop {release}"
html_static_path = ["_static"]
html_css_files = ["autoloop.css"]
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
html_theme_options = {
    "logo": {"text": "autoloop"},
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
os.environ.setdefault("AUTOLOOP_CACHE", "0")  # what is compiled while the documents are made is not kept

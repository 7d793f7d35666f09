"""Configuration of the documentation's build; CONTRIBUTING.md has the command."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent / "_extensions")]
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # pages run stablehlo-interp
os.environ["NO_COLOR"] = "1"  # output comes in pieces, which may end within the characters that set a colour

from stablehlo_ref import __version__  # noqa: E402

project = "stablehlo-ref"
copyright = "the stablehlo-ref authors"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "myst_nb",
    "op_pages",
    "command_line",
    "mlir_lexer",
]
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "furo"
html_title = "stablehlo-ref"

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_in_temp = True  # pages write files
suppress_warnings = ["mystnb.unknown_mime_type"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
intersphinx_mapping: dict[str, tuple[str, None]] = {}  # the build needs no network

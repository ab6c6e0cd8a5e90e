"""The browser code of the chart library, out of the Python package that brings it: nothing is fetched from elsewhere.

Plotly puts style elements into the page, which our content security policy forbids, unless elements with their ids are
there already. So the ids are looked up in the bundle, and pages with charts carry a placeholder for each.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_STYLE_ID = re.compile(rb'document\.getElementById\("([0-9a-f]{32,})"\)\)\{')
# Plotly's own sheet: an element with this id and class tells it that the rules are in a style sheet of ours.
_OWN_STYLE_ID = "plotly.js-style-global"


@cache
def plotly_script() -> bytes:
    """The bundle."""
    found = find_spec("plotly")
    assert found is not None, "the server extra brings plotly"
    assert found.origin is not None, "plotly is a package of files"
    return (Path(found.origin).parent / "package_data" / "plotly.min.js").read_bytes()


@cache
def plotly_style_ids() -> tuple[str, ...]:
    """The ids of the style elements that the bundle would make."""
    return (_OWN_STYLE_ID, *sorted({found.decode() for found in _STYLE_ID.findall(plotly_script())}))

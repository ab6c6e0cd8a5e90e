"""The template engine: everything is escaped, a name that is not there is an error, and numbers have one look."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from whileai_query.pages import formats, text
from whileai_query.times import iso

templates = Environment(
    loader=PackageLoader("whileai_query.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
for _shown in (
    formats.duration,
    formats.count,
    formats.compact,
    formats.usd,
    formats.size,
    formats.percent,
    formats.number,
    formats.many,
    text.visible,
    text.one_line,
    text.plain,
    text.fold,
):
    templates.filters[_shown.__name__] = _shown
templates.filters["iso_nanos"] = lambda text: iso(int(text)) if text.strip("0") else None
templates.globals["share"] = formats.share

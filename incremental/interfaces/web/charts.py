"""Charts: SVG drawn by pygal on the server, coloured by ``app.css``.

pygal's scripts, styles and links are removed, because the pages' Content-Security-Policy allows no
inline script or style; its class names stay for the style sheet.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from lxml import etree
from markupsafe import Markup

_SVG = "{http://www.w3.org/2000/svg}"
_WIDE, _NARROW = (720, 260), (440, 230)
"""Full and half page width, with the same text size."""
_SHAPE = {
    "margin": 8,
    "show_dots": False,
    "js": (),
    "no_prefix": True,
    "explicit_size": False,
    "show_minor_x_labels": False,
    "show_legend": False,
    "truncate_label": -1,
    "max_scale": 6,
    "spacing": 4,
    "print_values": False,
    "disable_xml_declaration": True,
}
# A new installation shows its first day, not six empty ones before it.
_LEAST_COLUMNS = 12
Series = Mapping[str, Sequence[float | None]]


def bars(
    title: str,
    labels: Sequence[str],
    series: Series,
    *,
    every: int = 1,
    wide: bool = True,
) -> Markup:
    """Draw a column per label, series stacked; every *every*-th label is written."""
    width, height = _WIDE if wide else _NARROW
    shape = {**_SHAPE, **_labels(labels, every), "width": width, "height": height}
    return _drawn(_library().StackedBar(**shape), title, series)


def first_column(filled: Iterable[int], columns: int) -> int:
    """Return the column with which a chart of *columns* begins: the first filled, or the last twelve."""
    return max(0, min([*filled, columns - _LEAST_COLUMNS]))


@cache
def _library() -> Any:  # noqa: ANN401 - pygal has no types
    """Load pygal and remove its import hook, whose obsolete form makes every later import warn."""
    import pygal  # noqa: PLC0415 - only pages with charts load it

    hooks = [hook for hook in sys.meta_path if type(hook).__module__ == "pygal"]
    for hook in hooks:
        sys.meta_path.remove(hook)
    return pygal


def _labels(labels: Sequence[str], every: int) -> dict[str, Any]:
    return {"x_labels": list(labels), "x_labels_major": list(labels[::every])}


def _drawn(chart: Any, title: str, series: Series) -> Markup:  # noqa: ANN401 - pygal has no types
    for name, values in series.items():
        chart.add(name, list(values))
    root = etree.fromstring(chart.render(), _parser())
    _strip(root)
    root.set("role", "img")
    root.set("aria-label", title)
    root.set("focusable", "false")
    drawn = etree.tostring(root, encoding="unicode")
    # lxml wrote it all and escaped the values from the store.
    return Markup(drawn) + _legend(list(series))  # noqa: S704


def _legend(names: Sequence[str]) -> Markup:
    """Return the legend; none for one series, which the title names."""
    if len(names) < 2:  # noqa: PLR2004 - see above
        return Markup()
    item = Markup('<li><span class="swatch color-{}"></span>{}</li>')
    return Markup('<ul class="legend">{}</ul>').format(
        Markup().join(item.format(number, name) for number, name in enumerate(names))
    )


def _strip(root: Any) -> None:  # noqa: ANN401 - lxml has no types
    """Remove scripts, styles, event handlers and links."""
    for name in ("script", "style", "a", "title"):
        for element in list(root.iter(_SVG + name)):
            element.getparent().remove(element)
    for element in list(root.iter(_SVG + "g")):
        _name(element)
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        for name in list(element.attrib):
            if name in ("style", "id") or name.startswith("on") or name.endswith("href"):
                del element.attrib[name]


def _name(element: Any) -> None:  # noqa: ANN401 - lxml has no types
    """Add a tooltip with a mark's value, in place of pygal's script."""
    values = {d.get("class"): d.text or "" for d in element.findall(_SVG + "desc")}
    for child in element.findall(_SVG + "desc"):
        element.remove(child)
    if "value" in values:
        title = etree.Element(_SVG + "title")
        title.text = f"{values.get('x_label', '')}: {values['value']}"
        element.insert(0, title)


def _parser() -> Any:  # noqa: ANN401 - lxml has no types
    return etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)

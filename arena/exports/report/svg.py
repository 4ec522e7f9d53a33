"""SVG elements as escaped text. Colours are classes in style.css, because the page's policy forbids
inline styles.
"""

from markupsafe import Markup, escape

from arena.exports.report.words import visible

Attribute = str | float | None


def element(name: str, /, *children: str, **attributes: Attribute) -> Markup:
    """An element; ``class_`` is written ``class``, ``stroke_width`` ``stroke-width``, and None
    leaves an attribute out.
    """
    written = [
        Markup('{}="{}"').format(key.rstrip("_").replace("_", "-"), _value(value))
        for key, value in attributes.items()
        if value is not None
    ]
    head = Markup(" ").join([escape(name), *written])
    inside = Markup().join(
        child if isinstance(child, Markup) else escape(visible(child)) for child in children
    )
    return (
        Markup("<{}>{}</{}>").format(head, inside, name) if inside else Markup("<{}/>").format(head)
    )


def picture(width: float, height: float, label: str, *children: str, class_: str = "") -> Markup:
    """An image of this size in pixels, which shrinks with its column; screen readers read ``label``
    instead.
    """
    return element(
        "svg",
        *children,
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        width=width,
        height=height,
        class_=f"chart {class_}".strip(),
        role="img",
        aria_label=label,
    )


def path(points: list[tuple[float, float]], *, closed: bool = False) -> str:
    """The points as the ``d`` of a path."""
    steps = "L".join(f"{_value(x)} {_value(y)}" for x, y in points)
    return f"M{steps}{'Z' if closed else ''}" if points else ""


def _value(value: str | float) -> str:
    """A number with at most one decimal, or the text."""
    return visible(value) if isinstance(value, str) else f"{round(value, 1):g}"

"""Settings that a user wrote, in a file or a program: taken as a struct, or refused in words."""

import re
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from arena.errors import ConfigError, did_you_mean

Form = TypeVar("Form", bound=msgspec.Struct)

COMPLAINT = re.compile(r"Expected `([a-z| ]+)`(?: (>=|<=|>|<) (\S+))?")
PLACE = re.compile(r"`\$\.(\w+)(?:\[(\d+)\])?")
UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list of names",
    "object": "names with their numbers",
}
LIMITS = {">=": "of at least", "<=": "of at most", ">": "above", "<": "below"}


def filled(form: type[Form], said: Mapping[str, Any], where: str, hint: str) -> Form:
    """What is said as a form. One name counts as a list of one where names are expected. Raises
    ConfigError, which begins with ``where`` and has the hint.
    """
    lists = _lists(form)
    said = {
        name: [value] if name in lists and isinstance(value, str) else value
        for name, value in said.items()
    }
    try:
        return msgspec.convert(said, form)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), form, said, where, hint) from None


def _lists(form: type[msgspec.Struct]) -> set[str]:
    """The fields of a form that are lists of names, as they are written."""
    hints = get_type_hints(form)
    return {
        field.encode_name
        for field in msgspec.structs.fields(form)
        if list[str] in (hints[field.name], *get_args(hints[field.name]))
    }


def _refusal(
    complaint: str, form: type[msgspec.Struct], said: Mapping[str, Any], where: str, hint: str
) -> ConfigError:
    unknown, place = UNKNOWN.match(complaint), PLACE.search(complaint)
    if unknown:
        near = did_you_mean(unknown[1], form.__struct_encode_fields__)
        return ConfigError(f"{where}expected a setting, got {unknown[1]!r:.80}", near + hint)
    if place is None:
        return ConfigError(f"{where}{complaint}", hint)
    name, at = place.groups()
    got = said[name] if at is None else said[name][int(at)]
    expected = _expected(complaint, form, name)
    return ConfigError(f"{where}expected {expected} for {name}, got {got!r:.80}", hint)


def _expected(complaint: str, form: type[msgspec.Struct], name: str) -> str:
    found = COMPLAINT.match(complaint)
    if found is None:
        return _choices(form, name) or "another value"
    kinds = [KINDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
    limit = f" {LIMITS[found[2]]} {found[3].removesuffix('.0')}" if found[2] else ""
    return _choices(form, name) or f"{' or '.join(kinds)}{limit}"


def _choices(form: type[msgspec.Struct], name: str) -> str:
    """The words that a field may be, if it may only be one of some."""
    field = next(each for each in msgspec.structs.fields(form) if each.encode_name == name)
    hint = get_type_hints(form)[field.name]
    words = [
        word for part in (hint, *get_args(hint)) if get_origin(part) is Literal
        for word in get_args(part)
    ]  # fmt: skip
    *most, last = [*map(repr, words)] or [""]
    return f"{', '.join(most)} or {last}" if most else last

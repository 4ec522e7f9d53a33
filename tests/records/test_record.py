"""A record is defined once: the published schema and the views that read a part of it agree."""

import msgspec
import pytest

from arena.exports.report.scan import ReportRow
from arena.ratings.tally import Row, WholeRow
from arena.records.record import Fault, GameRecord
from arena.records.strict import StrictRecord
from tests.protocol.schemas import SCHEMAS

LONGEST_MS = 1e12
WORDS = ("title", "description", "default")


def plain(schema, known):
    """A schema without words, references and the two ways to write one value."""
    if "$ref" in schema:
        return plain(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        [one] = [part for part in schema["anyOf"] if part != {"type": "null"}]
        return plain(one, known)
    if "const" in schema:
        return {"enum": [schema["const"]]}
    found = {key: value for key, value in schema.items() if key not in WORDS}
    for key in ("enum", "required"):
        if key in found:
            found[key] = sorted(found[key])
    if "items" in found:
        found["items"] = plain(found["items"], known)
    if "properties" in found:
        found["properties"] = {
            name: plain(value, known) for name, value in found["properties"].items()
        }
    return found


def test_the_strict_record_is_the_published_schema():
    published = dict(SCHEMAS["record"])
    schemas, known = msgspec.json.schema_components([StrictRecord], ref_template="{name}")
    ours = plain(schemas[0], known)
    del published["$schema"], published["oneOf"]  # lists of equal length: decode_strictly
    for name in ("think_ms", "slowest_ms"):
        assert ours["properties"][name]["items"].pop("maximum") == LONGEST_MS
    assert ours["properties"]["ms"]["items"].pop("maximum") == LONGEST_MS
    del ours["properties"]["notes"], published["properties"]["notes"]  # note.py: wrong_note
    theirs = plain(published, {})
    del theirs["properties"]["moves"]["items"]["pattern"]  # the rules judge moves
    assert ours == theirs


def kinds(struct):
    """The type of each field; of lists and tuples that of an entry, which need not be checked
    twice for their length.
    """
    return {
        field.name: getattr(field.type, "item_type", field.type)
        for field in msgspec.inspect.type_info(struct).fields
    }


@pytest.mark.parametrize("view", [Row, WholeRow, ReportRow])
def test_a_view_reads_its_fields_as_the_record_defines_them(view):
    whole = kinds(GameRecord)
    whole["board"] = whole["bots"] = msgspec.inspect.StrType()
    for name, kind in kinds(view).items():
        assert kind in (whole[name], msgspec.inspect.type_info(Fault)), name

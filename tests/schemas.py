"""Checks printed JSON against what `hwtop schema` prints."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from hwtop.report.schema import schema_text


def valid(name: str, text: str) -> dict[str, Any]:
    """The object, which has the schema of this name and no field that the schema does not have."""
    found: dict[str, Any] = json.loads(text)
    _validator(name).validate(found)
    return found


@cache
def _validator(name: str) -> Draft202012Validator:
    schema = json.loads(schema_text(name))
    Draft202012Validator.check_schema(schema)
    for part in schema["$defs"].values():
        if "properties" in part:
            part["additionalProperties"] = False
    return Draft202012Validator(schema)

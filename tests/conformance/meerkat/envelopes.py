"""Cases of envelopes: read, and written again."""

import json
from typing import Any

from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core import strictjson
from hookline.dialects.meerkat.envelope import InvalidEnvelope, decode, with_projections


def decoding(case: Case, place: Place) -> dict[str, Any]:
    """The members that an envelope holds, and the text that is written for them, or why it is none."""
    given = case.given["decode"]
    data = given if isinstance(given, bytes) else (given if isinstance(given, str) else json.dumps(given)).encode()
    try:
        members = decode(data)
    except InvalidEnvelope as fault:
        return {"fault": str(fault), "members": None, "encoded": None}
    again = strictjson.encode(with_projections(members), spaced=False)
    assert decode(again) == members
    return {"fault": None, "members": members, "encoded": again.decode()}

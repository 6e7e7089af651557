"""A kept conversation, read as a hook reads it."""

import asyncio
from typing import Any

from tests.conformance.place import Place
from tests.conformance.reading import Case

from hookline._core.capsule import Grant
from hookline._core.guests import GuestError
from hookline.dialects.murmur.imports import CONVERSATION, Host
from hookline.session.capsule.measure import counter
from hookline.session.capsule.record import FILE, ConversationRecord
from hookline.session.capsule.surroundings import Around


def paged(case: Case, place: Place) -> dict[str, Any]:
    """Every page, from the newest message to the oldest."""
    said: list[str] = []
    folder = place.workspace / "record"
    place.write(folder / "ctx_1" / FILE, "".join(f"{line}\n" for line in case.given["record"]))
    kept = ConversationRecord(folder, said.append)
    kept.enter("ctx_1")
    around = Around(count=counter(), record=kept, driver="")
    host = Host(around, "h", Grant(reads_conversation=case.given.get("granted", True)))
    texts: list[list[str]] = []
    cursors: list[bool] = []
    totals: list[int] = []
    cursor = None
    try:
        while not cursors or cursor is not None:
            page = asyncio.run(host.ask(CONVERSATION, (cursor, case.given["pages"])))
            cursor = page["next-cursor"]
            texts.append([each["content"] for each in page["messages"]])
            cursors.append(cursor is not None)
            totals.append(page["total"])
    except GuestError as error:
        return {"error": str(error), "said": said}
    return {"texts": texts, "cursors": cursors, "total": totals[0], "error": None, "said": sorted(set(said))}

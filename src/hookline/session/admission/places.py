"""Which store is meant by a place that somebody named."""

from collections.abc import Callable
from pathlib import Path

from hookline.session.admission.store import Store

POSTGRES = ("postgres://", "postgresql://")


def store_for(where: str | Path | None, *, on_status: Callable[[str], None] | None = None) -> Store:
    """The store at *where*, not yet opened: a PostgreSQL URL, or a file. None: in the memory of this process.

    *on_status* is told when a server is away and is tried again.
    """
    if isinstance(where, str) and where.startswith(POSTGRES):
        from hookline.session.admission.postgres import PostgresStore

        return PostgresStore(where, on_status=on_status)
    from hookline.session.admission.sqlite import MEMORY, SqliteStore

    return SqliteStore(MEMORY if where is None else where)

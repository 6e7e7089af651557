"""The tables of a store of inputs, and every statement that is asked of them. One row each, for both databases.

Both understand most of it. SQLite takes any name of a type: `bytea` holds bytes there too, and `bigint` whole numbers.
Parameters are numbered, `?1` in SQLite and `$1` in PostgreSQL.

Ids and keys are bytes, as a text may hold what PostgreSQL's texts cannot: see `coding`.
"""

import re
from dataclasses import dataclass

_PARAMETER = re.compile(r"\?(?=[0-9])")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, as SQLite and as PostgreSQL understand it."""

    sqlite: str
    postgres: str = ""  # where it has to differ

    def __post_init__(self) -> None:
        object.__setattr__(self, "postgres", _PARAMETER.sub("$", self.postgres or self.sqlite))


def _table_with_number(text: str) -> Statement:
    """A table whose `{number}` column numbers its rows. No number is given twice, whatever became of its row."""
    return Statement(
        text.format(number="INTEGER PRIMARY KEY AUTOINCREMENT"),
        text.format(number="bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
    )


# What brings a store from each version to the next; an empty one has version 0. Once released, a step stays as it is.
STEPS = (
    (
        Statement(
            "CREATE TABLE hookline_runtimes ("
            " runtime_id bytea PRIMARY KEY, state text, published bigint NOT NULL DEFAULT 0)"
        ),
        _table_with_number(
            "CREATE TABLE hookline_inputs ("
            " seq {number}, runtime_id bytea NOT NULL, input_id bytea NOT NULL, kind text NOT NULL,"
            " idempotency_key bytea, handling text NOT NULL, phase text NOT NULL, owner bigint,"
            " attempt bigint NOT NULL DEFAULT 0, body bytea NOT NULL, created_at bigint NOT NULL,"
            " UNIQUE (runtime_id, input_id))"
        ),
        Statement(
            "CREATE UNIQUE INDEX hookline_inputs_by_key ON hookline_inputs (runtime_id, idempotency_key)"
            " WHERE idempotency_key IS NOT NULL"
        ),
        Statement(
            "CREATE INDEX hookline_inputs_queued ON hookline_inputs (runtime_id, handling DESC, seq)"
            " WHERE phase = 'queued'"
        ),
        Statement("CREATE INDEX hookline_inputs_staged ON hookline_inputs (runtime_id, owner) WHERE phase = 'staged'"),
        _table_with_number(
            "CREATE TABLE hookline_outbox ("
            " ended {number}, runtime_id bytea NOT NULL, input_id bytea NOT NULL, phase text NOT NULL,"
            " digest bytea NOT NULL, payload bytea NOT NULL, seq bigint, UNIQUE (runtime_id, input_id))"
        ),
        Statement(
            "CREATE INDEX hookline_outbox_finalised ON hookline_outbox (runtime_id, ended) WHERE phase = 'finalised'"
        ),
        Statement(
            "CREATE TABLE hookline_events ("
            " runtime_id bytea NOT NULL, seq bigint NOT NULL, input_id bytea NOT NULL, digest bytea NOT NULL,"
            " payload bytea NOT NULL, PRIMARY KEY (runtime_id, seq), UNIQUE (runtime_id, input_id))"
        ),
        Statement(
            "CREATE TABLE hookline_requests ("
            " runtime_id bytea NOT NULL, request_id bytea NOT NULL, peer_id bytea NOT NULL, phase text NOT NULL,"
            " PRIMARY KEY (runtime_id, request_id))"
        ),
        _table_with_number("CREATE TABLE hookline_owners (owner {number})"),
    ),
)
VERSION = len(STEPS)

# Not by `to_regclass`, which goes by what the session remembers: that may be older than the lock it waited for.
HAS_VERSION = Statement(
    "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hookline_schema'",
    "SELECT 1 FROM pg_tables WHERE tablename = 'hookline_schema' AND schemaname = ANY (current_schemas(false))",
)
MAKE_VERSION = Statement("CREATE TABLE hookline_schema (version bigint NOT NULL)")
READ_VERSION = Statement("SELECT version FROM hookline_schema")
DROP_VERSION = Statement("DELETE FROM hookline_schema")
WRITE_VERSION = Statement("INSERT INTO hookline_schema (version) VALUES (?1)")

# Runtimes. In PostgreSQL an admission shares the row's key, which a change of state waits for and a publication does
# not. In SQLite there is one writer at a time.
STATE = Statement("SELECT state FROM hookline_runtimes WHERE runtime_id = ?1")
GATE = Statement(STATE.sqlite, STATE.sqlite + " FOR KEY SHARE")
CLOSE_GATE = Statement(STATE.sqlite, STATE.sqlite + " FOR UPDATE")
MAKE_RUNTIME = Statement("INSERT INTO hookline_runtimes (runtime_id) VALUES (?1) ON CONFLICT DO NOTHING")
KEEP_STATE = Statement(
    "INSERT INTO hookline_runtimes (runtime_id, state) VALUES (?1, ?2)"
    " ON CONFLICT (runtime_id) DO UPDATE SET state = excluded.state"
)
NEXT_SEQ = Statement("UPDATE hookline_runtimes SET published = published + 1 WHERE runtime_id = ?1 RETURNING published")

# Inputs. A conflict waits until the other transaction is over, so whoever lost the race sees the owner afterwards.
ADMIT = Statement(
    "INSERT INTO hookline_inputs"
    " (runtime_id, input_id, kind, idempotency_key, handling, phase, body, created_at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7) ON CONFLICT DO NOTHING RETURNING seq"
)
OWNER_OF_KEY = Statement("SELECT input_id FROM hookline_inputs WHERE runtime_id = ?1 AND idempotency_key = ?2")
FIND = Statement("SELECT body, handling, phase, attempt FROM hookline_inputs WHERE runtime_id = ?1 AND input_id = ?2")

# Work. 'steer' comes before 'queue' in falling order, which is that of the index.
_CLAIM = (
    "UPDATE hookline_inputs SET phase = 'staged', owner = ?2, attempt = attempt + 1"
    " WHERE seq = (SELECT seq FROM hookline_inputs WHERE runtime_id = ?1 AND phase = 'queued'"
    " ORDER BY handling DESC, seq LIMIT 1{}) RETURNING body, handling, phase, attempt"
)
CLAIM_NEXT = Statement(_CLAIM.format(""), _CLAIM.format(" FOR UPDATE SKIP LOCKED"))
CLAIM_ONE = Statement(
    "UPDATE hookline_inputs SET phase = 'staged', owner = ?2, attempt = attempt + 1"
    " WHERE runtime_id = ?1 AND input_id = ?3 AND phase = 'queued' RETURNING body, handling, phase, attempt"
)
UNCLAIM = Statement(
    "UPDATE hookline_inputs SET phase = 'queued', owner = NULL, attempt = attempt - 1"
    " WHERE runtime_id = ?1 AND input_id = ?2 AND phase = 'staged' AND owner = ?3 RETURNING seq"
)
FINISH = Statement(
    "UPDATE hookline_inputs SET phase = ?4, owner = NULL"
    " WHERE runtime_id = ?1 AND input_id = ?2 AND phase = 'staged' AND owner = ?3 RETURNING seq"
)
OWNERS_AT_WORK = Statement(
    "SELECT DISTINCT owner FROM hookline_inputs WHERE runtime_id = ?1 AND phase = 'staged' ORDER BY owner"
)
AT_WORK_OF = Statement(
    "SELECT input_id FROM hookline_inputs WHERE runtime_id = ?1 AND phase = 'staged' AND owner = ?2 ORDER BY seq"
)
QUEUE_AGAIN = Statement(
    "UPDATE hookline_inputs SET phase = 'queued', owner = NULL"
    " WHERE runtime_id = ?1 AND input_id = ?2 AND phase = 'staged' AND owner = ?3 RETURNING seq"
)

# Completions, and the event log that they are published in.
KEEP_COMPLETION = Statement(
    "INSERT INTO hookline_outbox (runtime_id, input_id, phase, digest, payload) VALUES (?1, ?2, 'finalised', ?3, ?4)"
)
_COMPLETION = (
    "SELECT digest, payload FROM hookline_outbox WHERE runtime_id = ?1 AND input_id = ?2 AND phase = 'finalised'"
)
COMPLETION = Statement(_COMPLETION, _COMPLETION + " FOR UPDATE")
PUBLISHED_AS = Statement("SELECT seq FROM hookline_events WHERE runtime_id = ?1 AND input_id = ?2")
APPEND = Statement(
    "INSERT INTO hookline_events (runtime_id, seq, input_id, digest, payload) VALUES (?1, ?2, ?3, ?4, ?5)"
)
MARK_PUBLISHED = Statement(
    "UPDATE hookline_outbox SET phase = 'published', seq = ?3 WHERE runtime_id = ?1 AND input_id = ?2"
)
KEPT_COMPLETION = Statement("SELECT payload FROM hookline_outbox WHERE runtime_id = ?1 AND input_id = ?2")
COUNT_AT_WORK = Statement(
    "SELECT count(*) FROM hookline_inputs WHERE runtime_id = ?1 AND phase IN ('queued', 'staged')"
)
UNPUBLISHED = Statement(
    "SELECT input_id FROM hookline_outbox WHERE runtime_id = ?1 AND phase = 'finalised' ORDER BY ended"
)
EVENTS = Statement("SELECT seq, payload FROM hookline_events WHERE runtime_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3")

# Requests between peers.
NOTE_REQUEST = Statement(
    "INSERT INTO hookline_requests (runtime_id, request_id, peer_id, phase) VALUES (?1, ?2, ?3, ?4)"
    " ON CONFLICT DO NOTHING RETURNING phase"
)
DROP_REQUEST = Statement("DELETE FROM hookline_requests WHERE runtime_id = ?1 AND request_id = ?2 AND phase = 'sent'")
REQUEST = Statement("SELECT phase, peer_id FROM hookline_requests WHERE runtime_id = ?1 AND request_id = ?2")
REPLY = Statement(
    "UPDATE hookline_requests SET phase = 'replied'"
    " WHERE runtime_id = ?1 AND request_id = ?2 AND phase = 'received' RETURNING phase"
)

# Owners. A row only stands for a number; whether its owner lives is for a lock to say that ends with the process.
REGISTER = Statement("INSERT INTO hookline_owners DEFAULT VALUES RETURNING owner")
UNREGISTER = Statement("DELETE FROM hookline_owners WHERE owner = ?1")

"""The wiring of a session: what `_engines` put together, with tools, journals, stores and peers around it."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hookline._core.credentials import secrets_in
from hookline._core.errors import UsageError
from hookline._core.ports import Recorder
from hookline.dialects import tool_aliases
from hookline.journal import Journal, Redactor, Spoken, find, journal_path, sessions_folder, spoken, state_folder
from hookline.session.admission.places import store_for
from hookline.session.admission.store import Store
from hookline.session.beginning import Beginning
from hookline.session.peers.exchange import Peers
from hookline.session.peers.transports import transport_for
from hookline.session.ports import Tool
from hookline.session.tools import builtin_tools
from hookline.session.tools import peer_tools as builtin_peer_tools

INPUTS = "inputs.sqlite3"


def tools(*, search_url: str | None = None) -> tuple[Tool, ...]:
    """Fresh built-in tools, known to matchers by every name that a dialect gives them."""
    return builtin_tools(tool_aliases(), search_url=search_url)


def peer_tools() -> tuple[Tool, ...]:
    """Fresh tools for a session that has peers."""
    return builtin_peer_tools()


def inputs_store(
    where: str | None,
    *,
    env: Mapping[str, str] | None = None,
    kept: bool = True,
    on_status: Callable[[str], None] | None = None,
) -> Store:
    """What keeps the inputs of sessions: a file, a PostgreSQL database by its URL, or by default a file of ours.

    Open it, as in `async with`, before a session gets it. With *kept* off and nowhere named they are kept in this
    process only. *on_status* is told of a server that is away.
    """
    if where is None and kept:
        where = str(state_folder(os.environ if env is None else env) / INPUTS)
    return store_for(where, on_status=on_status)


def peers_over(
    url: str | None,
    name: str | None,
    known: Sequence[str] = (),
    *,
    on_status: Callable[[str], None] | None = None,
) -> Peers | None:
    """The peers of a session called *name*, reached over the NATS server at *url*. None where neither is given."""
    if name is None:
        if known:
            raise UsageError("--peer names whom this agent writes to; say what it is called itself, by --peer-name")
        return None
    if url is None:
        raise UsageError("--peer-name needs a server that carries messages: --nats nats://127.0.0.1:4222")
    return Peers(name, transport_for(url, on_status=on_status), known)


class JournalFolder:
    """Keeps the journal of each session as `<session id>.jsonl` in one folder. Implements Journals.

    *folder* is `$XDG_STATE_HOME/hookline/sessions` by default. What looks like a credential in *env* is written as
    its name, not its value.
    """

    def __init__(self, folder: Path | None = None, *, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._folder = folder
        self._redactor = Redactor(secrets_in(self._env))

    @property
    def folder(self) -> Path:
        """Where the journals are. Raises StateError when neither a folder nor a home is known."""
        return sessions_folder(self._env) if self._folder is None else self._folder

    def recorder(self, session_id: str) -> Recorder:
        """The session's journal, continued if there is one."""
        return Journal.create(self.folder, session_id, redactor=self._redactor)

    def has(self, session_id: str) -> bool:
        """Whether there is a journal of the session with this full id."""
        return journal_path(self.folder, session_id).exists()

    def resumed(self, session: str) -> Beginning:
        """A recorded session, named by its id, the start of it or `last`, to be gone on with."""
        path = find(self.folder, session)
        return _going_on(session, spoken(path), session_id=path.stem, source="resume")

    def forked(self, session: str, *, session_id: str | None = None) -> Beginning:
        """Another session, under *session_id* or an id of its own, that begins with what was said in a recorded one."""
        return _going_on(session, spoken(find(self.folder, session)), session_id=session_id, source="fork")


def _going_on(session: str, said: Spoken, *, session_id: str | None, source: str) -> Beginning:
    lost = "line {line} of session {session} is damaged, and left out: {why}"
    return Beginning(
        session_id=session_id,
        source=source,
        conversation=said.mended,
        recorded=source == "resume" and said.mended == said.recorded,
        damage=tuple(lost.format(line=each.line, session=session, why=each.why) for each in said.damage),
    )

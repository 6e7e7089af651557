"""The kinds of cases that Meerkat has."""

import re

from tests.conformance.meerkat.dispatching import canned, real
from tests.conformance.meerkat.envelopes import decoding
from tests.conformance.meerkat.inputs import admitting
from tests.conformance.meerkat.loading import loading
from tests.conformance.meerkat.sessions import talking
from tests.conformance.place import Layout
from tests.conformance.reading import Dialect, Kind

LAYOUT = Layout(
    {
        "project": "@workspace@/.rkat/config.toml",
        "user": "@home@/.rkat/config.toml",
        "active": "@home@/active.toml",
    },
    rest="@home@",
)

# What hooks say is a mapping by entry id, or by the name of a handler; see `said.HOW` for what stands there.

OF_EVENTS = {
    "started": "ids of hooks that were started, of one event or a list for each",
    "outcomes": "`<hook> <allow, deny, nothing or failed>: <failure reason>`; the reason only where wanted",
    "report": "the whole execution report",
    "decision": "what was decided, `allow` or `deny <hook> <code> <message> <payload>`",
    "failed": "the typed engine error of the hook that failed the run, null where none did",
    "events": "agent events, `<type> <hook> <point>: <reason>`; the reason only where wanted",
    "stream": "the same as they stand in the stream",
    "ledger": "signals about background hooks, none unless said",
    "called": "the hooks that were called, in their order",
    "payloads": "what hooks were given, with the members that are wanted",
    "bodies": "the same as bytes",
    "running": "hooks in the background that are at work when the events are over",
    "ended": "hooks that ended by themselves",
    "cut_off": "hooks that were cut off",
}

KINDS = (
    Kind(  # events through loader and engine, with replies that no process gives
        gives={
            "event": "one event or several, by canonical points",
            "replies": "by hook; `{}` unless said",
            "at_once": "true: all events are dispatched at the same time",
            "overrides": "an object, or a JSON text",
        },
        wants={"refused": "the words with which nothing starts", **OF_EVENTS},
        found=canned,
        unless_said={"refused": None, "failed": None, "ledger": []},
    ),
    Kind(  # the same with real programs, handlers and a server
        gives={
            "real": "one event or several",
            "handlers": "registered ones by name; without it no name is checked",
            "then": "handlers that are registered after the first event",
            "server": "answers by path, at @server@",
            "other": "the same at another origin, @other@",
            "files": "files in the workspace",
            "overrides": "as above",
        },
        wants={
            **OF_EVENTS,
            "requests": "what the server was asked, `<method> <path>: <body>`; the body only where wanted",
            "headers": "by name, its values in each request",
            "redirected": "how many requests the other origin had",
            "files": "what stands in files, null for one that is not there",
            "dead": "files that hold the number of a process that is no more",
            "alive": "command lines of processes that have the workspace's name in them, none unless said",
            "registered": "what registering a handler again said",
            "journal": "by word, how many lines of the journal hold it",
        },
        found=real,
        unless_said={"failed": None, "ledger": [], "alive": []},
    ),
    Kind(  # an envelope read
        gives={"decode": "its text, or an object"},
        wants={
            "fault": "why it is none",
            "members": "what it holds, without what is derived",
            "encoded": "what is written for these members",
        },
        found=decoding,
        unless_said={"fault": None},
    ),
    Kind(  # prompts in a session
        gives={
            "session": "one prompt or several; an object is an input of any kind",
            "script": "what the model says; without it the model is echo",
            "handlers": "as above",
            "files": "files in the workspace",
            "overrides": "as above",
            "cut_off_at": "a pipe: the run is cancelled once a hook has opened it",
            "max_steps": "model calls in one run",
            "max_tokens": "of one answer",
        },
        wants={
            "refused": "the words with which nothing starts",
            "endings": "how each run ended, `<ending>: <text or reason>`",
            "faults": "the error report of each run, null for one without a fault",
            "model_calls": "how often the model was asked",
            "max_tokens": "how many tokens each answer might have",
            "conversation": "messages, `<role>: <text>`",
            "course": "what happened, in its order",
            "events": "as above",
            "ledger": "as above",
            "notes": "remarks in the account",
            "results": "tool calls, `<tool> <status>: <text>`; the text only where wanted",
            "called": "as above",
            "payloads": "as above",
            "files": "as above",
            "dead": "as above",
        },
        found=talking,
        unless_said={"refused": None, "ledger": [], "notes": []},
    ),
    Kind(  # a runtime and its peers, step by step
        gives={
            "inputs": "steps, each with its name; @1@ and so on stand for ids, @id of other@ for a peer's",
            "handlers": "as above; by default one called `seen`",
            "script": "as above",
            "transport": "what the transport proves of each envelope: kind, proof, outcome, or fault",
            "memory": "true: the inputs are kept in this process only",
            "overrides": "as above",
        },
        wants={
            "steps": "what each came to; words after a colon only where wanted",
            "told": "facts that hooks were told, by point; in no order",
            "telling": "facts that are still being told when the steps are over, none unless said",
            "rows": "by id, how far an input has come, null for one that is not there",
            "keys": "by idempotency key, the id of its owner",
            "log": "the event log",
            "notes": "as above, none unless said",
            "called": "as above",
            "payloads": "as above",
            "cut_off": "as above, none unless said",
            "events": "as above",
            "ledger": "as above",
            "model_calls": "as above",
            "conversation": "as above",
            "sent": "envelopes that the transport took",
        },
        found=admitting,
        unless_said={"notes": [], "telling": 0, "cut_off": [], "events": [], "ledger": []},
    ),
    Kind(  # a loader alone
        gives={
            "config": "as in every case",
            "loader": "session (unless said), file, core, resolver or realms",
            "handlers": "names of handlers that are registered; without it no name is checked",
            "overrides": "as above",
            "trust": "how the folder is trusted, by a flag unless said",
        },
        wants={
            "refused": "the words with which nothing starts",
            "hooks": "the hooks that are enabled, in the order of registration",
            "engine": "the hooks of the engine, in the order in which they are asked",
            "entries": "all entries, as overrides would have them",
            "limits": "the limits in force",
            "problems": "`<code> <line>:<column>: <message>`, `note` in front of one; none unless said, but it refuses",
            "held_back": "files whose hooks do not run",
        },
        found=loading,
        unless_said={"refused": None, "problems": []},
    ),
)

LAST_CASE, LAST_QUESTION, LAST_DECISION = 83, 20, 9

MEERKAT = Dialect(
    kinds=KINDS,
    layout=LAYOUT,
    main="project",
    numbered=(
        *(f"{number:02}" for number in range(1, LAST_CASE + 1)),
        *(f"Q{number:02}" for number in range(1, LAST_QUESTION + 1)),  # questions that the sources leave open
        *(f"D{number}" for number in range(1, LAST_DECISION + 1)),  # where the sources contradict one another
    ),
    own=re.compile(r"([0-9]{2}|Q[0-9]{2}|D[0-9])[b-z]"),  # one more case to a numbered one
)

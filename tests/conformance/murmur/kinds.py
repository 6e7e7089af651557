"""The kinds of cases that Murmur has."""

import asyncio
import re
from typing import Any

from tests.conformance.murmur.capsules import lived
from tests.conformance.murmur.pages import paged
from tests.conformance.place import Layout, Place
from tests.conformance.reading import Case, Dialect, Kind

from hookline.dialects.murmur.contract import Broken, read_contract
from hookline.session.capsule.recipes import recipe_of

LAYOUT = Layout({"murmur": "@workspace@/murmur.yaml"}, rest="@home@")


def contracted(case: Case, place: Place) -> dict[str, Any]:
    """A hook's own manifest, read."""
    found = read_contract(case.given["contract"].encode())
    if isinstance(found, Broken):
        return {"rule": found.rule, "text": found.text, "contract": None}
    binding = "all" if found.binding is None else found.binding.value
    told = f"{binding} {found.execution_mode.value} {found.commit_policy.value}"
    return {"contract": told, "rule": None, "text": None}


def resolved(case: Case, place: Place) -> dict[str, Any]:
    """The recipe that a call names, among real files."""
    for name, text in case.given.get("files", {}).items():
        place.write(place.workspace / name, text)
    for name, target in case.given.get("links", {}).items():
        (place.workspace / name).symlink_to(place.filled(target))
    tool, *arguments = case.given["recipe"]
    return {"body": recipe_of(tool, arguments, place.workspace)}


def living(case: Case, place: Place) -> dict[str, Any]:
    """A capsule, from its manifest to its end."""
    return asyncio.run(lived(case, place))


KINDS = (
    Kind(  # a hook's own manifest
        gives={"contract": "its text"},
        wants={
            "contract": "`<binding or all> <mode> <policy>`, null where it is none",
            "rule": "the number of the rule that it breaks",
            "text": "why, as staging says it behind the hook's name",
        },
        found=contracted,
        unless_said={"rule": None, "text": None},
    ),
    Kind(  # a recipe of a real file
        gives={"recipe": "the call, its tool first", "files": "by name", "links": "by name, where they lead"},
        wants={"body": "the recipe's, null where none is resolved"},
        found=resolved,
    ),
    Kind(  # a kept conversation, read page by page
        gives={"pages": "the size of a page", "record": "its lines", "granted": "true unless said"},
        wants={
            "texts": "the contents of each page",
            "cursors": "whether each page had one",
            "total": "as the first page says it",
            "error": "what the hook is told instead",
            "said": "lines for the log",
        },
        found=paged,
        unless_said={"error": None, "said": []},
    ),
    Kind(  # a whole capsule with real components
        gives={
            "hooks": "each with its `name`; `script` is what its component does (tests/components/scripted), "
            "`asks` makes it one that imports what hosts serve, `wasm` another component or none, `entry` is what the "
            "capsule's entry has besides; all else is the hook's own manifest",
            "capsule": "what the manifest has besides",
            "tools": "native tools, as shell scripts by name",
            "files": "what lies in the working directory, `Makefile` and the like",
            "tasks": "texts, one unless said",
            "steps": "of the model, `done` unless said",
            "agents": "the scripts of models that hooks ask",
            "drain": "the budget at the end, in seconds",
            "queue": "the length of an async hook's queue",
            "urls": "addresses to be tried",
        },
        wants={
            "problems": "the words with which nothing starts, none unless said",
            "results": "`<ending>: <text or reason>` of each task",
            "trace": "by kind of line all that there are, with the members that are wanted",
            "order": "kinds of lines in their order, those that are named",
            "logs": "by name, the lines; other logs than `bootstrap` only where wanted",
            "bootstrap": "lines of that log",
            "files": "what stands in files of the working directory, null for one that is not there",
            "manifests": "the texts of tools' manifests as they were staged",
            "called": "`<hook> <function>` in their order, but for hooks that nothing of is wanted",
            "read": "what the model read of each call, in order",
            "messages": "`<role>: <text>` of the conversation as it is in the end",
            "first": "the same of the first request",
            "artifacts": "`<hook>: <content>`",
            "asked": "what policy hooks were asked about, with the members that are wanted",
            "payloads": "by function, what hooks were called with, with the members that are wanted",
            "env": "the environment of each hook",
            "folders": "the folders that each hook is granted, from the working directory",
            "reaches": "those of `urls` that each hook may send requests to",
            "gated": "how often anybody was asked before a call",
        },
        found=living,
        unless_said={"problems": [], "logs": {}},
    ),
)

MURMUR = Dialect(
    kinds=KINDS,
    layout=LAYOUT,
    main="murmur",
    numbered=tuple(
        f"{group}{number}"
        for group, last in {"C": 17, "D": 22, "P": 16, "R": 12, "T": 6, "S": 8, "K": 6, "A": 1}.items()
        for number in range(1, last + 1)
    ),
    own=re.compile(r"[CDPRTSKA][0-9]{1,2}[b-z]"),  # one more case to a numbered one
)

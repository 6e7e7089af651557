"""`npm run SCRIPT`: the script's text in `package.json`."""

import json
from collections.abc import Sequence

from hookline.session.capsule.recipes._reading import Source, Unresolved

RUNS = ("run", "run-script")
WORDS = 2


def npm(arguments: Sequence[str], source: Source) -> str:
    """The text of the one script. Raises Unresolved for anything else, such as a script with one before or after it."""
    if len(arguments) != WORDS or arguments[0] not in RUNS or arguments[1].startswith("-"):
        raise Unresolved
    name = arguments[1]
    package = json.loads(source.text(source.root / "package.json"))
    scripts = package.get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict) or f"pre{name}" in scripts or f"post{name}" in scripts:
        raise Unresolved
    body = scripts.get(name)
    if not isinstance(body, str):
        raise Unresolved
    return body

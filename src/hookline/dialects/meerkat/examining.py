"""Hook files as `check` reads them: every problem, whether the folder is trusted or not, and where each part stands."""

from collections.abc import Mapping
from pathlib import Path

from hookline._core.hooks import Source
from hookline._core.problems import Where
from hookline.dialects._base import Loaded, Part
from hookline.dialects._files import Unreadable, read_file
from hookline.dialects.meerkat.build import hooks_of
from hookline.dialects.meerkat.entries import Entry, read_config
from hookline.dialects.meerkat.faults import PREFIX
from hookline.dialects.meerkat.layers import ACTIVE, CONFIG_FILE, unreadable
from hookline.dialects.meerkat.legality import violations
from hookline.dialects.meerkat.sources import home_of, project_file

FIELDS = {Part.COMMAND: ("runtime", "command"), Part.TIMEOUT: ("timeout_ms",)}


def files(env: Mapping[str, str], workspace: Path) -> tuple[Path, ...]:
    """The project's file, as far up as it may be, and the user's."""
    home = home_of(env)
    project = project_file(workspace, home) or Path(workspace, CONFIG_FILE).absolute()
    return (project, *(() if home is None else (home / CONFIG_FILE,)))


def examine(path: Path, env: Mapping[str, str]) -> Loaded:
    """One file alone. Its hooks are there even if it has problems for which no session would begin."""
    source = Source(layer=ACTIVE, label="/".join(path.parts[-2:]), path=str(path.absolute()))
    data = read_file(path)
    if data is None:
        return Loaded()
    if isinstance(data, Unreadable):
        return Loaded(problems=(unreadable(source, data.why),))
    found = read_config(data, source)
    entries = {PREFIX + entry.id: entry for entry in found.config.entries}
    illegal = tuple(violation.problem for violation in violations(found.config.entries))
    hooks = {hook.id: hook for hook in hooks_of(found.config, found.config.entries, env)}  # the last of one id
    return Loaded(
        hooks=tuple(hooks.values()),
        problems=(*found.problems, *illegal),
        place=lambda hook, part: _place(entries[hook], part),
    )


def _place(entry: Entry, part: Part) -> Where:
    return entry.spot.document.where((*entry.spot.at, *FIELDS.get(part, ())))

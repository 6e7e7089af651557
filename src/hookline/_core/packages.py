"""Programs out of packages: folders of files that somebody looked at."""

from dataclasses import dataclass, field
from pathlib import Path

from hookline._core.targets import CommandTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Packaged:
    """A folder of files that somebody looked at: only bytes with this digest are ever run.

    What runs is a copy of *package*, an absolute path, made below *copies*, a folder of ours alone: every byte of it
    went through *digest* (`_core.package_files`) as it was written, so whatever happens to the package meanwhile, what
    runs is what was looked at, or nothing. *why* is what to say of a package that is something else.
    """

    package: Path
    digest: str
    copies: Path
    why: str = "the package is not what was looked at"


@dataclass(frozen=True, slots=True)
class PackagedTarget(CommandTarget):
    """A program out of a package: where *argv* and *env* name files of it, those of its copy are meant."""

    packaged: Packaged = field(kw_only=True)

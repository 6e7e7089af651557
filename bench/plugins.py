"""What a session's start takes to read 50 plugins with 200 hooks, beside reading the same bytes and hashing them."""

import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target

from hookline.dialects.muse.sources import load
from hookline.workbench.plugins import plugins

PLUGINS, HOOKS = 50, 4
ROUNDS = 60
MOST = 1.2

EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")


@dataclass(frozen=True)
class Size:
    """How large a package is beside its manifest and its hooks' scripts: texts of so many bytes."""

    name: str
    files: tuple[int, ...]


SIZES = (
    Size("scripts only", ()),
    Size("with a README, a licence and a small library", (4_000, 11_000, *[6_000] * 10)),
    Size("with a bundled library", (4_000, 11_000, *[25_000] * 20)),
)


def write(root: Path, number: int, size: Size) -> Path:
    name = f"plugin-{number:02}"
    folder = root / name
    (folder / ".muse-plugin").mkdir(parents=True)
    (folder / "hooks").mkdir()
    (folder / "lib").mkdir()
    chance = random.Random(number)  # noqa: S311  # bytes of no meaning are no secret
    hooks = []
    for index in range(HOOKS):
        script = folder / "hooks" / f"hook{index}.sh"
        script.write_text("#!/bin/sh\n# what this hook is for\ncat > /dev/null\n" + "# more of it\n" * 60)
        script.chmod(0o755)
        hooks.append({"id": f"hook{index}", "event": EVENTS[index % 4], "command": [f"./hooks/{script.name}"]})
    for index, count in enumerate(size.files):
        (folder / "lib" / f"file{index}.py").write_bytes(chance.randbytes(count))
    manifest = {
        "schemaVersion": 1,
        "name": name,
        "version": "1.0.0",
        "description": "One of many.",
        "compat": {"manifestDir": ".muse-plugin"},
        "capabilities": {"hooks": hooks},
    }
    (folder / ".muse-plugin" / "plugin.json").write_text(json.dumps(manifest, indent=2))
    return folder


@contextmanager
def installed(size: Size) -> Iterator[tuple[dict[str, str], Path]]:
    """A home with all of them installed and approved."""
    root = Path(tempfile.mkdtemp(prefix="hookline-bench-"))
    try:
        env = {"HOME": str(root / "home"), "PATH": os.environ["PATH"], "SHELL": "/bin/sh"}
        (root / "work").mkdir()
        for number in range(PLUGINS):
            plugins("install", str(write(root / "sources", number, size)), env=env, cwd=root)
            plugins("approve", f"plugin-{number:02}", env=env, cwd=root)
        yield env, root
    finally:
        for folder, _, _ in os.walk(root):
            Path(folder).chmod(0o700)
        shutil.rmtree(root)


def read_and_hash(cache: Path) -> str:
    """The bytes of every package, and a digest of each: no less than what knowing them takes."""
    digest = ""
    for package in cache.glob("*/*/package"):
        lines = []
        for folder, _, names in os.walk(package):
            for name in names:
                path = os.path.join(folder, name)  # noqa: PTH118  # as quick as it can be had
                with open(path, "rb") as file:  # noqa: PTH123
                    data = file.read()
                lines.append(f"{path}\0{hashlib.sha256(data).hexdigest()}\n")
        digest = hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
    return digest


def main() -> int:
    print_heading("50 plugins with 200 hooks, as a session's start reads them")
    rows = []
    for size in SIZES:
        with installed(size) as (env, root):
            cache = Path(env["HOME"], ".local/share/muse/plugins/cache/local")
            loaded = load(env=env, workspace=root / "work", trust="")
            if len(loaded.hooks) != PLUGINS * HOOKS or loaded.problems:
                raise SystemExit(f"{len(loaded.hooks)} hooks in the place of {PLUGINS * HOOKS}: {loaded.problems[:1]}")
            total = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
            cases: dict[str, Callable[[], object]] = {
                "reading and hashing": partial(read_and_hash, cache),
                "a session's start": partial(load, env=env, workspace=root / "work", trust=""),
            }
            for case in cases.values():
                case()
            times: dict[str, list[float]] = {name: [] for name in cases}
            for name in interleaved(cases, ROUNDS):
                begun = time.perf_counter()
                cases[name]()
                times[name].append((time.perf_counter() - begun) * 1000)
        bare, ours = times.values()
        title = f"{size.name}, {total / 1e6:.1f} MB"
        print_table(
            (title, "p50 ms", "p95 ms"),
            [(name, f"{median(each):.1f}", f"{p95(each):.1f}") for name, each in times.items()],
        )
        rows.append(target(title, median(ours) / median(bare), MOST, "x"))
    print_table(TARGETS, rows)
    return int(any(row[-1] != "ok" for row in rows))


if __name__ == "__main__":
    sys.exit(main())

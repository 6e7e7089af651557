"""How long the program takes to start, and which heavy modules each command imports."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from figures import interleaved, median, p95, print_heading, print_table

ROUNDS = 40

PROGRAM = str(Path(sys.executable).with_name("hookline"))
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "hookline --help": [PROGRAM, "--help"],
    "hookline exec --help": [PROGRAM, "exec", "--help"],
    "hookline exec --provider echo hi": [PROGRAM, "exec", "--provider", "echo", "hi"],
    "hookline trace": [PROGRAM, "trace"],
}

# Each costs some milliseconds at least, so whoever imports one should need it.
HEAVY = ("aiohttp", "asyncio", "click", "msgspec", "re2", "rich", "ssl", "yaml")

# Runs a command as its own program would, and says what it has imported by its end.
LISTING = """
import sys
from hookline._cli.main import run
run(sys.argv[1:])
print("\\0", *sorted(sys.modules))
"""


def run(command: list[str], home: Path) -> str:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def measure(home: Path) -> dict[str, list[float]]:
    """Milliseconds of every start."""
    samples: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for name in interleaved(COMMANDS, ROUNDS):
        begun = time.perf_counter()
        run(COMMANDS[name], home)
        samples[name].append((time.perf_counter() - begun) * 1000)
    return samples


def modules(home: Path) -> Iterator[tuple[str, set[str]]]:
    for name, (program, *arguments) in COMMANDS.items():
        if program == PROGRAM:
            listed = run([sys.executable, "-c", LISTING, *arguments], home).rpartition("\0")[2]
            yield name, set(listed.split())


def main() -> None:
    print_heading(f"start-up, {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for command in COMMANDS.values():
            run(command, home)
        samples = measure(home)
        imported = dict(modules(home))
    bare = median(samples["python -c pass"])
    print_table(
        ["milliseconds", "p50", "p95", "beyond Python"],
        (
            [name, f"{median(taken):.1f}", f"{p95(taken):.1f}", f"{median(taken) - bare:.1f}"]
            for name, taken in samples.items()
        ),
    )
    print_table(
        ["imports", "all", "of hookline", "heavy ones"],
        (
            [
                name,
                f"{len(found)}",
                f"{sum(each.partition('.')[0] == 'hookline' for each in found)}",
                " ".join(each for each in HEAVY if each in found),
            ]
            for name, found in imported.items()
        ),
    )


if __name__ == "__main__":
    main()

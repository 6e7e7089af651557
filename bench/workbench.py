"""What an author waits for: `check` of a file of 200 handlers, and `fire` of one command hook."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import TARGETS, interleaved, median, p95, print_heading, print_table, target

ROUNDS = 40
HANDLERS = 200
CHECK, FIRE = 150.0, 200.0  # milliseconds: of `check` in all, of `fire` beyond its hook

PROGRAM = str(Path(sys.executable).with_name("hookline"))
EVENTS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionEnd")
OF_TOOLS = EVENTS[:2]

BARE, HOOK, CHECKED, FIRED = "python -c pass", "the hook alone", "hookline check", "hookline fire"


def document(handlers: int) -> str:
    """A hook file as people have it, only longer: a shell line each, a matcher at tool events, a third are patterns."""
    hooks: dict[str, list[object]] = {}
    for number in range(handlers):
        event = EVENTS[number % len(EVENTS)]
        command = f"/bin/true --rule {number} \"$HOME/log\" && echo '{{}}'"
        group: dict[str, object] = {"hooks": [{"type": "command", "command": command, "timeout": 5}]}
        if event in OF_TOOLS:
            group["matcher"] = "Bash|Write" if number % 3 else "^web_"
        hooks.setdefault(event, []).append(group)
    return json.dumps({"hooks": hooks}, indent=1)


def commands(home: Path) -> dict[str, list[str]]:
    many, one = home / "many.json", home / "one.json"
    many.write_text(document(HANDLERS))
    one.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}))
    fire = [PROGRAM, "fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}', "--config", str(one)]
    return {
        BARE: [sys.executable, "-c", "pass"],
        HOOK: ["/bin/sh", "-c", "exit 0"],
        CHECKED: [PROGRAM, "check", str(many)],
        FIRED: fire,
    }


def run(command: list[str], home: Path) -> float:
    """Milliseconds from start to end."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    taken = (time.perf_counter() - begun) * 1000
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return taken


def main() -> None:
    print_heading(f"check of {HANDLERS} handlers, fire of one command hook; {ROUNDS} interleaved rounds")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        cases = commands(home)
        for command in cases.values():
            run(command, home)
        samples: dict[str, list[float]] = {name: [] for name in cases}
        for name in interleaved(cases, ROUNDS):
            samples[name].append(run(cases[name], home))
    bare, hook = median(samples[BARE]), median(samples[HOOK])
    rows = (
        [name, f"{median(taken):.1f}", f"{p95(taken):.1f}", f"{median(taken) / bare:.1f}"]
        for name, taken in samples.items()
    )
    print_table(["milliseconds", "p50", "p95", "times bare Python"], rows)
    targets = [
        target(CHECKED, median(samples[CHECKED]), CHECK, " ms"),
        target(f"{FIRED} beyond its hook", median(samples[FIRED]) - hook, FIRE, " ms"),
    ]
    print_table(TARGETS, targets)


if __name__ == "__main__":
    main()

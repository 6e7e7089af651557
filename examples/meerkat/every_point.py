"""A session in which all 14 Meerkat points fire, each from something that really happens.

    python examples/meerkat/every_point.py

Two agents in one process: `builder` has the hooks of .rkat/config.toml, `reviewer` answers what it is asked. What the
hooks were given is in events.jsonl and the account of the session in journal/, both in a folder that is printed.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

import hookline as hl
from hookline.session import LocalHub

STEPS = """
steps:
  - calls:
      - {tool: peer_request, input: {to: reviewer, text: "is the build in order?"}}
      - {tool: bash, input: {command: "echo built > build.log"}}
  - say: built, and a review was asked for
  - say: the reviewer is content
  - fail: {category: rate_limit, details: slow down}
"""


async def converse(folder: Path) -> None:
    project = hl.open_project(folder, env=os.environ, trust="run-flag")
    hub = LocalHub()
    builder = hl.Peers("builder", hub.transport(), known=["reviewer"])
    reviewer = hl.Peers("reviewer", hub.transport(), known=["builder"])
    async with (
        project.engine,
        hl.new_engine() as no_hooks,
        hl.inputs_store(str(folder / "inputs.sqlite3")) as store,
        hl.Session(no_hooks, model=hl.EchoModel(), workspace=folder, peers=reviewer) as other,
        hl.Session(
            project.engine,
            model=hl.ScriptModel.parse(STEPS),
            tools=[*hl.tools(), *hl.peer_tools()],
            journals=hl.JournalFolder(folder / "journal"),
            workspace=folder,
            approval=hl.ApprovalMode.NEVER,
            inputs=store,
            peers=builder,
        ) as session,
    ):
        await session.run("build it", key="build-1")  # accepted; asks the reviewer
        await other.work_off()  # the reviewer's answer is admitted here
        await session.work_off()  # and worked on
        await session.run("build it", key="build-1")  # deduplicated: nothing is done again
        await session.admit(hl.Input(id=other.id, kind=hl.InputKind.PROMPT, durability=None))  # rejected
        await session.run("once more")  # the model fails


def main() -> None:
    here = Path(__file__).parent
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="hookline-"))
    shutil.copytree(here / ".rkat", folder / ".rkat", dirs_exist_ok=True)
    shutil.copy2(here / "note", folder)
    os.chdir(folder)  # commands start where the program was started
    asyncio.run(converse(folder))
    print(folder)


if __name__ == "__main__":
    main()

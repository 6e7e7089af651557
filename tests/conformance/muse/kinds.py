"""The kinds of cases that Muse has."""

import re

from tests.conformance.muse.canned import dispatching, loading
from tests.conformance.muse.plugins import stepping
from tests.conformance.muse.running import running
from tests.conformance.place import Layout
from tests.conformance.reading import Dialect, Kind

LAYOUT = Layout({"hooks.json": "@workspace@/.muse/hooks.json"}, rest="@home@/.config/muse")

KINDS = (
    Kind(  # a run of the real program
        gives={
            "exec": "arguments",
            "earlier": "arguments of a run before that one, which completes",
            "program": "the name that it is started by, muse unless said",
            "script": "what the model says; without it the model is echo",
            "files": "files in the workspace",
        },
        wants={
            "refused": "all of standard error, where nothing starts",
            "exit": "the exit code, 0 unless said",
            "stderr": "lines after workspace and trust, none unless said; @number@ stands for any",
            "stdout": "all of it, without --json",
            "terminals": "how each run ended",
            "runs": "runs of hooks as they ended, `<Event> <status> [<effects>]: <error>`; the error only where wanted",
            "context": "texts of context blocks",
            "results": "calls, `<tool> <status>: <text>`; the text only where wanted",
            "passes": "answers of the model that say something",
            "files": "what stands in files, null for one that is not there",
            "payloads": "lines of files that hooks wrote their input to, with the members that are wanted",
            "dead": "files that hold the number of a process that is no more",
        },
        found=running,
        unless_said={"refused": None, "exit": 0, "stderr": []},
    ),
    Kind(  # several runs of the real program, with packages
        gives={
            "steps": "runs of the program in order, as they are typed, exec with --provider echo and --json; or "
            "changes of files: `write`, `append`, `remove`, `link`; a `*` in a path stands for what is there",
            "packages": "files of packages by their paths, in @packages@; one whose name ends in ! can be executed; a "
            "mapping for a folder is its native manifest, as far as that differs from a sound one",
        },
        wants={
            "said": "of each run but sessions and --json: its lines, ` | ` for a tab, `! ` before those of standard "
            "error, and `= code` where it is not 0",
            "asides": "of the other runs, or of all if `said` is not wanted: standard error and codes, as there",
            "json": "of each run with --json the members that are wanted",
            "runs": "of each session its runs of hooks, as above",
            "context": "of each session its texts of context blocks",
            "heads": "of each session how its runs of hooks began, with the members that are wanted",
            "files": "as above",
            "payloads": "as above",
            "there": "by paths, whether there is something; plugins are kept in @store@",
        },
        found=stepping,
        unless_said={"asides": []},
    ),
    Kind(  # events through loader and engine, with replies that no process gives
        gives={"event": "one event or several", "replies": "by hook: exit, stdout, stderr; 0 and nothing unless said"},
        wants={
            "report": "start-up lines, none unless said",
            "called": "the hooks that were called",
            "decision": "what was decided",
            "runs": "as above",
            "applied": "effects that count",
            "payloads": "what hooks were given, with the members that are wanted",
        },
        found=dispatching,
        unless_said={"report": []},
    ),
    Kind(  # the loader alone
        gives={"config": "as in every case"},
        wants={
            "refused": "the words with which nothing starts",
            "hooks": "the hooks that are runnable",
            "report": "start-up lines, none unless said",
        },
        found=loading,
        unless_said={"refused": None, "report": []},
    ),
)

NUMBERED = {"L": 34, "M": 9, "P": 13, "A": 28, "T": 4, "F": 6, "G": 12}

MUSE = Dialect(
    kinds=KINDS,
    layout=LAYOUT,
    main="hooks.json",  # stands in the project; every other configuration file stands beside the settings
    numbered=tuple(f"{letter}{n:02}" for letter, last in NUMBERED.items() for n in range(1, last + 1)),
    # A question that the sources leave open, a decision, or one more case to a numbered one.
    own=re.compile(r"Q[0-9]{2}[a-z]?|D[0-9]{2}|[LMPATFG][0-9]{2}[b-z]"),
)

"""What a person or a pipe sees of a session: results on standard output, everything about it on standard error."""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Callable

import click

from hookline._cli.labels import Labels
from hookline._cli.program import program_name
from hookline._core.hooks import HeldBack
from hookline._core.outcomes import Kind, Outcome
from hookline._core.problems import UNSPOKEN
from hookline._core.reasons import Skip
from hookline._core.records import ApprovalAsked, Dispatched, HookEnded, HookStarted, InputDecided, Noted, Record
from hookline._engines import Project
from hookline._locks import CHANGED, UNKNOWN
from hookline.dialects._base import NOT_TRUSTED
from hookline.session.ports import ApprovalRequest, Approver, RunResult, Verdict

REMEDIES = {
    NOT_TRUSTED: "; --trust-workspace trusts it for one run, `hookline trust` for good",
    CHANGED: "; `hookline trust --lock` takes it as it is now",
    UNKNOWN: "; `hookline trust --lock` takes it in",
}

SCREEN = 1500  # characters of a question that a terminal surely shows at once
BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and symbols that look like nothing

ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}

SLOW = 2.0  # seconds after which a person begins to wonder what the session waits for


class Console:
    """Shows one command's sessions. Under the name of a dialect's original it prints what that prints, no more."""

    def __init__(self, project: Project, *, as_json: bool, events: str = "muse") -> None:
        self._project = project
        self._program = program_name()
        self._as_json = as_json
        self._original = any(self._program in package.programs for package, _ in project.loaded)
        self._streams = [
            package.stream()
            for package, _ in project.loaded
            if package.stream is not None and package.dialect.name == events
        ]
        self.watchers: list[Callable[[Record, list[str]], None]] = []  # each is given every record and its events
        self._labels = Labels() if sys.stderr.isatty() else None
        self._asking = asyncio.Lock()
        self._unanswered: Counter[str] = Counter()
        self._slowest: dict[str, float] = {}

    def say(self, text: str) -> None:
        """One line about the session."""
        click.echo(f"{self._program}: {_on_one_line(text)}", err=True)

    def report_loading(self) -> None:
        """How the folder is trusted, what is wrong with the hook files, and what will not run although it is right."""
        for package, loaded in self._project.loaded:
            if loaded.trust:
                self.say(f"workspace trust: trusted source={loaded.trust}")
            if package.report is not None:
                for line in package.report(loaded, self._program):
                    click.echo(line, err=True)
            if self._original:
                continue
            for problem in loaded.problems:
                if problem.scope in UNSPOKEN or package.report is None:
                    self.say(f"{problem.where.label}: {problem.message}")
            for held in loaded.held_back:
                if not held.meant:
                    self.say(f"{held.label}: {_handlers(held)}held back: {held.why}")

    def show(self, record: Record) -> None:
        """One record, in whatever form it is wanted."""
        self._watch(record)
        if self._as_json or self.watchers:
            lines = [line for stream in self._streams for line in stream.lines(record)]
            for line in lines if self._as_json else ():
                click.echo(line)
            for watch in self.watchers:
                watch(record, lines)
        if self._original and isinstance(record, Noted) and not record.hook:
            return  # a remark of the session's own, which the original does not make
        for package, _ in self._project.loaded:
            if package.notices is not None:
                for line in package.notices(record, self._program):
                    self._print_above_labels(line)

    def report_result(self, result: RunResult) -> None:
        """How one run ended, in text mode."""
        if self._as_json:
            return
        if result.text:
            click.echo(_tame(result.text) if sys.stdout.isatty() else result.text, color=True)  # to a pipe as it is
        if result.ending.value != "completed":
            because = "" if self._original or not result.reason else f": {_tame(result.reason)}"
            click.echo(f"run ended with {result.ending.value.capitalize()}{because}", err=True)

    def summarise(self) -> None:
        """At the end: the hooks that gave no answer, and those that were never asked."""
        if self._original:
            return
        for text, count in self._unanswered.items():
            self.say(text + (f" ({count} times)" if count > 1 else ""))
        for hook, seconds in self._slowest.items():
            self.say(f"hook {hook} kept the session waiting for {seconds:.1f} s")
        for _, loaded in self._project.loaded:
            for held in loaded.held_back:
                if held.count and not held.meant:
                    self.say(f"{_handlers(held)}of {held.label} never ran: {held.why}{_remedy(held)}")

    def approver(self) -> Approver | None:
        """Who is asked for approval: the person at the terminal, if there is one."""
        return self._ask if sys.stdin.isatty() and sys.stderr.isatty() else None

    def _watch(self, record: Record) -> None:
        match record:
            case HookStarted(hook=hook) if self._labels is not None and not hook.background:
                self._labels.add(hook.id, hook.label or hook.id)
            case HookEnded(outcome=outcome):
                if self._labels is not None:
                    self._labels.remove(outcome.hook.id)
                if outcome.hook.background:
                    self._note_end(outcome, went_on=False)
            case ApprovalAsked(tool=tool, allowed=False, by="nobody"):
                why = "it waits for approval and there is no terminal to ask at; see --approval-mode"
                self._unanswered[f"{tool} was not run: {why}"] += 1
            case InputDecided(outcome="deduplicated", existing=existing) if not self._original:
                self.say(f"this input was admitted before, as {existing}: nothing is done again")
            case Dispatched(resolution=resolution):
                unheard = resolution.unheard()
                for outcome in resolution.outcomes:
                    self._note_end(outcome, went_on=outcome in unheard)
            case _:
                pass

    def _note_end(self, outcome: Outcome, *, went_on: bool) -> None:
        """Remember what the summary will say: that a hook gave no answer, or that it was slow."""
        hook = outcome.hook.id
        if outcome.kind in {Kind.FAILED, Kind.SKIPPED} and outcome.why is not Skip.DENIED_EARLIER:
            word = "failed" if outcome.kind is Kind.FAILED else "was skipped"
            why = outcome.detail or (outcome.why.value if outcome.why else "")
            mark = " [proceeded_without_answer]" if went_on else ""
            too = ", and so did its fallback" if outcome.links and outcome.kind is Kind.FAILED else ""
            self._unanswered[f"hook {hook} {word}{too}: {why}{mark}"] += 1
        if outcome.ran >= SLOW and not outcome.hook.background:
            self._slowest[hook] = max(outcome.ran, self._slowest.get(hook, 0.0))

    def _print_above_labels(self, line: str) -> None:
        if self._labels is not None:
            self._labels.print(line)
        else:
            click.echo(line, err=True)

    async def _ask(self, request: ApprovalRequest) -> Verdict:
        shown = _visible(json.dumps(request.input, ensure_ascii=False, indent=2, default=str))
        why = _visible(request.reason).replace("\n", "\\n")
        size = "" if len(shown) <= SCREEN else f"all {len(shown):,} characters above, for {request.tool_name}: "
        text = f"{self._program}: {request.tool_name} wants to run ({why}):\n{shown}\n{size}allow? [y/N] "
        import termios  # there is none on Windows, nor anybody who could be asked this way

        async with self._asking:  # one question at a time, and what was typed before it is no answer to it
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
            self._print_above_labels(text.rstrip("\n"))
            while (said := (await _next_line()).strip().lower()) not in ANSWERS:
                self._print_above_labels("answer y or n:")
        allowed = ANSWERS[said]
        return Verdict(allowed=allowed, reason="" if allowed else "the user said no")


def _visible(text: str) -> str:
    """*text* with everything spelled out that a terminal would act on or a reader would not see."""
    return "".join(each if each == "\n" or _is_seen(each) else each.encode("unicode_escape").decode() for each in text)


def _is_seen(each: str) -> bool:
    return each.isprintable() and each not in BLANK and not "\ufe00" <= each <= "\ufe0f" and each < "\U000e0000"


def _on_one_line(text: str) -> str:
    return _tame(text).replace("\n", "\\n")


def _tame(text: str) -> str:
    """*text* with everything spelled out that moves the cursor, hides what follows or turns it around."""
    return "".join(
        each if each.isprintable() or each in "\n\t\u200d" else each.encode("unicode_escape").decode() for each in text
    )


async def _next_line() -> str:
    """The next line of standard input, without keeping a thread that cannot be ended."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(sys.stdin, readable.set)
    try:
        await readable.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()


def _remedy(held: HeldBack) -> str:
    """What to do about hooks that are held back, if anything."""
    return next((remedy for why, remedy in REMEDIES.items() if held.why.endswith(why)), "")


def _handlers(held: HeldBack) -> str:
    """How many, in words. None at all means that the file cannot be read as hooks; it is still held back."""
    return "" if held.count == 0 else "1 handler " if held.count == 1 else f"{held.count} handlers "

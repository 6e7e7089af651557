"""The list of reports, one line each, and that every one of them has a test.

What people who run agent hooks have reported (B), faults that comparable engines showed when they were read or run
(F), and places where a dialect does what its users do not expect (trap). A test's name begins with the report's id:
`test_b01_...`, `test_f12_...`, `test_trap3_...`.
"""

import re
from pathlib import Path

REPORTS = {
    "b01": "a guard that timed out let the call through, and nothing told that from a yes",
    "b04": "a guard printed BLOCKED and exited 1, which blocks nothing",
    "b05": "a typing error in a script's path turned its guard off",
    "b07": "a circuit breaker switched a failing guard off for the rest of the session",
    "b08": "a guard that had to fail closed crashed before it printed anything, and the call was allowed",
    "b09": "the same with a command that was not there and with one that never answered, in a Python host",
    "b11": "a denial came back and the tool ran all the same",
    "b13": "a policy hook that never ran looked like an approval",
    "b14": "one bad entry took every hook of the file, without a word",
    "b15": "an unknown event rejected the whole file",
    "b16": "a capital letter in `type` switched a hook off",
    "b17": "a file of another tool was loaded, and nothing in it ran",
    "b18": "seconds were taken for milliseconds",
    "b19": "hooks were skipped for want of trust and nobody was told",
    "b21": "a policy switched hooks off, and nothing said which",
    "b23": "a resumed session had lost its hooks",
    "b25": "hooks could be registered for a point that nothing ever fired",
    "b27": "context at the top level of an answer was dropped",
    "b28": "the same answer was taken by one host and refused by another",
    "b29": "nine guards were void because `hookEventName` was missing",
    "b30": "an answer beside exit 2 was ignored without a note",
    "b31": "a shell's profile printed before the JSON",
    "b32": "two JSON documents on standard output",
    "b34": "output over a cap was replaced by a preview for weeks",
    "b35": "one hook's question cancelled another one's rewrite",
    "b36": "a hook that read none of its input broke every call",
    "b38": "standard input was never closed, so reading all of it hung",
    "b39": "a declared limit did not hold while input was being written",
    "b42": "a byte order mark where none was expected",
    "b43": "a timeout killed the shell and left its children",
    "b44": "a background child kept standard output open",
    "b45": "a hook ignored the signal that should end it",
    "b46": "the host died and its hooks stayed",
    "b48": "a hook without a limit held a session's start up for minutes",
    "b51": "of two rewrites the one that finished last won",
    "b52": "a hook that said nothing erased another one's rewrite",
    "b53": "a rewrite replaced the input instead of adding to it, and the tool crashed",
    "b55": "hooks that share a file raced",
    "b56": "an engine that served two sessions mixed up their ids",
    "b59": "a guard was still thinking when the tool had run",
    "b60": "the name of a tool server alone matched none of its tools",
    "b62": "a tool was renamed and its hooks were dead",
    "b64": "an unbalanced parenthesis in a matcher raised at the call",
    "b65": "a matcher on an event that has nothing to match",
    "b67": "a path with an emoji in it broke every guard",
    "b68": "half a surrogate pair, or a file name that is no UTF-8, broke the payload",
    "b69": "a cap cut a character in two",
    "b71": "both spellings of one field, or one key twice",
    "b72": "something that is no string where text is expected",
    "b74": "a relative script path, after the directory had changed",
    "b75": "the variable with the project's folder was empty",
    "b76": "hooks saw secrets of the host",
    "b78": "a path lost its backslashes in one shell, and `||` was unknown to another",
    "b80": "the shell that hooks run in was not there",
    "b81": "a hook read variables, and the host sent its input",
    "b82": "a Stop hook kept a run going for ever",
    "b84": "an agent edited its own hooks",
    "b85": "a project's file decided about its own trust",
    "b86": "a SessionEnd hook was cut short",
    "b88": "SessionStart fired for every prompt, or twice",
    "b89": "a hook in two sources ran twice without a label",
    "b91": "starting processes was the bill, and nobody knew which hook's",
    "b92": "the time that hooks took was in no account",
    "b93": "it took half an hour to find out whether a hook is called at all",
    "b94": "an endpoint that was down, redirected, trickled or babbled was taken for an answer",
    "b95": "the calls of a child agent were asked of nobody",
    "f01": "a hook that ended early was a failed write, and failed the run",
    "f02": "a background child turned a finished hook into a timeout, and was left running",
    "f03": "a limit of milliseconds cost the whole grace",
    "f05": "commands saw every secret of the host, and requests followed redirects and proxies",
    "f06": "a run that was dropped left its hook at work",
    "f07": "of fourteen points the guide knew eight",
    "f09": "one trap made a guard refuse everything for the rest of the session",
    "f10": "hooks that were built for the interface before this one",
    "f11": "a full queue dropped events, and nothing counted them",
    "f12": "crashed guards allowed, and hanging ones hung the host",
    "f14": "a hook whose subscriptions could not be read was called at everything",
    "f15": "a synchronous handler blocked the event loop past its limit, and was then allowed",
    "f16": "no limits, and one exception stopped every later handler",
    "f18": "an exception failed the run, and the first answer hid the event from auditors",
    "f20": "errors always allowed, and a second writer raised",
    "f21": "grandchildren outlive a timeout, and one in a session of its own escapes",
    "f22": "Python's JSON reader takes NaN and duplicate keys; a backtracking matcher takes seconds",
    "trap1": "a payload over 256 KiB skips the hook, so padding is a way around it",
    "trap2": "exit 2 without a word on standard error blocks nothing",
    "trap3": "`onFailure` runs for failures only, three levels deep",
    "trap4": "`name` or `timeout_ms` on one managed handler changes the rules for the whole file",
    "trap5": "the cap of 16 KiB counts each output stream by itself",
    "trap6": "a denial skips whoever is behind it, auditors included, and a failure fails the run",
    "trap7": "a refusal without a reason, and one of what has happened already",
    "trap8": "a word where it cannot count, found only when the hook was loaded",
}

# Why there is no test of a report under Meerkat. Every other one has one: a dialect's own failure of the same kind.
NOT_MEERKAT = {
    "b53": "hooks change no input there",
    "b60": "there are no matchers: an entry names its point, and sees all that happens at it",
    "b62": "there are no matchers",
    "b64": "there are no matchers",
    "b65": "there are no matchers",
    "b78": "there is one form of a command, and no shell reads it",
    "b82": "no hook can keep a run going: a denial at its end fails it",
    "f09": "there are no components",
    "f10": "there is one version of its envelope",
    "f14": "an entry names its one point, and an unknown one is an error: see b15",
    "f18": "there a failure fails the run by design, and a denial skips those behind it: see trap6",
    "f20": "there is nothing that two hooks could both write",
    "trap2": "no exit status but 0 has an answer: see b04",
    "trap3": "there are no fallbacks: a failure fails the run",
    "trap4": "there is one form of an entry, whoever wrote it",
    "trap5": "the cap of each stream is in b34",
    "trap7": "a denial there needs its reason, and what has happened is only observed",
    "trap8": "what an answer may hold is told by its point, when it answers",
}

TEST = re.compile(r"^(?:async )?def test_([a-z]+\d+)_", re.MULTILINE)


def reports_in(pattern: str) -> set[str]:
    """The reports that the test files of this name have tests of."""
    files = Path(__file__).parent.glob(pattern)
    return {found for path in files for found in TEST.findall(path.read_text(encoding="utf-8"))}


def test_every_report_has_a_test() -> None:
    """No report without a test, and no test for a report that is not on the list."""
    assert sorted(REPORTS) == sorted(reports_in("test_*.py"))


def test_every_report_has_a_test_under_meerkat_or_a_reason() -> None:
    """A dialect that came later has the reports of the first: each is a test of its own there, or cannot happen."""
    assert sorted(REPORTS.keys() - NOT_MEERKAT.keys()) == sorted(reports_in("test_meerkat_*.py"))

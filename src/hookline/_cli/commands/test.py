"""`test`: what hooks should do, and what they do."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import click

from hookline._cli.asking import Asking, hook_options
from hookline._cli.options import Sectioned, option
from hookline._cli.program import program_name
from hookline._core.errors import UsageError

RUN, WRITE, ANSWER, OUTPUT = "Which cases", "Writing files", "One answer", "Output"
FORMATS = ("text", "json", "junit")

EXAMPLES = """\b
Examples:
  hookline test
  hookline test tests/guard.hooktest.yaml -v
  hookline test --init guard.hooktest.yaml --config .muse/hooks.json
  hookline test --update
  hookline test --format junit --output report.xml
  echo '{"continue": true}' | hookline test --answer - --point SessionStart

Ends with 1 where a case is not as it wants to be, or a file has a mistake.
"""


@click.command("test", cls=Sectioned, epilog=EXAMPLES)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@option(RUN, "--filter", "only", metavar="TEXT", help="Run the cases with this in their name.")
@option(RUN, "--jobs", type=click.IntRange(min=1), metavar="N", help="Cases at once; by default one for each core.")
@option(RUN, "--fail-fast", is_flag=True, help="Begin no more after the first that is not as it wants to be.")
@option(
    WRITE, "--update", is_flag=True, help="Write what was found into the cases that want it otherwise, or nothing yet."
)
@option(
    WRITE,
    "--init",
    "first",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a first file for the hooks that are loaded, which the options below choose. No hook is called.",
)
@option(
    ANSWER,
    "--answer",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    help="Read a hook's saved standard output as every dialect would at --point; `-` is standard input.",
)
@option(ANSWER, "--point", metavar="EVENT", help="The event that it answers.")
@option(ANSWER, "--exit", "code", type=int, default=0, metavar="N", help="The exit status with it. 0 by default.")
@option(ANSWER, "--stderr", metavar="TEXT", default="", help="The standard error with it.")
@option(
    OUTPUT, "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to say it."
)
@option(
    OUTPUT, "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to, instead of standard output."
)
@option(OUTPUT, "--verbose", "-v", is_flag=True, help="Show of each case all that crossed.")
@option(
    OUTPUT,
    "--min-coverage",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="End with 1 where fewer hooks were asked.",
)
@hook_options
def COMMAND(**options: Any) -> int:  # noqa: N802  # as the table of commands has it
    """Run the cases of every *.hooktest.yaml file in PATHs, or below this folder.

    Each case asks the hooks about one event, for real, and compares what came of it with what it wants. A fault can
    stand in a hook's place: what would the agent have done without it?
    """
    own = {name: options.pop(name) for name in OWN}
    asking = Asking(**options)
    if own["answer"] is not None:
        return _read_answer(own)
    if own["first"] is not None:
        return asyncio.run(_init(own["first"], asking))
    return _test(own)


OWN = (
    "paths", "only", "jobs", "fail_fast", "update", "first", "answer", "point", "code", "stderr", "form", "output",
    "verbose", "min_coverage",
)  # fmt: skip


def _test(own: dict[str, Any]) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.workbench.cases.files import files_in
    from hookline.workbench.cases.rows import result_rows, summary_rows
    from hookline.workbench.cases.running import run_cases

    files = files_in(own["paths"])
    base = Path.cwd()
    as_text = own["form"] == "text" and own["output"] is None

    def show(result: Any) -> None:
        if as_text and not (own["update"] and result.fired is not None):  # what was run is written, not judged
            print_rows(result_rows(result, base, whole=own["verbose"]))

    only = own["only"] or ""
    report = asyncio.run(
        run_cases(
            files,
            jobs=own["jobs"] or os.cpu_count() or 1,
            chosen=lambda case: only in case.name,
            on_result=show,
            fail_fast=own["fail_fast"],
        )
    )
    if own["update"]:
        return _update(report)
    code = 0 if report.is_fine else 1
    if as_text:
        print_rows(summary_rows(report))
    else:
        _write(_text_of(report, own["form"], base, whole=own["verbose"]), own["output"])
    if own["min_coverage"] is not None and report.coverage.percent < own["min_coverage"]:
        told = f"{report.coverage.percent:.0f} % of the hooks were asked, and {own['min_coverage']:g} are wanted"
        click.echo(f"{program_name()}: {told}", err=True)
        return 1
    return code


def _text_of(report: Any, form: str, base: Path, *, whole: bool) -> str:
    from hookline.workbench.cases.junit import junit
    from hookline.workbench.cases.rows import result_rows, summary_rows
    from hookline.workbench.rows import rendered, unstyled

    match form:
        case "json":
            return json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n"
        case "junit":
            return junit(report)
        case _:
            rows = [
                *(row for each in report.results for row in result_rows(each, base, whole=whole)),
                *summary_rows(report),
            ]
            return "".join("  " * level + rendered(spans, width=10_000, style=unstyled) + "\n" for level, spans in rows)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error


def _update(report: Any) -> int:
    """1 where a case could not be run, or stands on one line."""
    from hookline.workbench.cases.golden import update
    from hookline.workbench.cases.types import Status
    from hookline.workbench.finding_rows import shown_path

    code = 1 if report.problems else 0
    for problem in report.problems:
        click.echo(f"{program_name()}: {problem.where}: {problem.message}", err=True)
    for path in dict.fromkeys(result.file for result in report.results):
        shown = shown_path(str(path), Path.cwd())
        updated = update(path, [result for result in report.results if result.file == path])
        if updated.changed:
            click.echo(
                f"{program_name()}: {shown}: {updated.changed} case{'' if updated.changed == 1 else 's'} written",
                err=True,
            )
        for name in updated.unchangeable:
            click.echo(
                f"{program_name()}: {shown}: {name!r} stands on one line: write it as a block to have it updated",
                err=True,
            )
            code = 1
    broken = any(each.fired is None and each.status is Status.BROKEN for each in report.results)
    return 1 if broken else code


async def _init(path: Path, asking: Asking) -> int:
    from hookline.workbench.cases.first import first_file
    from hookline.workbench.opening import opened

    chosen = asking.chosen()
    async with opened(chosen) as project:
        count = first_file(path, project, chosen)
    click.echo(f"{path}: {count} cases, for `hookline test --update {path}` to fill in")
    return 0


def _read_answer(own: dict[str, Any]) -> int:
    from hookline._cli.terminal import print_rows
    from hookline.journal.encode import answer_fields
    from hookline.journal.plain import plain
    from hookline.workbench.answers import readings
    from hookline.workbench.rows import Role, Span

    if own["point"] is None:
        raise UsageError("which event does it answer? Write --point PreToolUse")
    stdout = _bytes_of(own["answer"])
    found = readings(own["point"], stdout=stdout, stderr=own["stderr"].encode(), code=own["code"])
    if own["form"] == "json":
        click.echo(json.dumps([each.as_json() for each in found], ensure_ascii=False, indent=2))
        return 0
    for each in found:
        name = [Span(Role.NAME, each.dialect), Span(Role.QUIET, each.point)]
        if each.answer is None:
            print_rows([(0, [*name, Span(Role.BAD, "no answer"), Span(Role.TEXT, each.why)])])
            continue
        told = {key: value for key, value in plain(answer_fields(each.answer)).items() if value}
        said = json.dumps(told, ensure_ascii=False) if told else "nothing"
        print_rows([(0, [*name, Span(Role.GOOD, "answered"), Span(Role.TEXT, said)])])
    return 0


def _bytes_of(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error

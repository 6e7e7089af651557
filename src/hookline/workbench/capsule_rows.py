"""What a capsule's journal tells besides: what was seeded, shortened, reopened, asked and handed over."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hookline.journal import entries as en
from hookline.workbench.hook_rows import lasted
from hookline.workbench.rows import Role, Span, first_line

Spans = Sequence[Span]


def spans_of(body: en.Body) -> Spans | None:
    """The line for *body*, None where it is none of these."""
    shown = SHOWN.get(type(body))
    return None if shown is None else shown(body)


def _shell(ended: en.ShellEnded) -> Spans:
    code = Span(Role.GOOD if ended.exit_code == 0 else Role.BAD, f"exit {ended.exit_code}")
    return [code, Span(Role.TEXT, ended.command.program), Span(Role.QUIET, lasted(ended.duration_ms))]


def _forbidden(call: en.CallForbidden) -> Spans:
    return [Span(Role.BAD, "forbidden by the manifest"), Span(Role.TEXT, call.path), Span(Role.QUIET, call.rule)]


def _reopened(run: en.Reopened) -> Spans:
    told = [Span(Role.MARK, f"reopened {run.number}"), Span(Role.NAME, run.hook)]
    return [*told, Span(Role.TEXT, first_line(run.reason))]


def _seeded(seed: en.ContextSeeded) -> Spans:
    role = Role.BAD if seed.outcome == "rejected" else Role.GOOD
    tokens = f"{seed.tokens} of {seed.proposed} tokens, budget {seed.budget}"
    return [
        Span(role, seed.outcome),
        Span(Role.NAME, seed.hook),
        Span(Role.TEXT, seed.reason),
        Span(Role.QUIET, tokens),
    ]


def _compacted(done: en.Compacted) -> Spans:
    tokens = f"{done.before} to {done.after} tokens"
    return [Span(Role.GOOD, "compacted"), Span(Role.NAME, done.hook), Span(Role.QUIET, tokens)]


def _declined(compaction: en.CompactionDeclined) -> Spans:
    told = [Span(Role.MARK, "not compacted"), Span(Role.TEXT, compaction.reason)]
    return [*told, Span(Role.QUIET, f"{compaction.tokens} tokens")]


def _asked(model: en.HookAskedModel) -> Spans:
    role = Role.BAD if model.decision == "error" else Role.GOOD
    tokens = f"{model.input_tokens} input, {model.output_tokens} output"
    spans = [Span(Role.HEADING, "model"), Span(role, model.decision), Span(Role.NAME, f"for {model.hook}")]
    return [*spans, Span(Role.QUIET, tokens), Span(Role.QUIET, lasted(model.duration_ms))]


def _artifact(made: en.ArtifactEmitted) -> Spans:
    return [Span(Role.HEADING, "artifact"), Span(Role.NAME, made.hook), Span(Role.TEXT, first_line(made.content))]


def _diagnosed(line: en.Diagnosed) -> Spans:
    return [Span(Role.QUIET, f"{line.log}.log"), Span(Role.QUIET, first_line(line.text))]


SHOWN: Mapping[type[en.Body], Callable[[Any], Spans]] = {
    en.ShellEnded: _shell,
    en.CallForbidden: _forbidden,
    en.Reopened: _reopened,
    en.ContextSeeded: _seeded,
    en.Compacted: _compacted,
    en.CompactionDeclined: _declined,
    en.HookAskedModel: _asked,
    en.ArtifactEmitted: _artifact,
    en.Diagnosed: _diagnosed,
}

"""Every hook there is, by point."""

from pathlib import Path

from tests.unit.workbench.rig import command, meerkat_file, muse_file, project
from tests.unit.workbench.test_explain import BOTH

from hookline.workbench.listing import Rows, listed, listed_rows, point_rows
from hookline.workbench.rows import rendered, unstyled


def printed(rows: Rows) -> list[str]:
    return ["  " * level + rendered(spans, width=80, style=unstyled) for level, spans in rows]


def test_hooks_stand_by_point_in_the_order_of_the_lifecycle(tmp_path: Path) -> None:
    """Each at each of its points, in the order in which they are asked; those that are held back with the reason."""
    muse_file(tmp_path, Stop=[command("true")], SessionStart=[command("true")], PreToolUse=[command("true")])
    meerkat_file(tmp_path, BOTH)

    found = [(each.point.name, each.hook.id, each.held_back) for each in listed(project(tmp_path))]

    assert [
        ("session_start", "hooks.json:SessionStart[0].hooks[0]", ""),
        ("before_tool_call", "hooks.json:PreToolUse[0].hooks[0]", ""),
        ("before_tool_call", "meerkat:early", ""),
        ("before_tool_call", "meerkat:late", ""),
        ("before_tool_call", "meerkat:off", "switched off by `enabled = false`"),
        ("before_run_end", "hooks.json:Stop[0].hooks[0]", ""),
    ] == found


def test_what_is_printed_fits_and_says_what_is_called(tmp_path: Path) -> None:
    """No row needs more than a screen, and a folder without hooks says so."""
    muse_file(tmp_path, PreToolUse=[{"matcher": "Bash", "hooks": [command("./guard.sh --all")]}])
    hooks = project(tmp_path)

    lines = printed(listed_rows(listed(hooks), hooks))

    assert "      ./guard.sh --all  when exactly Bash" in lines
    assert ["no hook is loaded"] == printed(listed_rows((), project(tmp_path / "x")))
    assert any("pre_tool_execution" in span.text for _, spans in point_rows() for span in spans)


def test_what_is_not_loaded_is_said_below_what_is(tmp_path: Path) -> None:
    """Trusted or not: a list without a hook says why it is not there."""
    muse_file(tmp_path, Stop=[{"type": "comand", "command": "true"}])

    for trust in ("", "run-flag"):
        hooks = project(tmp_path, trust=trust)
        last = printed(listed_rows(listed(hooks), hooks))[-2:]
        assert ["1 problem: some hooks are not loaded  see check"] == last[:1]
        assert last[1].startswith("  UnsupportedHandler")

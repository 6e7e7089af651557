"""Shell lines taken apart: which programs they start, which variables they read."""

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import hookline as hl
from hookline._core.definitions import scripts_of
from hookline._core.hooks import Hook
from hookline._core.shell_lines import ShellLine, parsed, shell_line
from hookline._core.targets import CommandTarget


def programs(text: str) -> list[str]:
    line = shell_line(text)
    assert line is not None, text
    return [words[0] for words in line.commands]


def read(text: str) -> ShellLine:
    line = shell_line(text)
    assert line is not None, text
    return line


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (["a", "b", "c", "d"], "a | b && c || d"),
        (["a", "b"], "a & b;"),
        (["a", "b", "c"], "a\nb\n\nc"),
        (["a"], "X=1 Y='2 3' a"),
        (["a"], "! time a"),
        (["a", "b", "c"], "if a; then b; else c; fi"),
        (["a", "b"], "while a; do b; done"),
        (["b"], "for a in x y; do b; done"),
        (["b"], "select a in x y; do b; done"),
        (["b"], "for ((i=0; i<3; i++)); do b; done"),
        (["b", "c"], 'case "$1" in x|y) b;; (z) c;; *) ;; esac'),
        (["a", "b", "echo"], "a; x=$(case $1 in a) b;; esac); echo"),
        (["read", "b", "d"], "while read l; do case $l in a|b) b;; *) d; esac; done"),
        (["a", "b"], "f() { a; }; b"),
        (["a", "b"], "function f { a; }\nb"),
        (["a", "b"], "(a; b)"),
        (["a", "b"], "{ a; b; }"),
        (["b", "echo"], "echo $(b)"),
        (["b", "echo"], 'echo "x $(b "y; z") w"'),
        (["b", "echo"], "echo `b`"),
        (["echo"], "echo $((1 + (2 * 3)))"),
        (["let", "echo"], "((x = 1)); echo $x"),
        (["echo"], 'x=(a b "c d"); echo "${x[@]}"'),
        (["b", "c", "a"], "a <(b) <(c)"),
        (["a"], "a > b 2>&1 < c &> d >> e"),
        (["a"], 'a <<< "b c"'),
        (["a", "b"], "a <<EOF\nnone $(b)\nEOF"),
        (["a", "c"], "a <<'EOF'\nnone $(b)\nEOF\nc"),
        (["a", "b", "c"], "a <<X | b\nnone\nX\nc"),
        (["a", "c"], "a <<-X\n\tnone\n\tX\nc"),
        (["a"], "a # b; c"),
        (["a#b"], "a#b"),
        (["echo", "jq"], "echo \"can't\"; jq '.a as $x | $x'"),
        (["echo", "b"], "echo it\\'s; b"),
        (["[[", "a"], "[[ -f x || $y =~ ^(b|c)$ ]] && a"),
        (["[[", "a"], "if [[ $y =~ (b|c) ]]; then a; fi"),
        (["command"], "command -v a"),
        (["a"], "command a"),
        (["sh", "a", "b"], "sh -c 'a; b'"),
        (["bash", "a"], 'bash -lc "a"'),
        (["printf"], "printf $'it\\'s; b'"),
        (["awk"], "awk '{print $1; next}'"),
        (["find", "b"], "find . -exec sh -c {} \\; ; b"),
    ],
)
def test_what_is_started_is_told_from_what_is_text(wanted: list[str], text: str) -> None:
    """Programs in the order of the text, those of substitutions before what they are put into."""
    assert wanted == programs(text)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (["A"], "echo $A"),
        (["A"], 'echo "$A ${A}"'),
        ([], "echo '$A' \\$A \"\\$A\""),
        (["A"], "echo \"it's $A\" 'x'"),
        ([], "A=1; echo $A"),
        ([], "export A=1 && echo $A"),
        ([], "read -r A B; echo $A $B"),
        ([], "for A in x; do echo $A; done"),
        ([], "select A in x; do echo $A; done"),
        ([], "mapfile -t A; echo ${A[0]}"),
        ([], "getopts ab A; echo $A"),
        ([], "printf -v A x; echo $A"),
        ([], "declare -A A; A[x]=1; echo ${A[x]}"),
        ([], "((A = 1)); echo $A"),
        ([], "if read A; then echo $A; fi"),
        ([], "echo ${A:-b} ${A-b} ${A:+b} ${A:?b}"),
        ([], ": ${A:=b}; echo $A"),
        (["B"], "echo ${A:-$B}"),
        (["A"], "echo ${A%/*}"),
        ([], "echo $1 $? $# $@ $$ ${1} ${#}"),
        (["A"], "cat <<EOF\n$A\nEOF"),
        ([], "cat <<'EOF'\n$A\nEOF"),
        ([], "cat <<\\EOF\n$A\nEOF"),
        (["A"], "cat <<'EOF'\nx\nEOF\necho $A"),
        ([], "x # $A"),
        ([], "jq '.a as $A | $A'"),
        ([], "x=\"$(jq -r '.a as $A | $A')\""),
        (["A"], "x=$(echo $A)"),
    ],
)
def test_what_is_read_is_what_nobody_has_set(wanted: list[str], text: str) -> None:
    """Variables that the shell puts in, and that the line does not set, take a default for, or only quote."""
    assert wanted == list(read(text).reads)


@pytest.mark.parametrize(
    "text", ["echo 'a", 'echo "a', "echo $(a", "echo `a", "(a", "a)", "${A", "a <<\n", "$((1", "'"]
)
def test_what_is_no_line_is_left_alone(text: str) -> None:
    """A quote or a parenthesis that is never closed."""
    assert shell_line(text) is None


def test_only_what_a_shell_runs_is_a_line() -> None:
    """A program with arguments is none."""
    assert parsed(["python3", "-c", "a; b"]) is None
    line = parsed(["/bin/bash", "--norc", "-c", "a < b"])
    assert line is not None
    assert ((("a",),), ("b",)) == (line.commands, line.inputs)


@pytest.mark.parametrize(
    ("text", "wanted"), [(". ./x", True), ("source x; y", True), ("eval $x", True), ("x y", False)]
)
def test_what_may_set_anything_is_known(text: str, wanted: bool) -> None:
    """Other files, and text that is made on the way."""
    assert wanted == read(text).runs_unseen


@example(text="> f()")
@given(text=st.text(alphabet="ab $'\"`\\(){}[]<>|&;#=\n!", max_size=60))
def test_any_text_is_a_line_or_none(text: str) -> None:
    """Nothing raises, whatever is written."""
    shell_line(text)


@pytest.mark.parametrize("text", ["$(" * 5000, "${a:-" * 5000, "(" * 5000, "a=(" * 5000, "`" * 5001, '"$(' * 5000])
def test_what_nests_without_end_is_left_alone(text: str) -> None:
    """No depth of it is a fault of ours."""
    assert shell_line(text) is None


WORDS = st.lists(st.text(alphabet="ab c$'\"\\;|&<>#*", min_size=1, max_size=8), min_size=1, max_size=4)


@given(words=WORDS)
def test_words_in_single_quotes_come_back_as_they_are(words: list[str]) -> None:
    """What is quoted for a shell is read as a shell reads it."""
    assert ["a", *words] == list(read(shlex.join(["a", *words])).commands[0])


@pytest.mark.slow
@given(text=st.text(alphabet="ab '\"\\", min_size=1, max_size=12))
def test_words_are_those_of_a_real_shell(text: str) -> None:
    """A shell asked for the words of a line has the same; one that it cannot read is none."""
    written = f"printf '%s.\\n' {text}"
    told = subprocess.run(["/bin/sh", "-c", written], capture_output=True, text=True, check=False)

    line = shell_line(written)

    if line is None:
        assert told.returncode != 0
    elif words := line.commands[0][2:]:
        assert told.stdout == "".join(f"{word}.\n" for word in words)


@pytest.mark.parametrize(
    "text",
    [
        "./x.sh",
        "sh x.sh",
        "sh -s < x.sh",
        "cat <<EOF\na\nEOF\n./x.sh",
        "bash -c './x.sh a'",
        "echo \"it's\"; sh x.sh 'b'",
    ],
)
def test_a_script_that_is_run_is_found_however_it_is_named(text: str, tmp_path: Path) -> None:
    """Whoever holds a hook to its scripts holds it to all of them."""
    (tmp_path / "x.sh").touch()
    target = CommandTarget(argv=("/bin/sh", "-c", text), env={})
    hook = Hook(id="a", event=hl.BeforeRun, target=target, dialect="muse")

    assert [tmp_path / "x.sh"] == [path.resolve() for path in scripts_of(hook, tmp_path)]

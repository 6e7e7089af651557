"""Where the inputs of `exec` are kept: keys, files, databases, and places that are none."""

import sqlite3
import uuid
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from tests.unit.cli.rig import Ended, Place, lines, script
from tests.unit.session.peers.own_server import free_port

from hookline.session.admission import statements as sql

MARK = {"call": {"tool": "bash", "input": {"command": "echo ran >> marks"}}}


def refusal(ended: Ended) -> str:
    """The one line that a command was refused with, after nothing happened."""
    assert "" == ended.out
    assert "Traceback" not in ended.err
    (line,) = ended.said
    return line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--idempotency-key", "k", "--session-id", str(uuid.uuid4()), "one", "two"), "is that of one prompt"),
        (("--idempotency-key", "k", "--session-id", str(uuid.uuid4())), "no prompt was given"),
        (("--idempotency-key", "k", "--session-id", str(uuid.uuid4()), "--inputs", "-", "x"), "and no --inputs"),
        (("--idempotency-key", "k", "one"), "name one by --session-id or --resume"),
        (("--idempotency-key", "k", "--session-id", "six", "one"), "--session-id must be a UUID, found 'six'"),
        (("--idempotency-key", "k", "--session-id", str(uuid.uuid4()), "/clear"), "/clear is no prompt"),
        (("--prompt-file", "-", "--inputs", "-"), "standard input can be read once"),
        (("--prompt-file", "-", "--prompt-file", "-"), "standard input can be read once"),
        (("--peer", "ada", "one"), "by --peer-name"),
        (("--peer-name", "ada", "one"), "--nats nats://127.0.0.1:4222"),
        (("--store", "postgresql://[", "one"), "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(arguments: tuple[str, ...], said: str, place: Place) -> None:
    """It ends with 2, says what to write, and nothing has happened."""
    ended = place.run("exec", *arguments)

    assert 2 == ended.code, ended.err
    assert said in ended.err
    assert "" == ended.out
    assert list(place.home.iterdir()) == []


def keyed(place: Place, *more: str) -> Ended:
    given = ("--approval-mode", "never", "--provider", "script", "--model", "steps.yaml")
    return place.run("exec", *given, "--idempotency-key", "k", *more)


@pytest.mark.slow
def test_the_same_command_under_one_key_runs_once(place: Place) -> None:
    """The second time nothing is done: the first result is shown and the input named that it stands for."""
    place.write("steps.yaml", script(MARK, {"say": "done the first time"}))
    session = str(uuid.uuid4())

    first = keyed(place, "--session-id", session, "go")
    place.write("steps.yaml", script(MARK, {"say": "done again"}))
    second = keyed(place, "--session-id", session, "go")
    resumed = keyed(place, "--resume", session, "go")

    assert (0, "done the first time\n", []) == (first.code, first.out, first.said)
    assert "ran\n" == (place.project / "marks").read_text()
    (accepted,) = [each for each in place.journal() if each.get("outcome") == "accepted"]
    said = f"hookline: this input was admitted before, as {accepted['input_id']}: nothing is done again"
    for again in (second, resumed):
        assert (0, "done the first time\n", [said]) == (again.code, again.out, again.said)


@pytest.mark.slow
def test_a_failure_under_a_key_is_the_result_too(place: Place) -> None:
    """A run that failed has ended: the same command tells the same failure and does not try again."""
    place.write("steps.yaml", script({"fail": {"category": "rate_limit", "details": "later"}}))
    session = str(uuid.uuid4())

    first = keyed(place, "--session-id", session, "go")
    place.write("steps.yaml", script({"say": "well"}))
    second = keyed(place, "--session-id", session, "go")

    assert 1 == first.code == second.code
    assert "run ended with Failed: " in first.err
    assert first.said[-1] in second.said


@pytest.mark.slow
def test_a_key_is_that_of_one_session(place: Place) -> None:
    """Another session knows nothing of it."""
    for _ in range(2):
        ended = place.run("exec", "--session-id", str(uuid.uuid4()), "--idempotency-key", "k", "go")
        assert (0, "echo: go\n", []) == (ended.code, ended.out, ended.said)


def test_a_named_file_keeps_the_inputs(place: Place) -> None:
    """Under --store the file that is named has them, and the one beside the journals is not made."""
    assert 0 == place.run("exec", "--store", "own/inputs.db", "hello").code

    with closing(sqlite3.connect(place.project / "own/inputs.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM hookline_inputs").fetchone()
    assert 1 == count
    assert not place.inputs.exists()
    assert 0o600 == (place.project / "own/inputs.db").stat().st_mode & 0o777


@pytest.mark.slow
def test_the_store_may_be_named_by_the_environment(place: Place) -> None:
    """HOOKLINE_STORE does as --store, which comes before it."""
    assert 0 == place.run("exec", "hello", env={"HOOKLINE_STORE": "env.db"}).code
    assert 0 == place.run("exec", "--store", "option.db", "hello", env={"HOOKLINE_STORE": "other.db"}).code

    assert ["env.db", "option.db"] == sorted(path.name for path in place.project.glob("*.db"))


def test_without_a_journal_nothing_is_kept(place: Place) -> None:
    """--no-session-log leaves neither journal nor inputs behind; a key still holds within the command."""
    given = lines({"text": "one", "idempotency_key": "k"}, {"text": "two", "idempotency_key": "k"})

    ended = place.run("exec", "--no-session-log", "--inputs", "-", given=given)

    assert (0, "echo: one\necho: one\n") == (ended.code, ended.out)
    assert list(place.home.rglob("*")) == []
    assert list(place.project.iterdir()) == []


@pytest.mark.parametrize("command", [("exec", "hello"), ("run", "--inputs", "/dev/null")])
@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("a-file/inputs.db", "Not a directory"),
        ("/proc/nowhere/inputs.db", "No such file or directory"),
        (".", "unable to open database file"),
        ("a-file", "file is not a database: name another file, or put back a copy of this one"),
    ],
)
def test_a_place_that_is_no_store_is_said(command: tuple[str, ...], store: str, said: str, place: Place) -> None:
    """In one line that names it, with exit code 1; what stands there stays as it is."""
    content = b"these are not the rows that you are looking for\n" * 40
    place.write("a-file", content)

    ended = place.run(*command, "--store", store)

    assert 1 == ended.code
    line = refusal(ended)
    assert said in line
    assert "journal" not in line  # which has nothing to do with it
    assert content == (place.project / "a-file").read_bytes()
    assert not place.sessions.exists()


@pytest.mark.slow
def test_a_newer_schema_is_left_alone(place: Place) -> None:
    """A file of a newer hookline is refused with both versions, and every input of it is still there."""
    assert 0 == place.run("exec", "--store", "inputs.db", "hello").code
    with closing(sqlite3.connect(place.project / "inputs.db")) as connection:
        connection.execute("UPDATE hookline_schema SET version = 99")
        connection.commit()

    ended = place.run("exec", "--store", "inputs.db", "again")

    assert 1 == ended.code
    line = refusal(ended)
    assert f"has schema version 99 and this hookline knows versions up to {sql.VERSION}" in line
    with closing(sqlite3.connect(place.project / "inputs.db")) as connection:
        assert [(99,)] == connection.execute("SELECT version FROM hookline_schema").fetchall()
        assert [(1,)] == connection.execute("SELECT count(*) FROM hookline_inputs").fetchall()


@pytest.mark.slow
def test_a_database_keeps_the_inputs(postgres: str, place: Place) -> None:
    """A key holds across commands that share nothing but the server; the URL may come from the environment."""
    session = str(uuid.uuid4())
    arguments = ("exec", "--session-id", session, "--idempotency-key", "k", "go")

    first = place.run(*arguments, "--store", postgres)
    second = place.run(*arguments, env={"HOOKLINE_STORE": postgres})

    assert (0, "echo: go\n", []) == (first.code, first.out, first.said)
    assert (0, "echo: go\n") == (second.code, second.out)
    assert "nothing is done again" in second.err
    assert not place.inputs.exists()


@pytest.mark.slow
def test_a_server_that_is_away_is_tried_again_and_then_given_up(place: Place) -> None:
    """Each try is told as it fails, then the command ends with 1, and no line has the password."""
    port = free_port()

    ended = place.run("exec", "--store", f"postgresql://ada:sekret@127.0.0.1:{port}/inputs", "hello")

    assert (1, "") == (ended.code, ended.out)
    *tries, given_up = ended.said
    begin = f"hookline: PostgreSQL at 127.0.0.1:{port}/inputs: cannot connect: "
    assert [
        f"; try {number} of 5 in {pause} s"
        for number, pause in zip(range(2, 6), ("0.2", "0.4", "0.8", "1.6"), strict=True)
    ] == [line[line.index("; try") :] for line in tries]
    assert all(line.startswith(begin) for line in tries)
    assert f"cannot use PostgreSQL at 127.0.0.1:{port}/inputs: " in given_up
    assert given_up.endswith("tried 5 times, and nothing was changed")
    assert "sekret" not in ended.err


def test_a_database_that_is_not_there_is_said_at_once(postgres: str, place: Place) -> None:
    """It is not a server that is away: there is no second try."""
    missing = f"hookline_{uuid.uuid4().hex}"
    url = urlsplit(postgres)._replace(path=f"/{missing}").geturl()

    ended = place.run("exec", "--store", url, "hello")

    assert 1 == ended.code
    assert f'database "{missing}" does not exist' in refusal(ended)


@pytest.mark.slow
def test_a_nats_server_that_is_away_is_tried_again_and_then_given_up(place: Place) -> None:
    """The same for the server that carries messages: what was begun is ended in order, and the exit code is 1."""
    ended = place.run("exec", "--nats", f"nats://127.0.0.1:{free_port()}", "--peer-name", "ada", "hello")

    assert (1, "") == (ended.code, ended.out)
    assert [f"try {number} of 5 failed" in line for number, line in enumerate(ended.said[:5], 1)] == [True] * 5
    assert "cannot be used after 5 tries" in ended.said[5]
    assert "journal" not in ended.said[5]
    assert "session_closed" == place.journal()[-1]["kind"]

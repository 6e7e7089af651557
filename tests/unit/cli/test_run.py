"""`run` as a process: what it is told to do, how it ends, who goes on with what it left, and how two work together."""

import signal
import socket
import subprocess
import uuid
from contextlib import closing
from pathlib import Path

import pytest
from tests.conformance.place import is_alive
from tests.unit.cli.rig import TOKEN, Place, lines, port_of, script

PLAYING = ("--provider", "script", "--model", "steps.yaml", "--approval-mode", "never")


def bash(command: str) -> dict[str, object]:
    return {"call": {"tool": "bash", "input": {"command": command}}}


HOLD = bash("echo $$ > pid; echo begun >> marks; until test -e go; do sleep 0.02; done; echo ended >> marks")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to take inputs from: give --listen, --inputs or --nats with --peer-name"),
        (("--nats", "nats://127.0.0.1:4222"), "nothing to take inputs from"),
        (("--peer-name", "ada"), "--peer-name needs a server that carries messages: --nats"),
        (("--listen", "0", "--peer", "ada"), "by --peer-name"),
        (("--listen", "nowhere"), "--listen takes HOST:PORT or a port"),
        (("--listen", "0.0.0.0:0"), "--listen takes an address of this machine only, such as 127.0.0.1, found 0.0.0.0"),
        (("--listen", "192.0.2.1:0"), "an address of this machine only"),
        (("--listen", "0", "--resume", "x", "--fork", "y"), "give one of them"),
        (("--listen", "0", "--idempotency-key", "k"), "No such option"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(arguments: tuple[str, ...], said: str, place: Place) -> None:
    """It ends with 2, says what to write, and nothing has happened."""
    ended = place.run("run", *arguments)

    assert (2, "") == (ended.code, ended.out), ended.err
    assert said in ended.err
    assert list(place.home.iterdir()) == []


@pytest.mark.parametrize("token", [" ", "two words", "sésame", "tab\t", "new\nline"])
def test_a_token_that_cannot_be_sent_is_wrong_usage(token: str, place: Place) -> None:
    """Rather than a port that nobody gets in at. The token is not repeated."""
    ended = place.run("run", "--listen", "0", env={"HOOKLINE_TOKEN": token})

    assert 2 == ended.code
    assert "HOOKLINE_TOKEN holds what no request can bring" in ended.err
    assert token == " " or token not in ended.err


def test_a_port_that_is_taken_is_said_before_anything_begins(place: Place) -> None:
    """It ends with 2 and what to do; no session has begun."""
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        ended = place.run("run", "--listen", f"127.0.0.1:{port}")

    assert (2, "") == (ended.code, ended.out)
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; name another port, or 0" in ended.err
    assert not place.sessions.exists()


@pytest.mark.slow
def test_a_token_is_made_and_printed_where_none_is_given(place: Place) -> None:
    """On standard error, and nowhere else: not in a file, not on the command line. Each time another."""
    tokens = []
    for _ in range(2):
        program = place.start("run", "--listen", "0")
        port = port_of(program)
        assert 401 == port.ask("GET", "/inputs/x", token="").status
        assert 404 == port.ask("GET", "/inputs/x").status
        assert port.token not in Path(f"/proc/{program.process.pid}/cmdline").read_text()
        ended = program.end(signal.SIGTERM)
        assert "" == ended.out
        assert [] == [
            path for path in place.root.rglob("*") if path.is_file() and port.token.encode() in path.read_bytes()
        ]
        tokens.append(port.token)
    assert all(len(token) >= 32 for token in tokens)
    assert 2 == len(set(tokens))


@pytest.mark.slow
def test_the_token_is_kept_from_hooks_and_tools(place: Place) -> None:
    """Who has it may give the agent work, which is not for the agent to do. It is not printed either."""
    hook = '[[hooks.entries]]\nid = "env"\npoint = "run_started"\n[hooks.entries.runtime]\ntype = "command"\n'
    place.write(".rkat/config.toml", hook + 'command = "sh"\nargs = ["-c", "env > of-a-hook; echo {}"]\n')
    place.write("steps.yaml", script(bash("env > of-a-tool"), {"say": "done"}))
    program, port = place.listen(*PLAYING, "--trust-workspace", env={"SEEN": "yes"})
    port.post({"text": "go"})
    program.prints("done\n")

    for name in ("of-a-hook", "of-a-tool"):
        text = (place.project / name).read_text()
        assert "SEEN=yes" in text
        assert TOKEN not in text
    assert TOKEN not in program.err()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
@pytest.mark.slow
def test_a_signal_ends_it_in_order(number: signal.Signals, code: int, place: Place) -> None:
    """In the middle of a tool's work: its processes are gone, the input has its end, the journal is closed."""
    place.write("steps.yaml", script(HOLD, {"say": "done"}))
    program, port = place.listen(*PLAYING)
    input_id = port.post({"text": "go"}).body["input_id"]
    reader = port.connect()
    reader.request("GET", "/events", headers={"Authorization": f"Bearer {port.token}"})
    reader.getresponse()
    until(place, "pid")

    ended = program.end(number)
    reader.close()

    assert code == ended.code
    assert not is_alive(int((place.project / "pid").read_text()))
    assert "Traceback" not in ended.err
    assert ("interrupted" if number is signal.SIGINT else f"ended by {number.name}") in ended.err
    journal = place.journal()
    assert "session_closed" == journal[-1]["kind"]
    assert [("cancelled", "interrupted")] == [
        (each["ending"], each["reason"]) for each in journal if each["kind"] == "run_ended"
    ]
    assert [input_id] == [each["input_id"] for each in journal if each["kind"] == "interaction_published"]


def until(place: Place, name: str) -> None:
    """Wait until a tool has written this file."""
    argv = ["/bin/sh", "-c", 'until test -s "$0"; do sleep 0.02; done', name]
    subprocess.run(argv, cwd=place.project, check=True, timeout=15)


def test_a_signal_while_it_waits_ends_it_too(place: Place) -> None:
    """With nothing to do, and a pipe that stays open."""
    program = place.start("run", "--inputs", "-", stdin=subprocess.PIPE)
    program.write(lines({"text": "one"}))
    program.prints("echo: one\n")

    assert 143 == program.end(signal.SIGTERM).code
    assert "session_closed" == place.journal()[-1]["kind"]


def test_lines_are_worked_on_before_the_pipe_ends(place: Place) -> None:
    """Each answer comes as its run ends; the end of the lines is that of the command."""
    program = place.start("run", "--inputs", "-", stdin=subprocess.PIPE)
    for text in ("one", "two"):
        program.write(lines({"text": text}))
        program.prints(f"echo: {text}\n")

    assert 0 == program.end().code


@pytest.mark.slow
def test_beside_a_port_the_end_of_the_lines_is_not_the_end(place: Place) -> None:
    """Lines and requests go into one queue, and only a signal ends it."""
    place.write("in.jsonl", lines({"text": "one"}))
    program, port = place.listen("--inputs", "in.jsonl")
    program.prints("echo: one\n")
    port.post({"text": "two"})
    program.prints("echo: two\n")

    assert 143 == program.end(signal.SIGTERM).code


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.slow
def test_what_a_killed_process_left_is_done_once(shared: bool, place: Place) -> None:
    """After SIGKILL the next, which resumes the session or shares its queue, does what was admitted and unfinished."""
    place.write("steps.yaml", script(HOLD, {"say": "done"}))
    session = str(uuid.uuid4())
    queue = ("--queue", "work") if shared else ()
    program, port = place.listen(*PLAYING, *queue, "--session-id", session)
    ids = [port.post({"text": text}).body["input_id"] for text in ("first", "second")]
    until(place, "pid")
    program.process.kill()
    program.end()
    place.write("go", "")

    more = queue if shared else ("--resume", session)
    ended = place.run("run", "--inputs", "/dev/null", *more)

    assert 0 == ended.code, ended.err
    assert "echo: first\necho: second\n" == ended.out
    again = place.run("run", "--inputs", "/dev/null", *(queue if shared else ("--resume", session)))
    assert (0, "") == (again.code, again.out)
    _, port = place.listen(*(queue if shared else ("--resume", session)))
    events = port.events()
    assert ids == [next(events).data["interaction_id"] for _ in ids]
    events.close()


@pytest.mark.slow
def test_two_processes_share_a_queue(place: Place) -> None:
    """Each input of one store's queue is worked on by one of them, and both may take some."""
    place.write("steps.yaml", script(HOLD, {"say": "held"}))
    shared = ("--queue", "work", "--store", "inputs.db")
    first, port = place.listen(*PLAYING, *shared)
    held = port.post({"text": "hold"}).body["input_id"]
    until(place, "pid")
    second, other = place.listen(*shared)  # while the first is at work, it takes what comes, wherever it is given
    ids = [(port if number % 2 else other).post({"text": str(number)}).body["input_id"] for number in range(4)]
    second.prints("echo: ", times=4)
    place.write("go", "")
    first.prints("held\n")

    assert {f"echo: {number}" for number in range(4)} == set(second.out().splitlines())
    assert "held\n" == first.out()
    for input_id in (held, *ids):
        assert "consumed" == port.ask("GET", f"/inputs/{input_id}").body["phase"]
    assert 1 == (place.project / "marks").read_text().count("begun")


@pytest.mark.slow
def test_a_key_holds_for_all_who_share_a_queue(place: Place) -> None:
    """Given to one and then to the other it is one input."""
    shared = ("--queue", "work", "--store", "inputs.db")
    _, port = place.listen(*shared)
    _, other = place.listen(*shared)
    given = {"text": "hello", "idempotency_key": "k"}

    first, second = port.post(given), other.post(given)

    assert (202, 200) == (first.status, second.status)
    assert first.body["input_id"] == second.body["existing_input_id"]


@pytest.mark.slow
def test_two_agents_exchange_a_request_and_its_answer(nats: str, place: Place) -> None:
    """One asks by its tool, the other's run is the answer, and that comes as an input of its own."""
    ada, bo = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("ada", "bo"))
    place.write("bo.yaml", script({"say": "forty-two"}))
    ask = {"call": {"tool": "peer_request", "input": {"to": bo, "text": "how much?"}}}
    place.write("ada.yaml", script(ask, {"say": "asked"}, {"say": "understood"}))
    answering = place.start("run", "--nats", nats, "--peer-name", bo, *PLAYING[:2], "--model", "bo.yaml")
    asking, port = place.listen(
        "--peer-name",
        ada,
        "--peer",
        bo,
        *PLAYING[:2],
        "--model",
        "ada.yaml",
        "--approval-mode",
        "never",
        env={"HOOKLINE_NATS": nats},
    )

    port.post({"text": "ask bo"})
    answering.prints("forty-two\n")
    asking.prints("understood\n")

    assert "asked\nunderstood\n" == asking.out()
    assert 143 == asking.end(signal.SIGTERM).code
    assert 143 == answering.end(signal.SIGTERM).code
    prompts = [
        each["prompt"]
        for path in place.sessions.iterdir()
        for each in place.journal(path.stem)
        if each["kind"] == "run_started"
    ]
    assert any("how much?" in prompt for prompt in prompts)
    assert any("forty-two" in prompt for prompt in prompts)


def test_the_store_and_the_journals_are_the_owner_s_alone(place: Place) -> None:
    """Nobody else on the machine reads what was said."""
    assert 0 == place.run("run", "--inputs", "-", given=lines({"text": "secret"})).code

    state = place.home / ".local/state/hookline"
    assert [] == [path for path in (state, *state.rglob("*")) if path.stat().st_mode & 0o077]

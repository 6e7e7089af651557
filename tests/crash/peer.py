"""A process that converses with a peer over NATS, for as long as nobody ends it, or up to the step that is its last."""

import argparse
import asyncio
import sys
from pathlib import Path

from tests.crash.life import Log, Logging, Steps, observed, step_at_statements
from tests.crash.plan import Point

from hookline import Session
from hookline._core.events import PeerSent
from hookline.session.admission.sqlite import SqliteStore
from hookline.session.peers.exchange import Peers
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.patience import Patience
from hookline.session.peers.queueing import Place

PATIENCE = Patience(ack_wait=1.0)  # instead of ten seconds, until what a dead process has taken is delivered again
ROOM = 16 * 1024 * 1024  # bytes, which the server sets aside for the stream
EACH_REQUEST = 4  # of so many messages one asks for an answer


def place(name: str) -> Place:
    """Where the peers of one test meet."""
    return Place(f"crash_{name}", f"hookline.crash.{name}", ROOM)


def runtime(me: str) -> str:
    return f"rt:peer:{me}"


async def converse(options: argparse.Namespace, log: Log) -> None:
    engine = observed(log)

    @engine.on(PeerSent)
    async def sent(event: PeerSent) -> None:
        log.write("told", event.envelope_id, event.kind.value, event.in_reply_to or "-")

    transport = NatsTransport(options.nats, place=place(options.name), patience=PATIENCE)
    peers = Peers(options.me, transport, [options.to])
    async with SqliteStore(options.folder / f"{options.me}.db") as store:
        session = Session(
            engine,
            model=Logging(log),
            workspace=options.folder,
            inputs=store,
            queue=runtime(options.me),
            peers=peers,
        )
        async with session:
            serving = asyncio.create_task(session.serve())
            for number in range(options.first, options.messages):
                log.write("sending", str(number))
                send = session.peers.request if number % EACH_REQUEST == 0 else session.peers.message
                receipt = await send(options.to, f"{options.me}-{number}")
                log.write("sent", receipt.envelope_id, receipt.kind.value, str(number))
            ended = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
            await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
            if not serving.cancelled() and (fault := serving.exception()) is not None:
                raise fault


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    for name in ("--name", "--me", "--to", "--nats"):
        read.add_argument(name, required=True)
    read.add_argument("--folder", type=Path, required=True)
    read.add_argument("--life", type=int, required=True)
    read.add_argument("--first", type=int, required=True, help="number of the first message that is sent")
    read.add_argument("--messages", type=int, required=True)
    read.add_argument("--last", default="", help="step at which the process is killed, as in `before statement 7`")
    options = read.parse_args()
    steps = Steps(Point.of(options.last) if options.last else None)
    step_at_statements(steps)
    log = Log(options.folder / f"{options.me}.log", options.life, steps)
    asyncio.run(converse(options, log))


if __name__ == "__main__":
    main()

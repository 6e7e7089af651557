"""A peer in a process of its own. Arguments: URL, stream, prefix, name, and how many messages to acknowledge.

Writes the text of each message as one line when it is received. Ends once it has acknowledged that many; with none it
keeps the first one for ever.
"""

import asyncio
import sys

from hookline._core.inputs import Accepted, Admission, Handling
from hookline._core.peers import Envelope, Peer
from hookline.session.peers.jetstream import NatsTransport
from hookline.session.peers.patience import Patience
from hookline.session.peers.queueing import Place


async def main(url: str, stream: str, prefix: str, name: str, count: int) -> None:
    transport = NatsTransport(url, place=Place(stream, prefix), patience=Patience(ack_wait=1.0))
    done = asyncio.Event()
    received = 0

    async def receive(envelope: Envelope) -> Admission:
        nonlocal received
        print(envelope.text, flush=True)  # noqa: T201 - the test reads it
        received += 1
        if not count:
            await asyncio.Event().wait()
        if received == count:
            done.set()
        return Accepted(envelope.id, Handling.QUEUE)

    await transport.open(Peer(name), receive)
    await done.wait()
    await transport.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5], int(sys.argv[5])))

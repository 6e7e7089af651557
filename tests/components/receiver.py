"""An OTLP receiver over HTTP: it takes what the protocol's own schema takes, and answers as the protocol says."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(kw_only=True)
class Receiver:
    """What was exported to it. `refused` are bodies that are no request of the protocol, with the reason."""

    url: str = ""
    traces: list[ExportTraceServiceRequest] = field(default_factory=list)
    logs: list[ExportLogsServiceRequest] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.traces
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    async def take(self, request: web.Request, kind: Any, kept: list[Any], answer: Any) -> web.Response:
        try:
            kept.append(json_format.Parse(await request.text(), kind()))
        except json_format.ParseError as error:
            self.refused.append(str(error))
            return web.Response(status=400)
        return web.json_response(json_format.MessageToDict(answer()))


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """A receiver on loopback."""
    receiver = Receiver()

    async def traces(request: web.Request) -> web.Response:
        return await receiver.take(request, ExportTraceServiceRequest, receiver.traces, ExportTraceServiceResponse)

    async def logs(request: web.Request) -> web.Response:
        return await receiver.take(request, ExportLogsServiceRequest, receiver.logs, ExportLogsServiceResponse)

    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/v1/traces", traces)
    app.router.add_post("/v1/logs", logs)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield receiver
    finally:
        await runner.cleanup()


def attributes(of: Any) -> dict[str, Any]:
    """The attributes of a span, a log record or a resource, as values."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in of.attributes}

"""How an input reads to the model, where it has to read it at all."""

from hookline._core.inputs import Input, InputKind, SourceType

# Of these the model hears, if at all, when it is asked the next time.
WITHOUT_A_RUN = frozenset({InputKind.PEER_RESPONSE_PROGRESS, InputKind.OPERATION})

_FROM_A_PEER = {
    InputKind.PEER_MESSAGE: "Message from {name}{taint}:",
    InputKind.PEER_REQUEST: "Request {request} from {name}{taint}. What you answer at last is sent back to it:",
    InputKind.PEER_RESPONSE_PROGRESS: "{name} is still at work on the request {request}{taint}:",
    InputKind.PEER_RESPONSE_TERMINAL: "Response from {name} to the request {request} ({status}){taint}:",
}


def prompt_of(given: Input) -> str:
    """What the model reads of an input. A peer's words never look like the user's."""
    if given.source.type is SourceType.EXTERNAL:
        return f"Event from {given.source.name or 'outside'}:\n{given.text}"
    heading = _FROM_A_PEER.get(given.kind)
    if heading is None:
        return given.text
    taint = "" if given.taint is None else f", which declares it {given.taint}"
    name = given.source.name or given.source.id
    told = heading.format(name=name, request=given.request_id, status=given.status, taint=taint)
    return f"{told}\n{given.text}"

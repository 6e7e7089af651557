"""Why a hook gave no answer: two closed sets."""

from enum import Enum


class Failure(Enum):
    """Why there is no answer."""

    TIMEOUT = "timeout"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    COULD_NOT_START = "could_not_start"
    CRASHED = "crashed"
    OUTPUT_TOO_LARGE = "output_too_large"
    MALFORMED_ANSWER = "malformed_answer"
    NOT_ADMITTED = "not_admitted"
    UNREACHABLE = "unreachable"


class Skip(Enum):
    """Why a hook that was selected was not called."""

    PAYLOAD_TOO_LARGE = "payload_too_large"
    DENIED_EARLIER = "denied_earlier"
    FAILED_EARLIER = "failed_earlier"
    LANE_FULL = "lane_full"
    CLOSED = "closed"

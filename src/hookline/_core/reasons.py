"""Why a hook gave no answer: two closed sets."""

from enum import Enum


class Failure(Enum):
    """Why there is no answer."""

    TIMEOUT = "timeout"
    EXIT_CODE = "exit_code"
    SIGNAL = "signal"
    COULD_NOT_START = "could_not_start"
    CRASHED = "crashed"
    ERROR = "error"  # it said so itself, where its protocol has a word for that
    OVER_LIMIT = "over_limit"  # of memory, say; of output it is the next
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
    UNSUPPORTED = "unsupported"  # its own version of the protocol has no words for this event

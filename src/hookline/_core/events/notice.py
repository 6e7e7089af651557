"""A person is wanted."""

from dataclasses import dataclass

from hookline._core.points import Event, hook_point


@hook_point("notification", subject="notification_type")
@dataclass(frozen=True, slots=True, kw_only=True)
class Notification(Event):
    """Something has been waiting for a person. `notification_type`: permission_prompt."""

    notification_type: str
    title: str = ""
    message: str = ""

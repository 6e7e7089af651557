"""The dialects: each maps the canonical events to its own points, payloads and answers.

They are asked in this order at each event. To add one, write its folder and add its line here.
"""

from hookline.dialects import code, muse
from hookline.dialects._base import Package

PACKAGES: tuple[Package, ...] = (
    muse.PACKAGE,
    code.PACKAGE,
)

IN_CODE = code.DIALECT  # handlers registered in Python belong to this one

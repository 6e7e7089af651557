"""Murmur: hooks that are sandboxed components, named and granted by a capsule's manifest."""

from hookline.dialects._base import Package
from hookline.dialects.murmur.dialect import DIALECT

PACKAGE = Package(dialect=DIALECT)

"""Checked by mypy --strict, never run: the public API as a user's type checker sees it."""

from types import ModuleType

import hookline

package: ModuleType = hookline

"""What our worker is told to be, and how it is started."""

import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hookline._core.components import ComponentTarget
from hookline.adapters._component.broken import unusable
from hookline.adapters._component.exported import Inspected

# The packages around the worker are not what it needs: they would bring in every adapter there is, and 100 ms. So
# they are there by name only. Nor does it read the site's own start-up files: its libraries are where ours are.
BOOT = """
import sys
from types import ModuleType
for name, path in (("hookline", sys.argv[1]), ("hookline.adapters", sys.argv[1] + "/adapters")):
    package = sys.modules[name] = ModuleType(name)
    package.__path__ = [path]
sys.path.append(sys.argv[2])
from hookline.adapters._component.worker import main
main()
"""


def worker_argv() -> tuple[str, ...]:
    """The program. Raises Broken."""
    found = find_spec("wasmtime")
    if not sys.executable or found is None or found.origin is None:
        raise unusable("there is no Python with wasmtime to run it in")
    own, libraries = Path(__file__).parents[2], Path(found.origin).parents[1]
    return (sys.executable, "-I", "-S", "-c", BOOT, str(own), str(libraries))


def setup_of(
    target: ComponentTarget, inspected: Inspected, interface: str, *, key: str, folder: Path
) -> Mapping[str, Any]:
    """The component that was compiled as *key* in *folder*, and all that it may reach."""
    return {
        "key": key,
        "folder": str(folder),
        "interface": interface,
        "functions": sorted(inspected.exports[interface]),
        "limits": asdict(target.limits),
        "env": dict(target.env),
        "folders": [(each.guest, str(each.path)) for each in target.folders],
        "network": [(place.host, place.port, place.scheme) for place in target.network],
        "asks": sorted(target.host.imports()) if target.host is not None else [],
    }

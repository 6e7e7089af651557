"""A kit for those who build on hookline: what every dialect and every adapter promises, as checks that say what broke.

from hookline.testing import breaches_of_dialect

def test_my_dialect_keeps_its_promises():
    assert breaches_of_dialect(DIALECT) == []
"""

from hookline.testing.adapters import AdapterCase, breaches_of_adapter
from hookline.testing.components import call_hook
from hookline.testing.dialects import breaches_of_dialect
from hookline.workbench.samples import SAMPLES

__all__ = ["SAMPLES", "AdapterCase", "breaches_of_adapter", "breaches_of_dialect", "call_hook"]

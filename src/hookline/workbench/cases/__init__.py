"""Hook tests: cases in files, what hooks should do at an event, and what they did."""

from hookline.workbench.cases.files import read_cases
from hookline.workbench.cases.running import run_cases
from hookline.workbench.cases.types import Case, CaseFile, Difference, Report, Result, Want

__all__ = ["Case", "CaseFile", "Difference", "Report", "Result", "Want", "read_cases", "run_cases"]

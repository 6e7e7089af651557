"""Cases as JUnit's XML, which CI servers read: a suite for each file, times in seconds."""

import re
from collections.abc import Iterator
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, tostring

from hookline.workbench.cases.rows import shown
from hookline.workbench.cases.types import Report, Result, Status

# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> str:
    """The whole report."""
    root = Element("testsuites", _counts(list(report.results)) | {"name": "hookline test"})
    for file, results in groupby(report.results, key=lambda each: each.file):
        of_file = list(results)
        suite = SubElement(root, "testsuite", {"name": str(file)} | _counts(of_file))
        for each in of_file:
            _add(suite, each)
    if report.problems:
        suite = SubElement(
            root, "testsuite", {"name": "files", "tests": "1", "errors": "1", "failures": "0", "time": "0"}
        )
        case = SubElement(suite, "testcase", {"classname": "files", "name": "files of cases can be read", "time": "0"})
        text = "\n".join(f"{each.where}: {each.message}" for each in report.problems)
        SubElement(case, "error", {"message": _text(text.splitlines()[0])}).text = _text(text)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _counts(results: list[Result]) -> dict[str, str]:
    return {
        "tests": str(len(results)),
        "failures": str(sum(each.status is Status.FAILED for each in results)),
        "errors": str(sum(each.status is Status.BROKEN for each in results)),
        "time": f"{sum(each.seconds for each in results):.6f}",
    }


def _add(suite: Element, result: Result) -> None:
    file = str(result.file)
    attributes = {"classname": file, "name": _text(result.case.name), "file": file, "line": str(result.case.line)}
    case = SubElement(suite, "testcase", {**attributes, "time": f"{result.seconds:.6f}"})
    if result.status is Status.OK:
        return
    lines = list(_lines(result))
    kind = "failure" if result.status is Status.FAILED else "error"
    SubElement(case, kind, {"message": _text(lines[0] if lines else kind)}).text = _text("\n".join(lines))


def _lines(result: Result) -> Iterator[str]:
    yield from result.error.splitlines()
    for each in result.differences:
        yield f"{each.what}: wanted {shown(each.wanted)}, found {shown(each.found)}"


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)

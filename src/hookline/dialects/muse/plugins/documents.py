"""JSON files of a package: its manifest, and those that this names."""

from hookline._core.hooks import Source
from hookline._core.package_files import PackageFiles
from hookline._core.strictjson import JsonFault, decode, parse
from hookline.dialects._files import DEEPEST
from hookline.dialects.muse.document import MEND, Document
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic
from hookline.dialects.muse.plugins.manifest import MANIFEST_BYTES

LAYER = "plugin"


def document_in(package: PackageFiles, path: str) -> Document:
    """One JSON file of *package*. Raises JsonFault, KeyError where there is no such file, and PackageFault."""
    data = package.read(path)
    source = Source(layer=LAYER, label=path.rsplit("/", 1)[-1], path=str(package.root / path))
    return Document(source, parse(data, max_bytes=MANIFEST_BYTES, max_depth=DEEPEST), decode(data))


def not_json(path: str, fault: JsonFault, what: str) -> Diagnostic:
    """A file of a package that is no strict JSON. *what* is what it should be."""
    return Diagnostic(
        code=Code.INVALID_JSON,
        path=path,
        message=f"{what} is not valid JSON: {fault.message}",
        line=fault.line,
        column=fault.column,
        remedy=MEND,
    )

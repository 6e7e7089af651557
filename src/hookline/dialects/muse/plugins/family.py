"""Which family a package is of, and the package read as that (section 20.1)."""

from pathlib import Path

from hookline._core.package_files import PackageFault, PackageFiles
from hookline._core.strictjson import JsonFault
from hookline.dialects.muse.document import Document
from hookline.dialects.muse.plugins.diagnostics import Code, Diagnostic, Severity
from hookline.dialects.muse.plugins.documents import document_in, not_json
from hookline.dialects.muse.plugins.manifest import RESERVED, Family, Read

MANIFESTS = frozenset(family.manifest for family in Family)
WRITE_ONE = f"write {Family.MUSE.manifest}; see docs/guide/plugins.md"


def is_manifest(path: str) -> bool:
    """Whether a file of a package is one of those that every reading keeps."""
    return path in MANIFESTS


def read_as_package(package: PackageFiles) -> Read:
    """What *package* says of itself, with everything that is wrong in it; also that it is not the same any more."""
    try:
        return _read_package(package)
    except PackageFault as fault:
        return Read(diagnostics=(of_files(package.root, fault),))


def of_files(root: Path, fault: PackageFault) -> Diagnostic:
    """What is wrong with a package's files, as a finding."""
    path = str(root) if fault.path == "." else f"{root}/{fault.path}"
    return Diagnostic(code=Code.INVALID_PACKAGE, path=path, message=fault.why, remedy=fault.write)


def _read_package(package: PackageFiles) -> Read:
    there = [family for family in Family if package.has(family.manifest)]
    if not there:
        folder = str(package.root)
        message = f"no plugin manifest: there is none of {', '.join(sorted(MANIFESTS))}"
        told = Diagnostic(code=Code.MISSING_MANIFEST, path=folder, message=message, remedy=WRITE_ONE)
        return Read(diagnostics=(told,))
    family, *others = there
    path = package.root / family.manifest
    ignored = tuple(
        Diagnostic(
            code=Code.MULTIPLE_MANIFESTS,
            severity=Severity.WARNING,
            path=str(package.root),
            message=f"selected `{family.folder}`; ignoring `{other.folder}`",
            remedy="nothing: a package may have one for each tool that reads it",
        )
        for other in others
    )
    try:
        document = document_in(package, family.manifest)
    except JsonFault as fault:
        damage = not_json(str(path), fault, "plugin manifest")
        return Read(diagnostics=(*ignored, damage))
    read = _read(family, document, package)
    return Read(
        manifest=read.manifest,
        diagnostics=(*ignored, *read.diagnostics, *_reserved(read, str(path))),
        label=read.label,
    )


def _read(family: Family, document: Document, package: PackageFiles) -> Read:
    if family is Family.MUSE:
        from hookline.dialects.muse.plugins.native import read_native

        return read_native(document, package)
    from hookline.dialects.muse.plugins.foreign import read_foreign

    return read_foreign(family, document, package)


def _reserved(read: Read, path: str) -> tuple[Diagnostic, ...]:
    if read.manifest is None or read.manifest.id not in RESERVED:
        return ()
    message = (
        f"plugin id `{read.manifest.id}` is reserved for a plugin that comes with Muse Code; it contributes nothing"
    )
    return (
        Diagnostic(
            code=Code.RESERVED_ID,
            severity=Severity.WARNING,
            path=path,
            message=message,
            remedy="write another `name`",
        ),
    )

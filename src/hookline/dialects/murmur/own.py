"""What a package says of itself: its `murmur.yaml`, of which each kind of artifact has keys of its own."""

from dataclasses import dataclass

from hookline._core.errors import ConfigError
from hookline._yaml.composing import compose
from hookline._yaml.findings import START, Findings, Place
from hookline._yaml.nodes import Entries, Node, Scalar
from hookline.dialects._files import LARGEST

MANIFEST = "murmur.yaml"


@dataclass(frozen=True, slots=True)
class NotYaml:
    """Why a manifest cannot be read, and where in it."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class OwnManifest:
    """A package's manifest, and its text as it stands."""

    root: Entries
    source: str = ""

    def node(self, name: str) -> Node | None:
        return next((value for key, value in self.root.entries if key.text == name), None)

    def text(self, name: str) -> str | None:
        """The text under *name*, or None where there is no text."""
        node = self.node(name)
        value = node.value() if isinstance(node, Scalar) else None
        return value if isinstance(value, str) else None

    def place(self, name: str) -> Place:
        """Of the value under *name*, or of the whole where that is not written."""
        node = self.node(name)
        return self.root.place if node is None else node.place


def read_own(data: bytes) -> OwnManifest | NotYaml:
    """An artifact's own manifest, whatever it is of."""
    findings = Findings(MANIFEST)
    try:
        node = compose(data, findings, what="the manifest", max_bytes=LARGEST)
        findings.raise_if_any()
    except ConfigError as error:
        first = error.problems[0]
        return NotYaml(f"YAML parse error: {first.message}", Place(first.where.line, first.where.column))
    root = node or Entries(START, ())
    if not isinstance(root, Entries):
        return NotYaml("YAML parse error: the manifest has to be a mapping: write `name: ...`", root.place)
    return OwnManifest(root, data.decode("utf-8-sig"))

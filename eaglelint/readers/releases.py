"""From a requirement, a version, a git address or an image to the releases that it admits."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from eaglelint.facts import EnginePin
from eaglelint.location import Location
from eaglelint.readers.packages import image_of, package_of, repository_package
from eaglelint.readers.words import HOLE

_ENDLESS = re.compile(r"\d{100}")
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\]?)?\s*(.*)", re.DOTALL)
_WHEEL = re.compile(r"([A-Za-z0-9_.]+)-(\d[^-]*)-(?:[^-]+-){2,3}[^-]+\.whl$")
_SDIST = re.compile(r"([A-Za-z0-9_.-]+?)-(\d[^-/]*)\.(?:tar\.gz|zip)$")
_TAG = re.compile(r"v?(\d+(?:\.\d+)+(?:[.-]?(?:post|rc|alpha|beta|a|b)\.?\d*)*)(?:[-_+](.*))?", re.IGNORECASE)
_INNER_TAG = re.compile(
    r"(?:sglang|sgl|vllm|trtllm)[-_]v?(\d+\.\d+\.\d+(?:\.?(?:post|rc)\d+)?)(?![\d.])", re.IGNORECASE
)
_UNSTABLE = re.compile(r"(?:^|[-_.])(?:nightly|dev|main|latest|edge|snapshot)(?:$|[-_.\d])", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
#: Where a marker is asked: engines with GPUs run on Linux, under some CPython.
_MACHINES = ("x86_64", "aarch64")
_PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def requirement_pin(text: str, where: Location, source: str, unit: str = "", assumed: str = "") -> EnginePin | None:
    """The pin that a requirement is: `sglang[all]==0.5.9`, `vllm @ git+https://...`, the address of a wheel.

    None for a package that does not matter here, and for one that a marker keeps from Linux.
    """
    text = text.strip()
    if re.match(r"(?:git\+|https?:|file:|\.{0,2}/)", text) or text.endswith(".whl"):
        return address_pin(text, where, source, unit, assumed)
    found = _NAME.match(text)
    package = package_of(found[1]) if found else None
    if found is None or package is None:
        return None
    try:
        requirement = Requirement(text)
        if _ENDLESS.search(text):  # such a number is refused only when it is compared
            raise InvalidRequirement(text)
    except InvalidRequirement:
        reason = "its version is not known here" if HOLE in text or "$" in text else f"{text!r} is no valid requirement"
        return EnginePin(package, "", "", where, source, unit, reason, assumed)
    only = _applies(requirement.marker)
    if only is None:
        return None
    if requirement.url:
        pin = address_pin(requirement.url, where, source, unit, assumed or only, package)
        return pin or EnginePin(
            package, "", "", where, source, unit, "it is installed from an address", assumed or only
        )
    return versions_pin(package, str(requirement.specifier), where, source, unit, assumed or only)


def versions_pin(
    package: str, specifier: str, where: Location, source: str, unit: str = "", assumed: str = ""
) -> EnginePin:
    """A pin with a PEP 440 specifier set; a bare version is an exact one. What is not valid admits nothing known."""
    try:
        text = f"=={specifier}" if specifier and _version(specifier) is not None else specifier
        parts = SpecifierSet("" if _ENDLESS.search(text) else text)
        if not parts and text:
            raise InvalidSpecifier(text)
    except InvalidSpecifier:
        return EnginePin(package, "", "", where, source, unit, f"{specifier!r} is no valid set of versions", assumed)
    exact = ""
    kept: list[str] = []
    for part in parts:
        version = _version(part.version) if part.operator in ("==", "===") else None
        if version is not None:
            # A local part ("+cu128") says how it was built, not what it is.
            exact = version.public
            kept.append(f"=={exact}")
        else:
            kept.append(str(part))
    return EnginePin(package, ",".join(sorted(kept)), exact, where, source, unit, "", assumed)


def address_pin(
    address: str, where: Location, source: str, unit: str = "", assumed: str = "", package: str | None = None
) -> EnginePin | None:
    """A pin by address: a git repository at a tag, branch or commit, or a wheel whose file name has the version."""
    plain = unquote(address.partition("#")[0].partition("?")[0])
    egg = re.search(r"[#&]egg=([A-Za-z0-9._-]+)", address)
    file = plain.rpartition("/")[2]
    built = _WHEEL.fullmatch(file) or _SDIST.fullmatch(file)
    if built is not None and not plain.startswith("git+"):
        package = package or package_of(built[1])
        version = _version(built[2])
        if package is not None and version is not None:
            return versions_pin(package, version.public, where, source, unit, assumed)
    if plain.startswith((".", "/")):
        return None  # a folder: how it came there may be said elsewhere
    repository, at, ref = plain.rpartition("@")
    if not at or "/" not in repository or ":" in ref:
        repository, ref = plain, ""
    package = package or (package_of(egg[1]) if egg else None) or repository_package(repository)
    if package is None:
        return None
    if not plain.startswith("git+"):
        return EnginePin(package, "", "", where, source, unit, "it is installed from an address", assumed)
    return git_pin(package, ref, where, source, unit, assumed)


def git_pin(package: str, ref: str, where: Location, source: str, unit: str = "", assumed: str = "") -> EnginePin:
    """A pin to a git reference. A tag that is a version is that release; of anything else no release is known."""
    tag = _TAG.fullmatch(ref)
    version = _version(tag[1]) if tag and not tag[2] else None
    if version is not None:
        return versions_pin(package, version.public, where, source, unit, assumed)
    if not ref or HOLE in ref or "$" in ref:
        unknown = (
            "it is installed from git, at no tag" if not ref else "it is installed from git, at a tag not known here"
        )
    elif _COMMIT.fullmatch(ref):
        unknown = f"it is installed from git, at commit {ref}"
    else:
        unknown = f"it is installed from git, at {ref}"
    return EnginePin(package, "", "", where, source, unit, unknown, assumed)


def image_pin(reference: str, where: Location, unit: str = "", assumed: str = "") -> EnginePin | None:
    """The pin that a container image is; None for an image that no engine runs in, or one whose name is not known."""
    reference = re.sub(r"^(?:docker|oci|docker-daemon|dockerd)://", "", reference.strip())
    reference, _, digest = reference.partition("@")
    reference = reference.replace("#", "/", 1)  # as enroot writes a registry
    name, tag = reference, ""
    if ":" in reference.rpartition("/")[2]:
        name, _, tag = reference.rpartition(":")
    image = image_of(name)
    if image is None:
        return None
    if not image.own and not assumed:
        assumed = f"the tag of {name}, which is not the engine's own image"

    def pin(specifier: str, exact: str, unknown: str) -> EnginePin:
        return EnginePin(image.package, specifier, exact, where, "image", unit, unknown, assumed)

    if HOLE in tag or "$" in tag or "{{" in tag:
        return pin("", "", f"the tag of the image {name} is not known here")
    if image.calendar:
        return pin("", "", f"the tag of {name} is a date, not a release")
    if not tag:
        why = "is named by a digest" if digest else "has no tag"
        return pin("", "", f"the image {name} {why}, which tells no release")
    found = _TAG.fullmatch(tag) or _INNER_TAG.search(tag)
    rest = tag if found is None or found.re is not _TAG else found[2] or ""
    version = _version(found[1]) if found is not None else None
    if version is None or _UNSTABLE.search(rest):
        return pin("", "", f'the tag "{tag}" of the image {name} names no release')
    if len(version.release) < 3:
        return pin(f"=={version.public}.*", "", "")
    return pin(f"=={version.public}", version.public, "")


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except ValueError:  # InvalidVersion, and numbers of thousands of digits
        return None


@lru_cache(maxsize=256)
def _outcomes(marker: str) -> frozenset[bool]:
    """What a marker can be on a Linux machine with GPUs."""
    parsed = Marker(marker)
    outcomes = set()
    for machine in _MACHINES:
        for python in _PYTHONS:
            environment = {
                "os_name": "posix",
                "sys_platform": "linux",
                "platform_system": "Linux",
                "platform_machine": machine,
                "platform_python_implementation": "CPython",
                "implementation_name": "cpython",
                "python_version": python,
                "python_full_version": f"{python}.0",
                "implementation_version": f"{python}.0",
                "extra": "",
            }
            outcomes.add(parsed.evaluate(environment))
    return frozenset(outcomes)


def _applies(marker: Marker | None) -> str | None:
    """ "" where a marker always holds, a note where it may, None where it never does."""
    if marker is None:
        return ""
    try:
        outcomes = _outcomes(str(marker))
    except (UndefinedEnvironmentName, ValueError):
        outcomes = frozenset({True, False})
    if outcomes == {False}:
        # An extra is asked for by whoever installs the project.
        return f"only where {marker}" if "extra" in str(marker) else None
    return "" if outcomes == {True} else f"only where {marker}"

"""Reads values of CloudFormation templates: what they name, across stacks, as plain text.

A resource becomes `${stack/LogicalId}`, an attribute of it `${stack/LogicalId.Arn}`, and an import
becomes what the exporting stack says it is. What only a deployment knows stays as it is written:
`${AWS::AccountId}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra.errors import ReviewError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Templates = Mapping[str, Mapping[str, Any]]
    """Templates by the name of their stack."""

NAMED = re.compile(r"\$\{([^{}/:]+)/([A-Za-z0-9]+)(?:\.[A-Za-z0-9.]+)?\}")
"""A resource in a text: its stack, and its logical id."""
_VARIABLE = re.compile(r"\$\{([^!{}][^{}]*)\}")


@dataclass(frozen=True, order=True)
class Id:
    """A resource: the stack it is in, and its name there."""

    stack: str
    name: str

    def __str__(self) -> str:
        return f"{self.stack}/{self.name}"


class Reader:
    """The values of some templates."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self._exports = dict(_exports(templates))

    def resources(self, *kinds: str) -> Iterator[tuple[Id, str, Mapping[str, Any]]]:
        """Every resource, or those of some kinds: its id, its kind and its properties."""
        for stack, template in sorted(self._templates.items()):
            for name, found in sorted(template.get("Resources", {}).items()):
                if not kinds or found["Type"] in kinds:
                    yield Id(stack, name), found["Type"], found.get("Properties", {})

    def outputs(self) -> Iterator[tuple[str, Id]]:
        """Every output that is one resource's name: what it is called, and the resource."""
        for stack, template in sorted(self._templates.items()):
            for name, output in sorted(template.get("Outputs", {}).items()):
                if "Export" not in output and set(output["Value"]) == {"Ref"}:
                    yield name, Id(stack, output["Value"]["Ref"])

    def text(self, value: Any, stack: str) -> str:
        """A value of a template of `stack` as text.

        Raises ReviewError for a function whose outcome the templates do not say: a policy that
        cannot be read must not pass for one that was.
        """
        if isinstance(value, str | int | float):
            return str(value).lower() if isinstance(value, bool) else str(value)
        if not isinstance(value, dict) or len(value) != 1:
            raise ReviewError(f"{stack}: {str(value)[:80]} is no value that the review can read")
        ((function, given),) = value.items()
        if function == "Ref":
            return f"${{{given}}}" if given.startswith("AWS::") else f"${{{stack}/{given}}}"
        if function == "Fn::GetAtt":
            name, _, attribute = (given if isinstance(given, str) else ".".join(given)).partition(
                "."
            )
            return f"${{{stack}/{name}.{attribute}}}"
        if function == "Fn::ImportValue":
            return self._imported(self.text(given, stack))
        if function == "Fn::Join":
            separator, parts = given
            return str(separator).join(self.texts(parts, stack))
        if function == "Fn::Sub":
            return self._substituted(given, stack)
        raise ReviewError(f"{stack} uses {function} where the review needs to know the value")

    def texts(self, value: Any, stack: str) -> tuple[str, ...]:
        """A value, or a list of them, as texts. Raises ReviewError as `text` does."""
        if value is None:
            return ()
        return tuple(self.text(v, stack) for v in (value if isinstance(value, list) else [value]))

    def _imported(self, name: str) -> str:
        if name not in self._exports:
            raise ReviewError(f"no reviewed stack exports {name}, which one of them imports")
        stack, value = self._exports[name]
        return self.text(value, stack)

    def _substituted(self, given: Any, stack: str) -> str:
        pattern, own = (given, {}) if isinstance(given, str) else given

        def value(found: re.Match[str]) -> str:
            name = found[1].strip()
            if name in own:
                return self.text(own[name], stack)
            return self.text({"Fn::GetAtt": name} if "." in name else {"Ref": name}, stack)

        return _VARIABLE.sub(value, pattern).replace("${!", "${")


def named(text: str) -> tuple[Id, ...]:
    """The resources that a text names."""
    return tuple(Id(stack, name) for stack, name in NAMED.findall(text))


def _exports(templates: Templates) -> Iterator[tuple[str, tuple[str, Any]]]:
    for stack, template in templates.items():
        for output in template.get("Outputs", {}).values():
            if isinstance(name := output.get("Export", {}).get("Name"), str):
                yield name, (stack, output["Value"])

"""The AWS SDK's own models as judges: its validator, and the limits it leaves to the service."""

from __future__ import annotations

import re
from functools import cache

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator


@cache
def service(name):
    return ServiceModel(Loader().load_service_model(name, "service-2"), service_name=name)


def faults(name, operation, parameters):
    """What is wrong with an operation's parameters, as text; empty if nothing is."""
    shape = service(name).operation_model(operation).input_shape
    report = ParamValidator().validate(parameters, shape)
    found = [report.generate_report()] if report.has_errors() else []
    return "; ".join([*found, *_limits(shape, parameters, "")])


def _limits(shape, value, where):
    if shape.type_name == "structure" and not shape.is_document_type:
        for name, child in value.items():
            if name in shape.members:
                yield from _limits(shape.members[name], child, f"{where}.{name}")
    elif shape.type_name == "map":
        for name, child in value.items():
            yield from _limits(shape.key, name, f"{where}[{name}]")
            yield from _limits(shape.value, child, f"{where}.{name}")
    elif shape.type_name == "list":
        for child in value:
            yield from _limits(shape.member, child, f"{where}[]")
    elif shape.type_name == "string" and isinstance(value, str):
        limits = shape.metadata
        if len(value) > limits.get("max", len(value)):
            yield f"{where} has {len(value)} characters, not {limits['max']}"
        if "pattern" in limits and not re.fullmatch(limits["pattern"], value):
            yield f"{where} does not match {limits['pattern']}"
        if shape.enum and value not in shape.enum:
            yield f"{where} is none of {shape.enum}"

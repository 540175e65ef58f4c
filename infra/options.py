"""What `-c name=value` may say, read once and refused with a sentence if it means nothing.

stage      dev | prod                        default dev
surfaces   bedrock | gateway, or both by ,   default bedrock; how agents reach the tools
agentArns  arn:aws:bedrock:…:agent/…,…       agents that exist already and may call the tools
model      a model or inference profile id   the Bedrock agent's; default: the stage's
arch       arm64 | x86_64                    default arm64; local: this machine's
py         3.11 | 3.12 | 3.13 | 3.14         default 3.13; local: this interpreter's
local      true | false                      default false; the functions run on this machine
"""

from __future__ import annotations

import platform
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Context = Callable[[str], object]
    """Gives the value of a context key, or None; the CDK's own reader fits."""

NAMES = ("stage", "surfaces", "agentArns", "model", "arch", "py", "local")
STAGE_NAMES = ("dev", "prod")
ARCHITECTURES = ("arm64", "x86_64")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SURFACES = ("bedrock", "gateway")
DEFAULT_SURFACES = ("bedrock",)
OF_THE_AGENT = ("agentArns", "model")
"""Options that mean nothing without the Bedrock agent's stack."""

AGENT_ARN = re.compile(
    r"arn:aws[a-z-]*:bedrock:[a-z0-9-]+:(?P<account>[0-9]{12}):agent/[0-9A-Z]{10}\Z"
)
MODEL = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+){1,3}(:[a-z0-9.-]+)?\Z")
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """One synth's options, all of them valid."""

    stage: str = "dev"
    surfaces: tuple[str, ...] = DEFAULT_SURFACES
    agent_arns: tuple[str, ...] = ()
    model: str | None = None
    arch: str = "arm64"
    python: str = "3.13"
    local: bool = False


def refuse_unknown(names: Iterable[str]) -> None:
    """Raise OptionError for a context key that looks like an option and is none.

    The CDK's own keys hold a character that an option's name does not.
    """
    for name in sorted(names):
        if name.isalpha() and name not in NAMES:
            raise OptionError(f"-c {name}=... is unknown; there are {', '.join(NAMES)}")


def read_options(context: Context) -> Options:
    """The options that a context holds. Raises OptionError for a value that means nothing."""
    local = _choice("local", context("local"), ("true", "false"), "false") == "true"
    here, running = _this_machine() if local else ("arm64", "3.13")
    arch = _choice("arch", context("arch"), ARCHITECTURES, here)
    if local and arch != here:
        raise OptionError(f"arch={arch} does not run here: local=true needs arch={here}")
    surfaces = _surfaces(context("surfaces"))
    for name in () if "bedrock" in surfaces else OF_THE_AGENT:
        if _text(context(name)):
            raise OptionError(
                f"{name} says something about the agent's stack, which "
                f"surfaces={','.join(surfaces)} leaves out; use surfaces=bedrock,gateway, "
                f"or drop {name}"
            )
    return Options(
        stage=_choice("stage", context("stage"), STAGE_NAMES, "dev"),
        surfaces=surfaces,
        agent_arns=_agent_arns(context("agentArns")),
        model=_model(context("model")),
        arch=arch,
        python=_choice("py", context("py"), PYTHONS, running),
        local=local,
    )


def _this_machine() -> tuple[str, str]:
    machine = platform.machine().lower()
    return _MACHINES.get(machine, machine), f"{sys.version_info.major}.{sys.version_info.minor}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value).strip()


def _choice(name: str, value: object, known: Sequence[str], default: str) -> str:
    text = _text(value) or default
    if text not in known:
        raise OptionError(f"{name}={text} is unknown; choose one of {', '.join(known)}")
    return text


def _parts(value: object) -> list[str]:
    items = value if isinstance(value, list | tuple) else _text(value).split(",")
    return [part for item in items if (part := _text(item))]


def _surfaces(value: object) -> tuple[str, ...]:
    asked = tuple(dict.fromkeys(_parts(value))) or DEFAULT_SURFACES
    for surface in asked:
        _choice("surfaces", surface, SURFACES, "")
    return asked


def _agent_arns(value: object) -> tuple[str, ...]:
    arns = tuple(dict.fromkeys(_parts(value)))
    for arn in arns:
        if not AGENT_ARN.match(arn):
            raise OptionError(
                f"agentArns={arn} is not the ARN of an agent, "
                "such as arn:aws:bedrock:eu-central-1:123456789012:agent/ABCDEFGHIJ"
            )
    return arns


def _model(value: object) -> str | None:
    model = _text(value)
    if model and not MODEL.match(model):
        raise OptionError(f"model={model} is not the id of a model or of an inference profile")
    return model or None

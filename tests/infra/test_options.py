"""What `-c` may say: every default, and a sentence for every value that means nothing."""

from __future__ import annotations

import os
import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from infra.errors import OptionError
from infra.options import Options, read_options, refuse_unknown

PROJECT = Path(__file__).parents[2]
AGENT = "arn:aws:bedrock:us-east-1:123456789012:agent/ABCDEFGHIJ"
HERE = {"amd64": "x86_64", "aarch64": "arm64"}.get(
    platform.machine().lower(), platform.machine().lower()
)


def read(**context):
    return read_options(context.get)


def test_without_options_dev_is_made_for_arm_and_python_3_13():
    assert read() == Options(
        stage="dev", surfaces=("bedrock",), arch="arm64", python="3.13", local=False
    )


def test_local_takes_this_machine_and_this_interpreter():
    options = read(local="true")
    assert options.local
    assert options.arch == HERE
    assert options.python == f"{sys.version_info.major}.{sys.version_info.minor}"


def test_local_may_name_the_interpreter_of_the_emulator():
    assert read(local=True, py="3.12", arch=HERE).python == "3.12"


def test_local_refuses_an_architecture_that_cannot_run_here():
    other = "arm64" if HERE == "x86_64" else "x86_64"
    with pytest.raises(OptionError, match=f"arch={other} does not run here"):
        read(local="true", arch=other)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("stage", "qa", "stage=qa is unknown; choose one of dev, prod"),
        ("arch", "riscv", "arch=riscv is unknown; choose one of arm64, x86_64"),
        ("py", "3.10", "py=3.10 is unknown; choose one of 3.11, 3.12, 3.13, 3.14"),
        ("local", "maybe", "local=maybe is unknown; choose one of true, false"),
        ("surfaces", "telnet", "surfaces=telnet is unknown; choose one of bedrock, gateway"),
        ("surfaces", "gateway;bedrock", "surfaces=gateway;bedrock is unknown"),
        ("agentArns", "agent/ABC", "agentArns=agent/ABC is not the ARN of an agent"),
        ("agentArns", f"{AGENT},*", r"agentArns=\* is not the ARN of an agent"),
        ("model", "Claude 4", "model=Claude 4 is not the id of a model"),
    ],
)
def test_a_value_that_means_nothing_is_refused_in_words(name, value, says):
    with pytest.raises(OptionError, match=says):
        read(**{name: value})


@pytest.mark.parametrize(
    ("value", "surfaces"),
    [
        ("gateway", ("gateway",)),
        ("bedrock, gateway,bedrock", ("bedrock", "gateway")),
        (["gateway", "bedrock"], ("gateway", "bedrock")),
        ("", ("bedrock",)),
    ],
)
def test_surfaces_are_one_or_both(value, surfaces):
    assert read(surfaces=value).surfaces == surfaces


@pytest.mark.parametrize(("name", "value"), [("agentArns", AGENT), ("model", "amazon.nova-pro")])
def test_what_only_the_agents_stack_can_do_is_not_dropped_in_silence(name, value):
    with pytest.raises(OptionError, match=f"{name} .* surfaces=gateway leaves out"):
        read(surfaces="gateway", **{name: value})
    assert read(surfaces="gateway,bedrock", **{name: value}).surfaces == ("gateway", "bedrock")


def test_agent_arns_are_a_comma_separated_list_without_repeats():
    other = AGENT.replace("ABCDEFGHIJ", "KLMNOPQRST")
    assert read(agentArns=f"{AGENT}, {other},{AGENT}").agent_arns == (AGENT, other)


def test_a_model_may_be_a_profile_or_a_model():
    for model in ("amazon.nova-pro-v1:0", "eu.anthropic.claude-haiku-4-5-20251001-v1:0"):
        assert read(model=model).model == model


@pytest.mark.parametrize(
    ("command", "surfaces", "stacks"),
    [
        ("make deploy STAGE=dev", ("bedrock",), ["--all"]),
        ("make deploy STAGE=prod SURFACES=gateway", ("gateway",), ["--all"]),
        ("make diff SURFACES=bedrock,gateway", ("bedrock", "gateway"), []),
        ("make destroy", ("bedrock", "gateway"), ["--all"]),
        ("make destroy SURFACES=gateway STACKS='a b'", ("gateway",), ["a", "b"]),
        ("make destroy ARGS='-c surfaces=gateway'", ("gateway",), ["--all"]),
    ],
)
def test_make_gives_the_command_line_options_that_mean_something(command, surfaces, stacks):
    options, positional = made_by(command)
    assert read_options(options.get).surfaces == surfaces
    assert positional == stacks


def test_every_deployment_that_the_readme_shows_has_options_that_mean_something():
    readme = (PROJECT / "README.md").read_text("utf-8")
    commands = re.findall(r"^make (?:deploy|destroy) .*$", readme, re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        options, _ = made_by(command)
        assert read_options(options.get).stage == "dev"


def made_by(command):
    """The context, the last word counting, and the stacks that a make command gives the CDK."""
    done = subprocess.run(
        ["make", "-n", *shlex.split(command)[1:]],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": os.environ["PATH"]},  # no STAGE, and nothing of a make that runs this
    )
    (line,) = [each for each in done.stdout.splitlines() if "toolgate.local.aws" in each]
    words = iter(shlex.split(line.partition("toolgate.local.aws")[2])[1:])
    options, positional = {}, []
    for word in words:
        if word == "-c":
            name, _, value = next(words).partition("=")
            options[name] = value
        else:
            positional.append(word)
    return options, positional


def test_keys_of_the_cdk_itself_are_no_options():
    refuse_unknown(["@aws-cdk/core:stackRelativeExports", "aws:cdk:bundling-stacks", "stage", "py"])
    with pytest.raises(OptionError, match=r"-c typo=... is unknown; there are stage, "):
        refuse_unknown(["stage", "typo"])

"""The local cloud's four verbs: up, status, down, reset. Each may be repeated at will."""

from __future__ import annotations

import fcntl
import shutil
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from toolgate.local import deploy, emulator, install, process
from toolgate.local.environment import LocalCloud
from toolgate.local.errors import EmulatorError, NotRunningError
from toolgate.local.layout import Layout
from toolgate.local.progress import Progress, Silent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULT_PORT = 4566
_ANSWER_DEADLINE_S = 10


@dataclass(frozen=True)
class Status:
    """What there is of the local cloud; `data_bytes` is what its tables and objects take on disk.

    Of an emulator that holds unsaved work, that is less than what it knows.
    """

    running: bool
    port: int
    endpoint: str
    region: str
    pid: int | None = None
    stacks: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    data_bytes: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The status as JSON values."""
        return asdict(self)


def up(
    progress: Progress | None = None,
    *,
    port: int | None = None,
    redeploy: bool = False,
    layout: Layout | None = None,
) -> LocalCloud:
    """Bring the local cloud up and deploy the tools to it, doing only what is not done yet.

    `port` is remembered; without one the last is used, at first 4566. `redeploy` deploys even if
    the source has not changed. Raises LocalCloudError.
    """
    layout, progress = layout or Layout(), progress or Silent()
    install.check_machine()
    deploy.check_sources(layout.root)
    with _exclusively(layout):
        record = emulator.running(layout)
        if record and not install.emulator_is_installed(layout):
            with progress.step("Stop the emulator, which runs on other versions"):
                emulator.stop(layout, record)
            record = None
        _install(layout, progress)
        cloud = LocalCloud(_started(layout, progress, record, port), layout)
        _deploy(cloud, progress, redeploy=redeploy)
    return cloud


def prepare(progress: Progress | None = None, *, layout: Layout | None = None) -> None:
    """Install what the local cloud is made of, without starting it. Raises LocalCloudError."""
    layout, progress = layout or Layout(), progress or Silent()
    install.check_machine()
    deploy.check_sources(layout.root)
    with _exclusively(layout):
        _install(layout, progress)


def attached(*, layout: Layout | None = None) -> LocalCloud:
    """The local cloud that is up. Raises NotRunningError."""
    layout = layout or Layout()
    record = emulator.running(layout)
    if record is None:
        raise NotRunningError("The local cloud is not up. Run: toolgate local up")
    return LocalCloud(record.port, layout)


def down(progress: Progress | None = None, *, layout: Layout | None = None) -> bool:
    """Stop the emulator, keeping its data. Whether there was one to stop. Raises EmulatorError."""
    layout, progress = layout or Layout(), progress or Silent()
    with _exclusively(layout):
        return _stop(layout, progress)


def reset(progress: Progress | None = None, *, layout: Layout | None = None) -> None:
    """Stop the emulator and forget its data; what is installed stays. Raises EmulatorError."""
    layout, progress = layout or Layout(), progress or Silent()
    with _exclusively(layout):
        _stop(layout, progress)
        with progress.step("Remove the local cloud's data"):
            _forget(layout)


def status(*, layout: Layout | None = None) -> Status:
    """What there is of the local cloud; asks the emulator only if it runs and answers."""
    layout = layout or Layout()
    record = emulator.running(layout)
    last = record or process.read_record(layout.process_file)
    cloud = LocalCloud(last.port if last else DEFAULT_PORT, layout)
    if record is None or not emulator.is_ready(record.port):
        return Status(
            running=False,
            port=cloud.port,
            endpoint=cloud.endpoint,
            region=cloud.region,
            pid=record.pid if record else None,
            data_bytes=data_bytes(layout),
        )
    return Status(
        running=True,
        port=cloud.port,
        endpoint=cloud.endpoint,
        region=cloud.region,
        pid=record.pid,
        stacks=cloud.stacks(),
        functions=cloud.functions(),
        outputs=cloud.outputs(),
        data_bytes=data_bytes(layout),
    )


def data_bytes(layout: Layout) -> int:
    """Bytes that tables and objects take on disk."""
    return sum(_size(path) for folder in _data(layout) for path in folder.rglob("*"))


def _install(layout: Layout, progress: Progress) -> None:
    if not install.emulator_is_installed(layout):
        with progress.step("Install the emulator"):
            install.install_emulator(layout)
    if not install.cdk_is_installed(layout):
        with progress.step("Install the CDK CLI"):
            install.install_cdk(layout)


def _started(
    layout: Layout, progress: Progress, record: process.Record | None, port: int | None
) -> int:
    if record is not None:
        return _answering(record, port)
    if emulator.ended_uncleanly(layout):
        _recover(layout, progress)
    last = process.read_record(layout.process_file)
    wanted = port or (last.port if last else DEFAULT_PORT)
    with progress.step(f"Start the emulator on port {wanted}"):
        return emulator.start(layout, wanted, install.python_minor()).port


def _answering(record: process.Record, port: int | None) -> int:
    if port is not None and port != record.port:
        raise EmulatorError(
            f"The local cloud is already up, on port {record.port}. To move it to {port}: "
            f"toolgate local down, then toolgate local up --port {port}"
        )
    if not emulator.wait_ready(record.port, _ANSWER_DEADLINE_S, lambda: True):
        raise EmulatorError(
            f"The emulator (process {record.pid}) does not answer on port {record.port}. "
            "Stop it and try again: toolgate local down"
        )
    return record.port


def _recover(layout: Layout, progress: Progress) -> None:
    # The emulator saves tables and stacks when it stops, objects at once. Older tables beside newer
    # objects fit together, since objects never change; but what was deployed last is not known.
    with progress.step("Clear up after an emulator that did not stop cleanly"):
        emulator.sweep(layout)
        layout.deployed_file.unlink(missing_ok=True)
        if not emulator.saved_anything(layout.tables):
            _forget(layout)
    progress.note("Its tables are as they were when it last stopped cleanly.")


def _deploy(cloud: LocalCloud, progress: Progress, *, redeploy: bool) -> None:
    layout, stacks = cloud.layout, cloud.stacks()
    digest = deploy.source_digest(layout.root, deploy.SOURCES, deploy.context())
    if not redeploy and deploy.is_current(layout, stacks, digest):
        return
    layout.deploy_log.unlink(missing_ok=True)
    if not deploy.is_bootstrapped(stacks):
        with progress.step("Prepare the account for the CDK"):
            deploy.bootstrap(cloud)
    with progress.step("Deploy the tools"):
        deploy.deploy(cloud, digest)


def _stop(layout: Layout, progress: Progress) -> bool:
    record = emulator.running(layout)
    if record is None:
        if emulator.ended_uncleanly(layout):
            emulator.sweep(layout)
        return False
    with progress.step(f"Stop the emulator (process {record.pid})"):
        clean = emulator.stop(layout, record)
    if not clean:
        progress.note(
            f"It did not stop in {emulator.STOP_DEADLINE_S} s and was killed: "
            "what it held since its last clean stop is lost."
        )
    return True


def _forget(layout: Layout) -> None:
    for folder in _data(layout):
        shutil.rmtree(folder, ignore_errors=True)
    layout.deployed_file.unlink(missing_ok=True)
    last = process.read_record(layout.process_file)
    if last is not None:
        clean = process.Record(port=last.port, python=last.python)
        process.write_record(layout.process_file, clean)


def _data(layout: Layout) -> tuple[Path, Path]:
    return layout.tables, layout.objects


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0


@contextmanager
def _exclusively(layout: Layout) -> Iterator[None]:
    """One command at a time changes a local cloud; a second one waits for the first."""
    layout.home.mkdir(parents=True, exist_ok=True)
    with layout.lock_file.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield

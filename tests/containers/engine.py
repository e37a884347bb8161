"""podman or docker, as far as the trial needs them."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# Another way to call the engine, such as `sudo docker` or `nsenter --mount=/run/ns podman`.
COMMAND = "CONTAINER_ENGINE"
BUILD_OPTIONS = "CONTAINER_BUILD_OPTIONS"


class CannotTryError(Exception):
    """Something that the trial needs cannot be had here."""


@dataclass(frozen=True)
class Run:
    """A container as it shall be."""

    name: str
    image: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    volumes: Sequence[str] = ()
    options: Sequence[str] = ()


class Engine:
    def __init__(self, command: Sequence[str], network: str) -> None:
        self._command = command
        self._network = network

    @classmethod
    def find(cls, network: str) -> "Engine":
        given = os.environ.get(COMMAND)
        command = shlex.split(given) if given else [name for name in ("podman", "docker") if shutil.which(name)][:1]
        if not command:
            raise CannotTryError(
                f"There is neither podman nor docker. Install one, or say how to call it by {COMMAND}."
            )
        engine = cls(command, network)
        if engine.call("version", check=False).returncode:
            raise CannotTryError(f"{shlex.join(command)} does not answer. Is its service running, and may you use it?")
        return engine

    @property
    def is_podman(self) -> bool:
        return "podman" in self._command[-1]

    def call(self, *words: str, check: bool = True, input: str | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([*self._command, *words], capture_output=True, text=True, check=False, input=input)
        if check and done.returncode:
            raise RuntimeError(f"{shlex.join(words[:6])} failed:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        return done

    def have_image(self, name: str) -> bool:
        return self.call("image", "inspect", name, check=False).returncode == 0

    def need_base(self, name: str) -> None:
        if not self.have_image(name) and self.call("pull", name, check=False).returncode:
            raise CannotTryError(
                f"The base image {name} is neither here nor can it be pulled. Without a registry, make it with "
                "debootstrap and `import` it under this name; deploy/README.md says how."
            )

    def build(self, root: Path, image: str) -> None:
        extra = shlex.split(os.environ.get(BUILD_OPTIONS, ""))
        form = ["--format", "docker"] if self.is_podman else []
        self.call("build", *form, *extra, "-f", str(root / "deploy" / "Dockerfile"), "-t", image, str(root))

    def start(self, run: Run) -> None:
        self.call(
            "run", "--detach", "--name", run.name, "--network-alias", run.name.split("_", 1)[1], *self._words(run)
        )

    def run_once(self, run: Run) -> str:
        return self.call("run", "--rm", "--name", run.name, *self._words(run)).stdout

    def _words(self, run: Run) -> list[str]:
        environment = [word for name, value in run.environment.items() for word in ("--env", f"{name}={value}")]
        volumes = [word for volume in run.volumes for word in ("--volume", volume)]
        start = ["--network", self._network, "--no-healthcheck", *environment, *volumes, *run.options]
        return [*start, run.image, *run.command]

    def execute(self, name: str, *words: str, input: str | None = None) -> str:
        return self.call("exec", *(["-i"] if input is not None else []), name, *words, input=input).stdout

    def restart(self, name: str, seconds: int) -> int:
        """Stop it as an orchestrator does, start it again; returns the exit code of what was stopped."""
        self.call("stop", "--time", str(seconds), name)
        code = int(json.loads(self.call("inspect", name).stdout)[0]["State"]["ExitCode"])
        self.call("start", name)
        return code

    def logs(self, name: str) -> str:
        done = self.call("logs", name, check=False)
        return done.stdout + done.stderr

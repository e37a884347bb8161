"""The files of deploy/ cannot be run here; they are checked against real schemas and against the code."""

import json
import re
import shlex
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version
from ipaddress import ip_address, ip_network
from itertools import takewhile
from pathlib import Path
from urllib.parse import urlsplit

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import typer
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema  # type: ignore[import-untyped]
from jsonschema.validators import validator_for  # type: ignore[import-untyped]
from prometheus_client import REGISTRY
from typer._click import Command, Context
from typer.core import TyperGroup

from pressbox.core.environment import load_settings, unknown_variables, variables
from pressbox.core.measures import READABLE, declared_measures
from pressbox.entry.cli import cli
from pressbox.entry.manifests import APPLICATIONS, settings_groups
from tests.architecture.kustomize import Node, render
from tests.architecture.source import ROOT

DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
OVERLAYS = sorted(folder for folder in (KUBERNETES / "overlays").iterdir())
# Kinds of others, whose schemas are not at hand.
FOREIGN = {"ScaledObject", "PodMonitor"}
SCRIPTS = sorted(DEPLOY.rglob("*.sh"))
WRITTEN = ("Dockerfile", "*.yaml", "*.env", "*.template", "*.sh", "*.md", "*.py")
QUEUES = {queue.name for manifest in APPLICATIONS for queue in manifest.queues}
IMAGE = f"pressbox:{version('pressbox')}"
REGISTRY_IMAGE = f"registry.example.org/{IMAGE}"
LIVENESS = {"initialDelaySeconds": 30, "periodSeconds": 30, "timeoutSeconds": 10, "failureThreshold": 3}
READINESS = {"initialDelaySeconds": 10, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}


def compose() -> Node:
    loaded: Node = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return loaded


def compose_services() -> dict[str, Node]:
    """Those that run our image."""
    return {name: service for name, service in compose()["services"].items() if service["image"] == IMAGE}


@cache
def kubernetes_objects(folder: Path = KUBERNETES / "base") -> list[Node]:
    """Rendered once: nobody here changes them."""
    return render(folder)


def kubernetes_objects_of(kind: str) -> list[Node]:
    return [item for item in kubernetes_objects() if item["kind"] == kind]


def secret_template() -> Node:
    loaded: Node = yaml.safe_load((KUBERNETES / "secret.yaml.template").read_text())
    return loaded


def pods(folder: Path = KUBERNETES / "base") -> dict[str, Node]:
    found = {}
    for item in kubernetes_objects(folder):
        if item["kind"] in ("Deployment", "Job"):
            found[item["metadata"]["name"]] = item["spec"]["template"]["spec"]
        if item["kind"] == "CronJob":
            found[item["metadata"]["name"]] = item["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def containers(folder: Path = KUBERNETES / "base") -> Iterator[Node]:
    for pod in pods(folder).values():
        yield from [*pod.get("initContainers", ()), *pod["containers"]]


def dockerfile() -> list[tuple[str, str]]:
    """Instructions with their arguments, continued lines joined."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def stages() -> list[list[tuple[str, str]]]:
    found: list[list[tuple[str, str]]] = []
    for instruction in dockerfile():
        if instruction[0] == "FROM":
            found.append([])
        found[-1].append(instruction)
    return found


def documented_commands() -> Iterator[list[str]]:
    """What the pages tell people to type, without options and their own words."""
    for page in (DEPLOY / "README.md", ROOT / "docs" / "operations.md"):
        for line in re.findall(r"(?:`|^)pressbox ([a-z][^`\n#]*)", page.read_text(), re.MULTILINE):
            yield list(takewhile(lambda word: re.fullmatch(r"[a-z-]+", word) and word[0] != "-", line.split()))


def commands() -> Iterator[list[str]]:
    """What deploy/ lets the program do."""
    for service in compose_services().values():
        yield service["command"]
    for container in containers():
        if "command" in container:
            # A line for the shell: what it lets the program do.
            found = re.search(r"pressbox ([^']*)", container["args"][0])
            assert found
            yield shlex.split(found[1])
        else:
            yield container["args"]
    yield from (json.loads(rest) for word, rest in dockerfile() if word == "CMD")


def test_compose_file_fits_the_schema_of_the_compose_specification() -> None:
    schema = get_builtin_schema("vendor.compose-spec")
    errors = validator_for(schema)(schema).iter_errors(compose())
    assert [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in errors] == []


@pytest.mark.parametrize("folder", [KUBERNETES / "base", *OVERLAYS], ids=lambda folder: folder.name)
def test_manifests_fit_the_schema_of_kubernetes(folder: Path) -> None:
    objects = [*kubernetes_objects(folder), secret_template()]
    for item in objects:
        if item["kind"] not in FOREIGN:
            kubernetes_validate.validate(item, kubernetes_validate.latest_version(), strict=True)
        assert item["kind"] == "Namespace" or item["metadata"]["namespace"] == "pressbox"
    names = [(item["kind"], item["metadata"]["name"]) for item in objects]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("folder", OVERLAYS, ids=lambda folder: folder.name)
def test_the_settings_of_an_overlay_can_be_read_and_its_files_are_mounted(folder: Path) -> None:
    (config,) = (item["data"] for item in kubernetes_objects(folder) if item["kind"] == "ConfigMap")
    assert unknown_variables(config, groups=settings_groups(), dotenv=None) == ()
    values = {name: value for name, value in config.items() if not name.endswith("_FILE")}
    assert load_settings(values, groups=settings_groups(), dotenv=None).temporal.address
    for pod in pods(folder).values():
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            environment = {**config, **{item["name"]: item["value"] for item in container.get("env", ())}}
            mounted = [mount["mountPath"] for mount in container["volumeMounts"]]
            files = named_files(environment)
            assert all(any(file.startswith(f"{path}/") for path in mounted) for file in files), files


def test_every_kustomization_names_all_files_of_its_folder() -> None:
    for file in KUBERNETES.rglob("kustomization.yaml"):
        named = set(yaml.safe_load(file.read_text())["resources"])
        beside = {other.name for other in file.parent.glob("*.yaml") if other != file}
        assert beside <= named, file


def test_workers_grow_with_the_backlog_of_their_own_queue() -> None:
    objects = yaml.safe_load_all((KUBERNETES / "components" / "keda" / "scaled-objects.yaml").read_text())
    scaled = {item["spec"]["scaleTargetRef"]["name"]: item["spec"] for item in objects}
    workers = {name for name in pods() if "-worker-" in name}
    # The index in files has one writer.
    assert scaled.keys() == workers - {"pressbox-worker-curator-index"}
    for name, spec in scaled.items():
        assert spec["triggers"][0]["metadata"]["taskQueue"] == name.removeprefix("pressbox-worker-")
        assert 2 <= spec["minReplicaCount"] < spec["maxReplicaCount"]


def test_compose_asks_for_fewer_connections_than_postgres_has() -> None:
    services = compose()["services"]
    most = int(services["postgres"]["command"][-1].split("=")[1])
    temporal = services["temporal"]["environment"]
    for_temporal = 4 * (int(temporal["SQL_MAX_CONNS"]) + int(temporal["SQL_VIS_MAX_CONNS"]))
    lasting = [service for service in compose_services().values() if service["restart"] == "unless-stopped"]
    pools = sum(int(service["environment"]["PRESSBOX_DATABASE_POOL_SIZE"]) + 2 for service in lasting)
    # Commands that somebody runs beside it, and what PostgreSQL keeps for its owner.
    assert pools + for_temporal + 10 <= most, (pools, for_temporal)


def test_every_service_of_ours_has_a_limit_of_memory_and_a_place_for_settings() -> None:
    for name, service in compose_services().items():
        assert service["mem_limit"], name
        assert service["env_file"] == [{"path": "./pressbox.env", "required": False}]
        scratch = [volume for volume in service.get("volumes", ()) if volume.endswith(":/tmp")]
        assert service["tmpfs"] == ([] if scratch else ["/tmp:size=128m"])


@pytest.mark.parametrize("file", SCRIPTS, ids=lambda file: file.name)
def test_script_parses_and_can_be_executed(file: Path) -> None:
    subprocess.run(["sh", "-n", file], check=True)
    assert file.stat().st_mode & stat.S_IXUSR
    assert "set -eu" in file.read_text()


def test_every_variable_is_a_setting() -> None:
    written = [file for ending in WRITTEN for file in DEPLOY.rglob(ending)]
    names = {name for file in written for name in named_variables(file)}
    assert "PRESSBOX_DATABASE_URL_FILE" in names
    assert unknown_variables(dict.fromkeys(names, ""), groups=settings_groups(), dotenv=None) == ()
    assert {"HEALTH_PORT"} <= {name for variable in variables(settings_groups()) for name in variable.names}


def named_variables(file: Path) -> set[str]:
    return set(re.findall(r"\bPRESSBOX_[A-Z_]*[A-Z]\b", file.read_text()))


def test_the_values_of_settings_can_be_read() -> None:
    config = kubernetes_objects_of("ConfigMap")[0]["data"]
    plain = [
        *(service["environment"] for service in compose_services().values()),
        *({**config, **{item["name"]: item["value"] for item in each.get("env", ())}} for each in containers()),
    ]
    for environment in plain:
        # Compose itself fills in ${…}; the files of secrets exist only where it runs.
        values = {name: value for name, value in environment.items() if "$" not in value and "_FILE" not in name}
        settings = load_settings(values, groups=settings_groups(), dotenv=None)
        assert settings.temporal.address
        assert settings.objects.bucket


def test_every_secret_comes_from_a_file_that_is_mounted() -> None:
    secret = {variable.name for variable in variables(settings_groups()) if variable.secret}
    config, template = kubernetes_objects_of("ConfigMap")[0]["data"], secret_template()["stringData"]
    for service in compose_services().values():
        assert secret.isdisjoint(service["environment"])
        assert named_files(service["environment"]) == {f"/run/secrets/{name}" for name in service["secrets"]}
    used: set[str] = set()
    for pod in pods().values():
        mounted = mounted_secrets(pod, set(template))
        for container in [*pod.get("initContainers", ()), *pod["containers"]]:
            environment = {**config, **{item["name"]: item["value"] for item in container.get("env", ())}}
            assert secret.isdisjoint(environment)
            assert named_files(environment) == {f"/run/secrets/pressbox/{name}" for name in mounted}
        used |= mounted
    # The component for Prometheus adds the last one.
    assert used == set(template) - {"metrics_token"}


def test_only_web_and_the_senders_of_messages_hold_the_instance_key() -> None:
    template = set(secret_template()["stringData"])
    in_pods = {name for name, pod in pods().items() if "secret_key" in mounted_secrets(pod, template)}
    in_services = {name for name, service in compose_services().items() if "secret_key" in service["secrets"]}
    assert in_pods == {"pressbox-web", "pressbox-worker-delivery", "pressbox-worker-soonish"}
    assert in_services == {"web-1", "web-2", "worker-delivery", "worker-soonish"}


def named_files(environment: Node) -> set[str]:
    return {value for name, value in environment.items() if name.endswith("_FILE")}


def mounted_secrets(pod: Node, known: set[str]) -> set[str]:
    secret: Node = next(volume["secret"] for volume in pod["volumes"] if "secret" in volume)
    return {item["key"] for item in secret["items"]} if "items" in secret else known


def test_pods_are_closed_but_for_what_is_named() -> None:
    policies = {item["metadata"]["name"]: item["spec"] for item in kubernetes_objects_of("NetworkPolicy")}
    assert policies["pressbox-deny"] == {"podSelector": {}, "policyTypes": ["Ingress"]}
    opened = [rule for policy in policies.values() for rule in policy.get("ingress", ())]
    assert opened
    assert all(rule["from"] and rule["ports"] for rule in opened), "a rule without a source lets everybody in"
    ports = {port["name"] for container in containers() for port in container.get("ports", ())}
    assert {port["port"] for rule in opened for port in rule["ports"]} == ports
    (egress,) = policies["pressbox-egress"]["egress"]
    blocked = [ip_network(block) for target in egress["to"] for block in target["ipBlock"]["except"]]
    for metadata in ("169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"):
        address = ip_address(metadata)
        assert any(address in network for network in blocked if network.version == address.version), metadata


def test_every_task_queue_has_a_worker_and_no_worker_waits_on_another() -> None:
    polled = [shlex.join(command) for command in commands() if command[0] == "worker"]
    wanted = [f"worker --queue {queue}" for queue in QUEUES]
    assert sorted(polled) == sorted(wanted * 2), "one block in compose.yaml and one file in kubernetes/ per queue"


def test_every_command_exists() -> None:
    root = typer.main.get_command(cli)
    for arguments in commands():
        command, rest = found_command(root, arguments)
        # Refuses an option that the command does not have.
        command.make_context("pressbox", rest)


def test_every_documented_command_exists() -> None:
    root = typer.main.get_command(cli)
    documented = list(documented_commands())
    assert ["schedules", "apply"] in documented
    for words in documented:
        found_command(root, words)


def found_command(command: Command, words: list[str]) -> tuple[Command, list[str]]:
    """The command that these words lead to, and what is left for it."""
    rest = list(words)
    while isinstance(command, TyperGroup):
        assert rest, f"{words} names no command"
        found = command.get_command(Context(command), rest.pop(0))
        assert found is not None, f"there is no command {words}"
        command = found
    return command, rest


def own_metrics() -> set[str]:
    """What web and workers answer, as Prometheus calls it."""
    for module in ("pressbox.core.web.metrics", "pressbox.core.temporal.errors"):
        import_module(module)
    counted = {sample for family in REGISTRY.collect() for sample in samples_of(family.name, family.type)}
    return counted | {measure.name for measure in declared_measures(APPLICATIONS)} | {READABLE}


def samples_of(name: str, kind: str) -> set[str]:
    endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count", "")}.get(kind, ("",))
    return {name + ending for ending in endings}


def test_every_documented_metric_of_ours_exists() -> None:
    named = set(re.findall(r"`((?:pressbox|process)_[a-z_]+)`", (ROOT / "docs" / "operations.md").read_text()))
    assert "pressbox_stream_clients" in named
    assert named - own_metrics() == set()
    assert {measure.name for measure in declared_measures(APPLICATIONS)} <= named, "operations.md says when to worry"


def alert_rules() -> list[Node]:
    rules: Node = yaml.safe_load((DEPLOY / "observability" / "alerts.yaml").read_text())
    return [rule for group in rules["groups"] for rule in group["rules"]]


def panels() -> list[Node]:
    loaded: Node = json.loads((DEPLOY / "observability" / "dashboard.json").read_text())
    return list(loaded["panels"])


def test_dashboard_and_alerts_name_metrics_that_exist() -> None:
    watched = [rule["expr"] for rule in alert_rules()] + [item["expr"] for one in panels() for item in one["targets"]]
    named = {name for expression in watched for name in re.findall(r"\b(?:pressbox|process|temporal)_\w+", expression)}
    ours = {name for name in named if not name.startswith("temporal_")}
    assert ours - own_metrics() == set()
    # Those of the SDK are seen on a real worker by tests/integration/test_external_parts.py, by the same page.
    documented = set(re.findall(r"`(temporal_[a-z_]+)`", (ROOT / "docs" / "operations.md").read_text()))
    assert {name.removesuffix("_bucket") for name in named - ours} <= documented
    assert {measure.name for measure in declared_measures(APPLICATIONS)} <= named, "each is drawn"


def test_every_alert_says_what_to_do() -> None:
    for rule in alert_rules():
        assert rule.keys() == {"alert", "expr", "for", "labels", "annotations"}
        assert rule["annotations"].keys() == {"summary", "action"}
    assert len({rule["alert"] for rule in alert_rules()}) == len(alert_rules())


@pytest.mark.parametrize("name", [name for name in pods() if not name.endswith(("-migrate", "-backup"))])
def test_probes_have_the_specified_numbers_and_addresses(name: str) -> None:
    container = pods()[name]["containers"][0]
    alive, ready, port = ("/healthz", "/readyz", 8030) if name.endswith("-web") else ("/health", "/ready", 8080)
    for probe, path, numbers in (("livenessProbe", alive, LIVENESS), ("readinessProbe", ready, READINESS)):
        asked = dict(container[probe])
        assert asked.pop("httpGet") == {"path": path, "port": container["ports"][0]["name"]}
        assert asked == numbers
    assert container["startupProbe"]["httpGet"] == {"path": alive, "port": container["ports"][0]["name"]}
    assert container["ports"][0]["containerPort"] == port
    environment = {item["name"]: item["value"] for item in container["env"]}
    assert "0.0.0.0" in environment.values()
    assert str(port) in environment.values()


@pytest.mark.parametrize("name", pods())
def test_pods_run_without_rights(name: str) -> None:
    pod = pods()[name]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False, "the service's own variables look like our settings"
    mounted = {volume["name"] for volume in pod["volumes"]}
    for container in [*pod.get("initContainers", ()), *pod["containers"]]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert {mount["name"] for mount in container["volumeMounts"]} <= mounted
        assert container["image"] == REGISTRY_IMAGE


def test_services_and_budgets_select_pods_that_exist() -> None:
    labels = [item["spec"]["template"]["metadata"]["labels"] for item in kubernetes_objects_of("Deployment")]
    selected = [item["spec"]["selector"] for item in kubernetes_objects_of("Service")]
    budgets = [item["spec"]["selector"]["matchLabels"] for item in kubernetes_objects_of("PodDisruptionBudget")]
    assert all(each in labels for each in selected)
    assert sorted(map(str, budgets)) == sorted(map(str, labels)), "every Deployment has a budget"


def test_there_are_two_web_processes() -> None:
    replicas = {item["metadata"]["name"]: item["spec"]["replicas"] for item in kubernetes_objects_of("Deployment")}
    assert replicas["pressbox-web"] == 2
    assert [service["command"] for service in compose_services().values()].count(["web"]) == 2


def test_images_are_pinned() -> None:
    named = [service["image"] for service in compose()["services"].values()]
    named += [rest.split()[0] for word, rest in dockerfile() if word == "FROM" and rest.split()[0] != "dependencies"]
    for image in named:
        assert re.fullmatch(r"[a-z0-9./-]+:[a-z0-9.-]*\d+\.\d+[a-z0-9.-]*", image), f"{image} may change under us"


def test_what_compose_names_is_declared_and_lies_in_the_repository() -> None:
    file = compose()
    for name, service in file["services"].items():
        assert set(service.get("secrets", ())) <= set(file["secrets"])
        assert set(service.get("depends_on", ())) <= set(file["services"])
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in file["volumes"] or (DEPLOY / source).is_file(), f"{name}: {source}"
        long_lived = service["restart"] == "unless-stopped"
        # Our web has its check in the image; Temporal's UI is nobody's dependency.
        assert "healthcheck" in service or not long_lived or service.get("command") == ["web"] or name == "temporal-ui"


def test_the_image_is_built_in_stages_and_runs_as_nobody_special() -> None:
    dependencies, code, runtime = stages()
    assert any("uv sync --frozen" in rest for word, rest in dependencies if word == "RUN")
    copied = [rest for word, rest in runtime if word == "COPY"]
    # A changed line of ours must not make a new layer of all dependencies.
    assert [rest.split()[0] for rest in copied] == ["--from=dependencies", "--from=code"], "the sources stay behind"
    assert "src" not in " ".join(rest for word, rest in dependencies if word == "COPY")
    assert any("--prefix /opt/code --no-deps" in rest for word, rest in code if word == "RUN")
    words = [word for word, _ in runtime]
    user = dict(runtime)["USER"]
    assert re.fullmatch(r"[1-9]\d{4}:[1-9]\d{4}", user)
    assert words.index("USER") > max(index for index, word in enumerate(words) if word in ("RUN", "COPY"))
    assert json.loads(dict(runtime)["ENTRYPOINT"]) == ["pressbox"]
    assert "HEALTHCHECK" in words
    assert {word for word, _ in dockerfile()} <= {
        *("FROM", "ENV", "RUN", "WORKDIR", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")
    }
    assert all(pod["securityContext"]["runAsUser"] == int(user.split(":")[0]) for pod in pods().values())


def test_what_the_image_copies_passes_the_ignore_file() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line.removeprefix("!") for line in lines if line.startswith("!")}
    built = [*stages()[0], *stages()[1]]
    copied = {source for word, rest in built if word == "COPY" for source in rest.split()[:-1]}
    assert "*" in lines
    assert copied == allowed
    assert all((ROOT / source).exists() for source in copied)


def test_the_secrets_that_compose_wants_are_made_once_and_fit_together(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    made, again = (made_secrets(folder) for _ in range(2))
    assert made == again
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {Path(item["file"]).name for item in compose()["secrets"].values()} == made.keys()
    assert urlsplit(made["database_url"]).password == made["database_password"]
    credentials = json.loads(made["objects_identities"])["identities"][0]["credentials"]
    assert credentials == [{"accessKey": made["objects_access_key_id"], "secretKey": made["objects_secret_access_key"]}]
    assert len(set(made.values())) == len(made)
    # Every secret is blotted out of every log line: none may be a word that lines contain.
    assert all(len(value) >= 20 for value in made.values())


def made_secrets(folder: Path) -> dict[str, str]:
    subprocess.run([DEPLOY / "make-secrets.sh", folder], check=True, capture_output=True)
    return {file.name: file.read_text().strip() for file in folder.iterdir()}


def test_secrets_stay_out_of_git() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("needs a git checkout")
    subprocess.run([git, "check-ignore", "--quiet", "deploy/secrets/secret_key"], cwd=ROOT, check=True)


def test_without_an_engine_the_trial_of_containers_says_so(tmp_path: Path) -> None:
    """2 means that nothing was tried; nobody may take it for a success, nor for a failure of ours."""
    environment = {"PATH": str(tmp_path), "CONTAINER_ENGINE": ""}
    command = [sys.executable, "-m", "tests.containers"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "neither podman nor docker" in done.stderr
    broken = {**environment, "CONTAINER_ENGINE": "/bin/false"}
    done = subprocess.run(command, cwd=ROOT, env=broken, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not answer" in done.stderr

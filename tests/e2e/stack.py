"""The real services: PostgreSQL, Kafka, Kafka Connect with Debezium."""
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from acceptance import ports
from acceptance.broker import Cluster

HERE = Path(__file__).resolve().parent
STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
ROUTER = "transforms.outbox."


def routed(topic, converters):
    """What Debezium's outbox router writes."""
    return {
        **converters,
        "topic.prefix": topic, "tombstones.on.delete": "false",
        "transforms": "outbox",
        ROUTER + "type": "io.debezium.transforms.outbox.EventRouter",
        ROUTER + "route.topic.replacement": topic,
        ROUTER + "table.fields.additional.placement": "type:header:eventType",
    }


def raw(topic, converters):
    """Change events as they are, in the order of their aggregates."""
    return {
        **converters,
        "topic.prefix": topic.removesuffix(".public.outbox"),
        "message.key.columns": "public.outbox:aggregateid",
    }


def json_converters():
    return {
        "key.converter": JSON, "key.converter.schemas.enable": "false",
        "value.converter": JSON, "value.converter.schemas.enable": "false",
    }


def avro_converters(registry):
    """Apicurio's, with its defaults: ids in headers."""
    out = {}
    for part in ("key", "value"):
        out[f"{part}.converter"] = \
            "io.apicurio.registry.utils.converter.AvroConverter"
        option = f"{part}.converter.apicurio.registry."
        out[option + "url"] = f"{registry}/apis/registry/v2"
        out[option + "auto-register"] = "true"
        out[option + "find-latest"] = "true"
    return out


# what a connector is told besides database and table
CONNECTORS = {
    "string": lambda topic, _: routed(
        topic, {"key.converter": STRING, "value.converter": STRING}),
    "json": lambda topic, _: routed(topic, json_converters()),
    "raw": lambda topic, _: raw(topic, json_converters()),
    "avro": lambda topic, registry: routed(topic, avro_converters(registry)),
}


class Stack:
    """One stack with ports and a run folder of its own."""

    def __init__(self, run, registry=False):
        self.run = Path(run)
        kafka = ports.reserve(ports.KAFKA, 2)
        self.connect_port = ports.reserve(ports.RECEIVER)
        self.pg_port = ports.reserve(ports.RECEIVER)
        self.bootstrap = f"127.0.0.1:{kafka}"
        self.env = {**os.environ, "STACK_RUN": str(self.run),
                    "STACK_KAFKA_PORT": str(kafka),
                    "STACK_CONNECT_PORT": str(self.connect_port),
                    "STACK_PG_PORT": str(self.pg_port)}
        self.registry = None
        if registry:
            port = ports.reserve(ports.RECEIVER)
            self.registry = f"http://127.0.0.1:{port}"
            self.env["STACK_REGISTRY_PORT"] = str(port)

    def up(self):
        subprocess.run([HERE / "stack-up"], env=self.env, check=True,
                       stdin=subprocess.DEVNULL)
        self.kafka = Cluster(self.bootstrap)

    def down(self):
        subprocess.run([HERE / "stack-down"], env=self.env,
                       stdin=subprocess.DEVNULL)

    # ---- PostgreSQL
    def psql(self, database, text):
        """Runs the statements in one session; the rows as printed."""
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1",
                   "-h", "127.0.0.1", "-p", str(self.pg_port),
                   "-U", "postgres", "-d", database, "-f", "-"]
        done = subprocess.run(command, input=text.encode(), cwd="/",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(f"psql: {done.stderr.decode()[-500:]}")
        return done.stdout.decode()

    # ---- Connect
    def connect(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.connect_port}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as e:
            text = e.read().decode("utf-8", "replace")
            raise RuntimeError(f"{method} {path}: {e.code} {text[:500]}")

    def read_outbox(self, name, database, topic, kind):
        """A connector of that kind; returns when it streams."""
        config = {
            "connector.class":
                "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": "127.0.0.1",
            "database.port": str(self.pg_port),
            "database.user": "postgres", "database.password": "unused",
            "database.dbname": database, "plugin.name": "pgoutput",
            "slot.name": name, "publication.name": name,
            "publication.autocreate.mode": "filtered",
            "table.include.list": "public.outbox",
            "snapshot.mode": "no_data", "poll.interval.ms": "20",
            **CONNECTORS[kind](topic, self.registry),
        }
        self.connect("PUT", f"/connectors/{name}/config", config)
        # RUNNING says nothing yet: the slot is active when it streams
        active = "select active from pg_replication_slots " \
                 f"where slot_name = '{name}';"
        end = time.monotonic() + 60
        while self.psql(database, active).strip() != "t":
            if time.monotonic() > end:
                state = self.connect("GET", f"/connectors/{name}/status")
                raise RuntimeError(f"the connector does not stream: {state}")
            time.sleep(0.1)

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
CONVERTERS = {
    "string": {
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    },
    "json": {
        "key.converter": "org.apache.kafka.connect.json.JsonConverter",
        "key.converter.schemas.enable": "false",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    },
}


class Stack:
    """One stack with ports and a run folder of its own."""

    def __init__(self, run):
        self.run = Path(run)
        kafka = ports.reserve(ports.KAFKA, 2)
        self.connect_port = ports.reserve(ports.RECEIVER)
        self.pg_port = ports.reserve(ports.RECEIVER)
        self.bootstrap = f"127.0.0.1:{kafka}"
        self.env = {**os.environ, "STACK_RUN": str(self.run),
                    "STACK_KAFKA_PORT": str(kafka),
                    "STACK_CONNECT_PORT": str(self.connect_port),
                    "STACK_PG_PORT": str(self.pg_port)}

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

    def route_outbox(self, name, database, topic, converter):
        """A connector with the outbox router; returns when it streams."""
        router = "transforms.outbox."
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
            "topic.prefix": name, "snapshot.mode": "no_data",
            "tombstones.on.delete": "false", "poll.interval.ms": "20",
            "transforms": "outbox",
            router + "type": "io.debezium.transforms.outbox.EventRouter",
            router + "route.topic.replacement": topic,
            router + "table.fields.additional.placement":
                "type:header:eventType",
            **CONVERTERS[converter],
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

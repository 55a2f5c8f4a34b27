"""Several Kafka brokers (KRaft, each one also a controller) that can be
killed one by one, and a watch on what the cluster says about itself."""
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from acceptance import ports
from acceptance.broker import die_with_parent, jars, java

now = time.monotonic

CONFIG = """
process.roles=broker,controller
node.id={node}
controller.quorum.voters={voters}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={data}
auto.create.topics.enable=false
default.replication.factor={copies}
min.insync.replicas={least}
offsets.topic.replication.factor={copies}
offsets.topic.num.partitions=2
transaction.state.log.replication.factor={copies}
transaction.state.log.min.isr={least}
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor={copies}
share.coordinator.state.topic.min.isr={least}
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
leader.imbalance.check.interval.seconds=5
unclean.leader.election.enable=false
num.network.threads=2
num.io.threads=2
num.replica.fetchers=1
replica.lag.time.max.ms=5000
log.cleaner.dedupe.buffer.size=4194304
log.index.size.max.bytes=1048576
log.retention.ms=-1
log.segment.bytes=67108864
"""

LOGGING = """
appender.c.type=Console
appender.c.name=C
appender.c.layout.type=PatternLayout
appender.c.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1} %m%n
rootLogger.level=INFO
rootLogger.appenderRef.c.ref=C
logger.a.name=org.apache.kafka.common.config.AbstractConfig
logger.a.level=WARN
logger.b.name=kafka.server.NodeToControllerRequestThread
logger.b.level=WARN
"""


class Node:
    """One broker. All processes must be started from the main thread: they
    die with the thread that made them."""

    def __init__(self, number, folder, port):
        self.number, self.folder, self.port = number, Path(folder), port
        self.folder.mkdir(parents=True)
        self.log = self.folder / "broker.log"
        self.conf = self.folder / "server.properties"
        self.proc, self._from = None, 0
        self.wanted = True             # should run now

    def configure(self, nodes):
        copies = min(3, len(nodes))
        voters = ",".join(f"{n.number}@127.0.0.1:{n.port + 1}" for n in nodes)
        self.conf.write_text(CONFIG.format(
            node=self.number, voters=voters, port=self.port,
            controller=self.port + 1, data=self.folder / "data",
            copies=copies, least=max(1, copies - 1)))
        (self.folder / "log4j2.properties").write_text(LOGGING)

    def java(self, heap, main, *arguments):
        libs = jars()
        archive = libs / "broker.jsa"
        shared = [f"-XX:SharedArchiveFile={archive}", "-Xshare:auto"] \
            if archive.exists() else []
        return [java(), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                "-Xss512k", f"-Xmx{heap}", *shared,
                f"-Dlog4j2.configurationFile={self.folder}/log4j2.properties",
                "-cp", f"{libs}/*", main, *arguments]

    def format(self):
        return subprocess.Popen(
            self.java("128m", "kafka.tools.StorageTool", "format", "-t",
                      "b3V0Ym94LWJyaWRnZS1jaA", "-c", str(self.conf)),
            stdin=subprocess.DEVNULL, stdout=open(self.folder / "format.log",
                                                  "w"),
            stderr=subprocess.STDOUT, preexec_fn=die_with_parent)

    def start(self):
        self._from = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "a") as log:
            self.proc = subprocess.Popen(
                self.java("256m", "kafka.Kafka", str(self.conf)),
                stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, preexec_fn=die_with_parent)

    @property
    def alive(self):
        return self.proc is not None and self.proc.poll() is None

    @property
    def ready(self):
        """It has taken up its work since it was started last."""
        with open(self.log, "rb") as log:
            log.seek(self._from)
            return b"Kafka Server started" in log.read()

    def kill(self):
        if self.alive:
            self.proc.send_signal(signal.SIGKILL)
            self.proc.wait()


class Nodes:
    """The cluster, and a thread that looks at it."""

    def __init__(self, count, folder):
        folder = Path(folder)
        self.nodes = [Node(i + 1, folder / f"broker-{i + 1}",
                           ports.reserve(ports.KAFKA, 2))
                      for i in range(count)]
        self.bootstrap = ",".join(f"127.0.0.1:{n.port}" for n in self.nodes)
        self.copies = min(3, count)
        self.last_whole = 0.0          # when all replicas were in sync last
        self.topics = []
        self._stop = threading.Event()

    def up(self, seconds=90):
        for n in self.nodes:
            n.configure(self.nodes)
        jars()
        for p, n in [(n.format(), n) for n in self.nodes]:
            if p.wait(60):
                raise RuntimeError(
                    "storage: " + (n.folder / "format.log").read_text()[-900:])
        for n in self.nodes:
            n.start()
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap,
                                  "log_level": 0,
                                  "reconnect.backoff.max.ms": 500})
        end = now() + seconds
        while len(self._brokers()) < len(self.nodes):
            for n in self.nodes:
                if not n.alive:
                    raise RuntimeError(f"a broker ended; see {n.log}")
            if now() > end:
                raise RuntimeError("the brokers do not come up")
            time.sleep(0.1)

    def _brokers(self):
        try:
            return self.admin.list_topics(timeout=2).brokers
        except KafkaException:
            return {}

    def create(self, name, partitions, **config):
        # A broker may be known before it takes replicas: try for a while.
        new = NewTopic(name, partitions, self.copies,
                       config={k.replace("_", "."): v
                               for k, v in config.items()})
        end = now() + 20
        while True:
            try:
                self.admin.create_topics([new])[name].result(15)
                break
            except KafkaException as e:
                if e.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
                    break
                if now() > end:
                    raise
                time.sleep(0.2)
        self.topics.append(name)

    def watch(self):
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        while not self._stop.wait(0.2):
            t = now()
            if self._whole():
                self.last_whole = t

    def _whole(self):
        try:
            data = self.admin.list_topics(timeout=2)
        except KafkaException:
            return False
        if len(data.brokers) < len(self.nodes):
            return False
        for name in self.topics + ["__consumer_offsets"]:
            topic = data.topics.get(name)
            if topic is None or topic.error or not topic.partitions:
                return False
            for p in topic.partitions.values():
                if p.leader < 0 or len(p.isrs) < self.copies:
                    return False
        return True

    def generations(self, group):
        """How many generations the group went through, by the logs."""
        pattern = re.compile(
            rf"tabilized group '?{re.escape(group)}'? generation (\d+)")
        found = [0]
        for n in self.nodes:
            if n.log.exists():
                text = n.log.read_text("utf-8", "replace")
                found += [int(x) for x in pattern.findall(text)]
        return max(found)

    def stop(self):
        self._stop.set()
        for n in self.nodes:
            if n.alive:
                n.proc.send_signal(signal.SIGKILL)
        for n in self.nodes:
            if n.proc:
                n.proc.wait()

"""The stand: receiver, subjects (bridge and floor) and topics, each started, watched and ended from outside."""
import json, os, re, shutil, subprocess, time, urllib.request, uuid
from pathlib import Path

from acceptance import ports
from acceptance.bridge import config_text, merge
from acceptance.broker import die_with_parent

HZ = os.sysconf("SC_CLK_TCK")
PREFETCH_KB = 8192
now = time.monotonic


def until(what, seconds, every=0.005):
    """Polls; the seconds it took, or None when it did not become true."""
    start = now()
    while now() - start < seconds:
        if what():
            return now() - start
        time.sleep(every)
    return None


class Receiver:
    def __init__(self, build):
        self.proc = subprocess.Popen([str(build / "tests/bench/bench-receiver")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                     preexec_fn=die_with_parent)
        self.port, self.admin = map(int, self.proc.stdout.readline().split())
        self.url = f"http://127.0.0.1:{self.port}/events"

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=20) as r:
            return r.read().decode()

    def stats(self):
        return json.loads(self.get("/stats"))

    def set(self, **rules):
        self.get("/set?" + "&".join(f"{k}={v}" for k, v in rules.items()))

    def reset(self, delay_ms=0, fail_key=-1):
        self.get("/reset")
        self.set(delay_us=int(delay_ms * 1000), fail_key=fail_key)

    def events(self):
        """[(number, key, requests, successes, latency in ms)]"""
        rows = (tuple(map(int, line.split())) for line in self.get("/events").splitlines())
        return [(n, k, r, s, us / 1000) for n, k, r, s, us in rows]

    def stop(self):
        self.proc.stdin.close()
        self.proc.wait(5)


class Subject:
    """A process that turns records into requests."""
    name = ""

    def __init__(self, bench, receiver):
        self.bench, self.receiver = bench, receiver
        self.group = "bench-" + uuid.uuid4().hex[:12]
        self.folder = Path(bench.work / self.group)
        self.folder.mkdir()
        self.proc = None

    def spawn(self, args):
        self.log = self.folder / "log"
        self.started_us = time.time_ns() // 1000
        self.proc = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(self.log, "a"), preexec_fn=die_with_parent)
        return self

    def cpu_s(self):
        """Of its present threads, to the nanosecond."""
        tasks = Path(f"/proc/{self.proc.pid}/task").iterdir()
        return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks) / 1e9

    def cpu_since_start_s(self):
        """Of all threads, also of those that have ended, in ticks."""
        f = Path(f"/proc/{self.proc.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / HZ

    def memory_mb(self, peak=False):
        text = Path(f"/proc/{self.proc.pid}/status").read_text()
        return int(re.search(("VmHWM" if peak else "VmRSS") + r":\s+(\d+)", text).group(1)) / 1024

    def wait_requests(self, more_than=0, seconds=30):
        if until(lambda: self.receiver.stats()["requests"] > more_than, seconds) is None:
            raise RuntimeError(f"{self.name} sends nothing; its log: {self.log}")

    def kill(self):
        self.proc.kill()
        self.proc.wait()

    def stop(self, seconds=15):
        """(seconds it took, exit status or None)"""
        start = now()
        self.proc.terminate()
        try:
            status = self.proc.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
            self.kill()
        return now() - start, status


class Floor(Subject):
    name = "floor"

    def start(self, topic, queue_kb=PREFETCH_KB, instance="", **_):
        return self.spawn([str(self.bench.build / "tests/bench/bench-floor"), self.bench.kafka.bootstrap, topic, self.group, self.receiver.url,
                           str(queue_kb)] + ([instance] if instance else []))


class Bridge(Subject):
    name = "bridge"

    def start(self, topic, queue_kb=PREFETCH_KB, instance="", dlq="bench.dlq", base_ms=50, more=None):
        self.admin = ports.reserve(ports.RECEIVER)
        conf = {
            "kafka": {"brokers": self.bench.kafka.bootstrap, "topics": [topic], "group": self.group, "instance": instance,
                      "properties": [f"queued.max.messages.kbytes={queue_kb}"]},
            "source": {"format": "string"},
            "delivery": {"url": self.receiver.url},
            "retry": {"base_ms": base_ms},
            "dlq": {"topic": dlq},
            "admin": {"listen": f"127.0.0.1:{self.admin}"},
        }
        file = self.folder / "conf"
        file.write_text(config_text(merge(conf, more or {})))
        return self.spawn([str(self.bench.build / "outbox-bridge"), "run", "-c", str(file)])

    def ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/readyz", timeout=2) as r:
                return r.status == 200
        except OSError:
            return False

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=5) as r:
            return sum(float(line.split()[-1]) for line in r.read().decode().splitlines() if re.match(rf"outbox_bridge_{name}[ {{]", line))


# ---- events

def event_head(n, keys):
    """How the body of event n begins: what the receiver wants to know."""
    return '{"id":"e-%d","k":"agg-%d","s":%d,"t":%d,' % (n, n % keys, n // keys, time.time_ns() // 1000)


def body(n, keys, size=512):
    head = event_head(n, keys) + '"p":"'
    return (head + "x" * (size - len(head) - 2) + '"}').encode()


def produce(bench, topic, count, keys=1000, first=0, rate=0, make=body):
    """Events first … first + count - 1 over so many keys in turn; evenly spread when a rate (per second) is given."""
    producer = bench.kafka.producer(**({"linger.ms": 0} if rate else {"linger.ms": 20, "enable.idempotence": True, "queue.buffering.max.messages": 500000}),
                                    partitioner="murmur2_random")
    start = time.time()
    for i in range(count):
        n = first + i
        if rate:
            while (left := start + i / rate - time.time()) > 0:
                producer.poll(0)
                time.sleep(min(left, 0.01))
        while True:
            try:
                producer.produce(topic, make(n, keys), key=f"agg-{n % keys}", headers={"id": f"e-{n}", "eventType": "OrderChanged"})
                break
            except BufferError:
                producer.poll(0.05)
        if rate or i % 1000 == 0:
            producer.poll(0)
    if producer.flush(60):
        raise RuntimeError(f"{topic} cannot be filled")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)

"""What a case sees: a Kit with topics, receivers and bridges of its own, and the invariants that are checked at its end.

I1  every offset below a committed one had a 2xx, or has a copy in the DLQ, or is a skip that the case allows
I2  ... at the moment of the commit (committed is sampled every 50 ms); a commit never goes backwards
I3  all requests of one event carry the same idempotency key and the same bytes
I4  the receivers never see more than `delivery.connections` established connections
I5  no secret of the case in logs or DLQ
I6  a DLQ copy is the original: key, value, headers, timestamp; added headers are outbox.dlq.*, the needed ones are there
P4  events of one key start in offset order, a later one after the earlier one's end
"""
import json, os, re, random, shutil, string, threading, time
from dataclasses import dataclass, field
from pathlib import Path

from . import bridge as bridge_, names, ports
from .bridge import Bridge, merge
from .broker import Cluster, Mock, Rec
from .receiver import Receiver, Reply, World, ca_file
from .registry import Registry

now = time.monotonic
UUID = "00000000-0000-4000-8000-%012d"


class Fail(Exception):
    pass


class Skip(Exception):
    pass


def check(what, text):
    if not what:
        raise Fail(text)


def until(what, seconds, text=None, every=0.03):
    """Polls until what() holds; fails with `text` when it does not in time, or returns what it returned."""
    end = now() + seconds
    while True:
        got = what()
        if got:
            return got
        if now() > end:
            if text:
                raise Fail(text() if callable(text) else text)
            return got
        time.sleep(every)


def E(k, key=None, value=None, headers=None, **more):
    """The base record: key order-k, headers id and eventType, value {"n":k}."""
    h = [("id", (UUID % k).encode()), ("eventType", b"OrderCreated")] if headers is None else headers
    return Rec(f"order-{k}".encode() if key is None else key, f'{{"n":{k}}}'.encode() if value is None else value, h, **more)


def ID(k):
    return UUID % k


@dataclass
class Event:
    rec: Rec
    key: str            # idempotency key expected on the request; None: not known, links by body
    body: bytes         # body expected on the request
    allow_skip: bool = False
    free: bool = False  # left out of the invariants

    @property
    def at(self):
        return self.rec.topic, self.rec.partition, self.rec.offset


class Kit:
    def __init__(self, name, bootstrap, folder, program):
        self.name, self.program = name, program
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.tag = f"{name}-{''.join(random.choices(string.ascii_lowercase + string.digits, k=4))}"
        self.kafka = Cluster(bootstrap) if bootstrap else None
        self.group = f"{self.tag}.g"
        self.world = World()
        self.connections = 4
        self.receivers, self.bridges, self.mocks, self.registries = [], [], [], []
        self.topics, self.dlqs, self.events = {}, {}, []
        self.secrets = []
        self.samples = []               # (time, topic, partition, committed, {dlq topic: {partition: end}})
        self.meta = {}                  # (topic, partition): newest commit metadata
        self.figure = ""
        self.i3_keys = set()            # ids that several events share on purpose
        self.backwards_ok = False
        self.order_checked = True
        self.without = set()            # names of invariants this case cannot have
        self._stop = threading.Event()
        self._sampler = None
        self._admin_port = None

    # ---- parts of a case
    def use_mock(self, topics):
        """Works on a mock cluster with these {topic: partitions} from here on."""
        m = Mock()
        self.mocks.append(m)
        self.kafka = Cluster(m.bootstrap)
        for name, n in topics.items():
            m.topic(name, n)
            self.kafka.wait_topic(name, n)
        return m

    def topic(self, name="ob", partitions=1, config=None, dlq=True, dlq_config=None):
        full = f"{self.tag}.{name}"
        self.kafka.create(full, partitions, config)
        self.topics[full] = partitions
        if dlq:
            self.dlq_topic(full + ".dlq", dlq_config)
        return full

    def dlq_topic(self, full, config=None, create=True):
        if create:
            self.kafka.create(full, 1, config)
        self.dlqs[full] = 1
        return full

    def receiver(self, **kw):
        kw.setdefault("world", self.world)
        r = Receiver(**kw)
        self.receivers.append(r)
        return r

    def registry(self, schemas):
        r = Registry(schemas)
        self.registries.append(r)
        return r

    def conf(self, topics, url, **more):
        """The configuration of a test: scaled ladder (200, 400, 800, 1600 ms), short group timeouts."""
        topics = [topics] if isinstance(topics, str) else list(topics)
        base = {
            "kafka": {"brokers": self.kafka.bootstrap, "topics": topics, "group": self.group, "start": "earliest",
                      "properties": ["session.timeout.ms=4000", "heartbeat.interval.ms=500", "topic.metadata.refresh.interval.ms=1000",
                                     "broker.address.family=v4"]},
            "source": {"format": "auto"},
            "delivery": {"url": url, "timeout_ms": 5000, "connect_timeout_ms": 2000},
            "retry": {"max_attempts": 5, "base_ms": 100, "jitter": 0.1},
            "dlq": {"topic": topics[0] + ".dlq"},
            "admin": {"listen": f"127.0.0.1:{ports.reserve(ports.RECEIVER)}"},
            "log": {"level": "info", "format": "logfmt"},
        }
        return merge(base, more)

    def bridge(self, conf, name=None, watch=True):
        b = Bridge(self.program, conf, self.folder, name or f"{self.name}-b{len(self.bridges) + 1}")
        self.bridges.append(b)
        self.connections = conf.get("delivery", {}).get("connections", 4)
        if watch and not self._sampler:
            self._sampler = threading.Thread(target=self._sample, daemon=True)
            self._sampler.start()
        return b

    def started(self, topics, url, **more):
        """A bridge that is up and ready, or the case fails."""
        b = self.bridge(self.conf(topics, url, **more))
        self.must_start(b)
        return b

    def must_start(self, b, seconds=25):
        if not b.start(ready=seconds):
            state = f"exit status {b.proc.returncode}" if not b.alive else "/readyz is not 200"
            raise Fail(f"the bridge does not get ready: {state}; last log line: {(b.log().strip().splitlines() or ['(none)'])[-1][:160]}")

    def produce(self, topic, recs, expect=None, cluster_kw=None, producer=None, skip_ok=False, free=False):
        """Produces and remembers what each record must look like at the receiver. expect: {index: (key, body)}."""
        recs = list(recs) if isinstance(recs, (list, tuple)) else [recs]
        self.kafka.produce(topic, recs, producer=producer, **(cluster_kw or {}))
        for i, r in enumerate(recs):
            key, body = (expect or {}).get(i, (r.text("id"), r.value))
            self.events.append(Event(r, key, body, skip_ok, free))
        return recs

    def warm(self, topic, n=24, partition=0):
        """Some plain events first, so that the window of the target is open; returns the offset that comes next."""
        recs = self.produce(topic, [E(900000 + i, partition=partition) for i in range(n)])
        self.wait_committed(topic, recs[-1].offset + 1, 20, partition)
        return recs[-1].offset + 1

    # ---- looking
    def committed(self, topic, partition=0):
        try:
            return self.kafka.committed(self.group, topic, partition + 1).get(partition, (None, None))[0]
        except Exception:
            return None

    def wait_committed(self, topic, offset, seconds=15, partition=0):
        got = [None]

        def there():
            got[0] = self.committed(topic, partition)
            return got[0] is not None and got[0] >= offset
        until(there, seconds, lambda: f"committed offset of partition {partition} is {got[0]} after {seconds} s, expected {offset}", every=0.1)

    def dlq(self, topic=None):
        return [r for t, n in self.dlqs.items() if topic is None or t == topic for r in self.kafka.read(t, n)]

    def wait_dlq(self, count, seconds, topic=None):
        topic = topic or next(iter(self.dlqs))
        got = [0]

        def there():
            got[0] = sum(self.kafka.ends(topic, self.dlqs[topic]).values())
            return got[0] >= count
        until(there, seconds, lambda: f"{got[0]} records in the DLQ after {seconds} s, expected {count}", every=0.1)
        return self.dlq(topic)

    def requests(self, key=None):
        return sorted((q for r in self.receivers for q in r.requests(key)), key=lambda q: q.t_head)

    # ---- sampling
    def _sample(self):
        last = {}
        reader = Cluster(self.kafka.bootstrap)
        cluster = self.kafka
        while not self._stop.wait(0.05):
            if self.kafka is not cluster:
                cluster, reader, last = self.kafka, Cluster(self.kafka.bootstrap), {}
            for topic, n in list(self.topics.items()):
                try:
                    got = reader.committed(self.group, topic, n, timeout=3)
                    t = now()
                    if all(last.get((topic, p)) == got.get(p) for p in range(n)):
                        continue
                    ends = {d: reader.ends(d, m, timeout=3) for d, m in list(self.dlqs.items())}
                except Exception:
                    continue
                for p, (off, meta) in got.items():
                    self.meta[(topic, p)] = meta
                    if last.get((topic, p), (None,))[0] != off:
                        self.samples.append((t, topic, p, off, ends))
                    last[(topic, p)] = (off, meta)

    # ---- the end
    def close(self):
        self._stop.set()
        for b in self.bridges:
            try:
                if b.alive:
                    b.signal(18)
                    b.kill()
            except OSError:
                pass
        for r in self.receivers:
            r.stop()
        for r in self.registries:
            r.stop()
        for m in self.mocks:
            m.stop()

    def finish(self):
        """The invariants."""
        self._stop.set()
        if self._sampler:
            self._sampler.join(10)
        for b in self.bridges:
            if b.proc and not b.alive and b.proc.returncode < 0 and b.proc.pid not in b.killed:
                raise Fail(f"the bridge died of signal {-b.proc.returncode}")
            m = re.search(r"ERROR: (\w+Sanitizer[^\n]*)|runtime error: [^\n]*", b.output())
            if m:
                raise Fail(m.group(0)[:200])
        reqs = self.requests()
        dead = []
        for t, n in self.dlqs.items():
            try:
                dead += self.kafka.read(t, n)
            except Exception as e:
                if "I1" not in self.without:
                    raise Fail(f"the DLQ {t} cannot be read at the end: {e}")
        self._i1_i2(reqs, dead)
        self._i3(reqs)
        self._i4()
        self._i5(dead)
        self._i6(dead)
        self._p4(reqs, dead)

    def _source(self, d):
        try:
            return d.text("outbox.dlq.topic"), int(d.text("outbox.dlq.partition")), int(d.text("outbox.dlq.offset"))
        except (TypeError, ValueError):
            return None

    def _i1_i2(self, reqs, dead):
        if "I1" in self.without:
            return
        done = {}
        for q in reqs:
            if q.status and 200 <= q.status < 300 and q.t_status:
                k = (q.key, q.raw_body)
                done[k] = min(done.get(k, q.t_status), q.t_status)
                done.setdefault(("body", q.raw_body), q.t_status)
        copies = {}
        for d in dead:
            src = self._source(d)
            if src:
                copies.setdefault(src, []).append(d)
        floor = {}
        final = {}
        for t, topic, p, off, ends in self.samples:
            if off is None:
                continue
            before = floor.get((topic, p))
            if before is not None and off < before and not self.backwards_ok:
                raise Fail(f"I2: the committed offset of partition {p} went backwards, {before} to {off}")
            floor[(topic, p)] = off
            final[(topic, p)] = off
            for e in self.events:
                if e.free or e.allow_skip or e.at[0] != topic or e.at[1] != p or e.at[2] >= off:
                    continue
                sent = done.get((e.key, e.body)) if e.key is not None else done.get(("body", e.body))
                if sent is not None and sent <= t + 0.002:
                    continue
                if any(d.offset < ends.get(d.topic, {}).get(d.partition, 0) for d in copies.get(e.at, [])):
                    continue
                late = " (it was settled only later)" if sent is not None or copies.get(e.at) else ""
                raise Fail(f"I1: offset {off} of partition {p} is committed, but event at offset {e.at[2]} was neither delivered nor in the DLQ{late}")

    def _i3(self, reqs):
        if "I3" in self.without:
            return
        by_key, by_body = {}, {}
        count = {}
        for e in self.events:
            count[e.body] = count.get(e.body, 0) + 1
        for q in reqs:
            if q.raw_body is None:
                continue
            if q.key is None:
                raise Fail(f"I3: a request without Idempotency-Key: {q.method} {q.path}")
            if len(q.all("Idempotency-Key")) != 1:
                raise Fail(f"I3: {len(q.all('Idempotency-Key'))} Idempotency-Key headers on one request")
            if q.key not in self.i3_keys and by_key.setdefault(q.key, q.raw_body) != q.raw_body:
                raise Fail(f"I3: two different bodies with the key {q.key[:60]}")
            if count.get(q.raw_body) == 1 and by_body.setdefault(q.raw_body, q.key) != q.key:
                raise Fail(f"I3: two different keys for one event: {by_body[q.raw_body][:60]} and {q.key[:60]}")
        # the body itself: what the record held
        want = {}
        for e in self.events:
            if e.key is not None and e.body is not None and not e.free:
                want.setdefault(e.key, set()).add(e.body)
        for q in reqs:
            if q.raw_body is not None and q.key in want and q.raw_body not in want[q.key]:
                w = next(iter(want[q.key]))
                raise Fail(f"the body of {q.key[:60]} is not the event's: {q.raw_body[:60]!r} ({len(q.raw_body)} bytes), expected {w[:60]!r} ({len(w)} bytes)")

    def _i4(self):
        if "I4" in self.without:
            return
        if self.world.max_open > self.connections:
            raise Fail(f"I4: {self.world.max_open} connections open at once, allowed {self.connections}")
        refused = sum(r.refused for r in self.receivers)
        if refused:
            raise Fail(f"I4: {refused} connections above the limit were refused")

    def _i5(self, dead):
        if not self.secrets:
            return
        text = "".join(b.output() for b in self.bridges)
        for s in self.secrets:
            if s in text:
                raise Fail("I5: a secret stands in the log")
            for d in dead:
                if any(s.encode() in (v or b"") for n, v in d.headers if n.startswith("outbox.dlq.")):
                    raise Fail("I5: a secret stands in a DLQ header")

    def _i6(self, dead):
        if "I6" in self.without:
            return
        at = {e.at: e for e in self.events}
        for d in dead:
            src = self._source(d)
            if src is None:
                raise Fail(f"I6: a DLQ record without outbox.dlq.topic, .partition, .offset; it has {[n for n, _ in d.headers]}")
            e = at.get(src)
            if not e or e.free:
                continue
            where = f"DLQ copy of {src[1]}:{src[2]}"
            if d.key != e.rec.key:
                raise Fail(f"I6: {where}: key {short(d.key)}, was {short(e.rec.key)}")
            if d.value != e.rec.value:
                raise Fail(f"I6: {where}: value {short(d.value)}, was {short(e.rec.value)}")
            n = len(e.rec.headers)
            if d.headers[:n] != [(a, b) for a, b in e.rec.headers]:
                raise Fail(f"I6: {where}: the original headers are changed: {short(d.headers[:n])}, were {short(e.rec.headers)}")
            if d.ts != e.rec.ts:
                raise Fail(f"I6: {where}: timestamp {d.ts}, was {e.rec.ts}")
            added = [a for a, _ in d.headers[n:]]
            strange = [a for a in added if not a.startswith("outbox.dlq.") and not a.startswith("__connect.errors.")]
            if strange:
                raise Fail(f"I6: {where}: added header {strange[0]!r}")
            for need in ("outbox.dlq.reason", "outbox.dlq.attempts"):
                if need not in added:
                    raise Fail(f"I6: {where}: header {need} is missing")
            if d.text("outbox.dlq.reason").startswith("http-") and not ({"outbox.dlq.http.status", "outbox.dlq.curl.code"} & set(added)):
                raise Fail(f"I6: {where}: neither outbox.dlq.http.status nor outbox.dlq.curl.code")

    def _p4(self, reqs, dead):
        if "P4" in self.without:
            return
        first, end = {}, {}
        sent = {}
        for q in reqs:
            k = (q.key, q.raw_body)
            if q.raw_body is None:
                continue
            first[k] = min(first.get(k, q.t_head), q.t_head)
            if q.status and 200 <= q.status < 300:
                end[k] = min(end.get(k, q.t_status), q.t_status)
            sent[k] = max(sent.get(k, 0), q.t_head)
        buried = {self._source(d) for d in dead}
        lanes = {}
        seen = {}
        for e in self.events:
            seen[(e.key, e.body)] = seen.get((e.key, e.body), 0) + 1
        for e in sorted(self.events, key=lambda e: (e.at[0], e.at[1], e.at[2])):
            if e.free or e.rec.key is None or seen[(e.key, e.body)] > 1 or e.key is None:
                continue
            lane = (e.at[0], e.at[1], e.rec.key)
            k = (e.key, e.body)
            before = lanes.get(lane)
            if before is not None and k in first:
                bk, bat, _ = before
                if bk in end:
                    if first[k] < end[bk] - 0.001:
                        raise Fail(f"P4: event at offset {e.at[2]} was sent before offset {bat[2]} of the same key was done")
                elif bat not in buried:
                    raise Fail(f"P4: event at offset {e.at[2]} was sent, but offset {bat[2]} of the same key is neither delivered nor in the DLQ")
                elif bk in first and first[k] < first[bk]:
                    raise Fail(f"P4: event at offset {e.at[2]} was sent before offset {bat[2]} of the same key")
            if k in first or e.at in buried:
                lanes[lane] = (k, e.at, e)


def short(x):
    s = repr(x)
    return s if len(s) <= 80 else s[:77] + "..."

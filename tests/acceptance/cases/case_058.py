TITLE = "timestamps that are missing, in microseconds, the largest, or the broker's: nothing is lost or overflows"
TIME = 60
import math, socket, struct
from acceptance.api import *
from acceptance.broker import exchange, pstr

MILLIS = 1556890294484                  # 2019-05-03T13:31:34Z
TIMES = (-MILLIS, -1, 0, 1, MILLIS, MILLIS * 1000, (1 << 63) - 1)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(n):
    n, out = n << 1 if n >= 0 else -2 * n - 1, b""
    while n > 0x7F:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def text(b):
    return varint(len(b)) + b


def put(k, topic, rec):
    """Produces it with its timestamp as it is, for which client libraries are too polite: a batch of one record, by hand."""
    body = b"\0" + varint(0) + varint(0) + text(rec.key) + text(rec.value) + varint(len(rec.headers))
    body += b"".join(text(n.encode()) + text(v) for n, v in rec.headers)
    body = struct.pack(">hiqqqhii", 0, 0, rec.ts, rec.ts, -1, -1, -1, 1) + text(body)
    batch = struct.pack(">ibI", -1, 2, crc32c(body)) + body
    batch = struct.pack(">qi", 0, len(batch)) + batch
    ask = struct.pack(">hhii", -1, -1, 10000, 1) + pstr(topic.encode()) + struct.pack(">iii", 1, rec.partition, len(batch)) + batch
    host, port = k.kafka.bootstrap.split(":")
    with socket.create_connection((host, int(port)), 10) as c:
        answer = exchange(c, 0, 3, ask)
    at = 4 + 2 + len(topic) + 4
    _, error, rec.offset = struct.unpack_from(">ihq", answer, at)
    if error:
        raise RuntimeError(f"the broker refuses a record of the time {rec.ts}: error {error}")
    rec.topic = topic
    k.events.append(Event(rec, rec.text("id"), rec.value))


def all_times(k, t, spread):
    """An event of each time, each in a partition of its own or all in one."""
    for n, ts in enumerate(TIMES):
        put(k, t, E(n + 1, ts=ts, partition=n if spread else 0))


def sound(b, while_):
    wrong = {name: v for name, v in b.metrics().items() if not math.isfinite(v) or v < 0}
    check(not wrong, f"metrics {while_}: {short(wrong)}")


def run_delivered(k):
    """What is known to be old is old, what is not known has no age; every event is delivered."""
    t = k.topic(partitions=len(TIMES))
    r = k.receiver()
    r.default = Reply(hang=True)
    all_times(k, t, True)
    b = k.started(t, r.url, delivery={"timeout_ms": 2000}, retry={"max_attempts": 50, "base_ms": 100, "jitter": 0.1})
    age = lambda p: b.metrics().get(f'outbox_bridge_watermark_age_seconds{{topic="{t}",partition="{p}"}}')
    old = {p: time.time() - ts / 1000 if 0 < ts <= MILLIS else 0 for p, ts in enumerate(TIMES)}
    near = lambda p: age(p) is not None and abs(age(p) - old[p]) < 120
    until(lambda: all(map(near, old)), 10, lambda: f"ages {[age(p) for p in old]} of the times {TIMES}, expected {[round(v) for v in old.values()]}")
    sound(b, "while they wait")
    r.default = Reply()
    for p in range(len(TIMES)):
        k.wait_committed(t, 1, 20, p)
        check(len(r.ok(ID(p + 1))) == 1, f"the event of the time {TIMES[p]} was delivered {len(r.ok(ID(p + 1)))} times")
    until(lambda: not any(map(age, old)), 10, "an age stays although nothing waits")
    sound(b, "at the end")
    since = {int(m.group(1)): m.group(2) for m in re.finditer(r'msg="first record" topic=\S+ partition=(\d+) offset=0 since=(\S+)', b.log())}
    check(since.get(0) == since.get(1) == since.get(2) == '""', f"the log knows since when those without a time wait: {since}")
    got = since.get(3), since.get(4)
    check(got == ("1970-01-01T00:00:00Z", "2019-05-03T13:31:34Z"), f"the log says that they wait since {got}")
    check(not k.dlq(), f"in the DLQ: {[d.text('outbox.dlq.reason') for d in k.dlq()]}")


def run_dead(k):
    """A copy keeps the time where Kafka can store it, and says so where not."""
    k.without.add("I6")                 # the time of a copy is judged here
    t = k.topic()
    r = k.receiver()
    r.default = Reply(400)
    b = k.started(t, r.url)
    all_times(k, t, False)
    k.wait_committed(t, len(TIMES), 20)
    copies = {d.text("id"): d for d in k.dlq()}
    check(len(copies) == len(TIMES), f"{len(copies)} in the DLQ, expected {len(TIMES)}")
    for n, ts in enumerate(TIMES):
        d = copies[ID(n + 1)]
        got = d.text("outbox.dlq.timestamp.ms"), d.text("outbox.dlq.timestamp.type"), d.text("outbox.dlq.timestamp.replaced")
        want = str(ts), "create", None if ts > 0 else "true"
        check(got == want, f"time, type, replaced of the copy of {ts}: {got}, expected {want}")
        right = d.ts == ts if ts > 0 else abs(d.ts / 1000 - time.time()) < 120
        check(right, f"the copy of {ts} has the time {d.ts}")
    check(b.get("/readyz")[0] == 200, "an alarm at the end")


def run_append(k):
    """The broker's time, and that it is the broker's."""
    t = k.topic(config={"message.timestamp.type": "LogAppendTime"})
    r = k.receiver()
    r.on(ID(2), Reply(400))
    k.started(t, r.url)
    recs = k.produce(t, [E(1, ts=MILLIS), E(2, ts=MILLIS)])
    for rec, stored in zip(recs, k.kafka.read(t)):
        rec.ts = stored.ts
    k.wait_committed(t, 2, 20)
    check(len(r.ok(ID(1))) == 1, "the event was not delivered once")
    copies = k.dlq()
    got = [(d.text("outbox.dlq.timestamp.ms"), d.text("outbox.dlq.timestamp.type")) for d in copies]
    check(got == [(str(recs[1].ts), "append")], f"time and type in the DLQ: {got}, expected {recs[1].ts} and append")


def run_since(k):
    """A group that begins at a time, in a log with such times before and behind it."""
    t = k.topic()
    r = k.receiver()
    all_times(k, t, False)
    for e in k.events:
        e.free = e.rec.ts < MILLIS
    b = k.started(t, r.url, kafka={"start": "2019-05-03T00:00:00Z"})
    k.wait_committed(t, len(TIMES), 20)
    got = sorted(int(q.key[-12:]) for q in r.requests())
    want = [n + 1 for n, ts in enumerate(TIMES) if ts >= MILLIS]
    check(got == want, f"sent were the events {got}, expected {want}; the log: {[l for l in b.log().splitlines() if 'first start' in l]}")
    for n, ts in enumerate(TIMES):
        rc, out = b.once(["explain", "-c", str(b.file), "--json", f"{t}:0:{n}"])
        told = f'"timestamp": {ts if ts >= 0 else "null"},'
        check(rc == 0 and told in out, f"explain of the time {ts}: exit status {rc}, no {told} in {short(out)}")
    rc, out = b.once(["explain", "-c", str(b.file), f"{t}:0:{len(TIMES) - 1}"])
    check(rc == 0 and "292278994-08-17T07:12:55.807Z" in out, f"explain of the largest time: exit status {rc}, {short(out)}")

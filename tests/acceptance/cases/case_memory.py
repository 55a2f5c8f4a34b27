TITLE = "large records under a hard limit of memory, as bridge/README.md computes it"
TIME = 120
import os
from acceptance.api import *

MB = 1 << 20
PARTITIONS, RECORDS, SIZE = 24, 20, 175000
BUFFER, QUEUE, FETCH, MESSAGES = 8 * MB, 4 * MB, 1 * MB, 25000
STACK = 512 << 10                           # of a thread: RLIMIT_DATA counts it whole


def formula(connections=4):
    """Section "Memory" of bridge/README.md, uncompressed records."""
    return 16 * MB + QUEUE + FETCH + 450 * MESSAGES + BUFFER * 85 // 100 + connections * 256 * 1024 + 4 * SIZE


def limited(k, t, r, **more):
    conf = k.conf(t, r.url, limits={"buffer_bytes": BUFFER}, **more)
    conf["kafka"]["properties"].append(f"queued.max.messages.kbytes={QUEUE >> 10}")
    b = k.bridge(conf)
    k.must_start(b)
    threads = len(os.listdir(f"/proc/{b.proc.pid}/task"))
    b.stop()
    # who asks for more gets nothing, and the program ends
    b.program = ["prlimit", f"--stack={STACK}", f"--data={formula() + threads * STACK}", "--core=0"] + b.program
    return b


def fill(k, t):
    body = b"x" * SIZE
    for p in range(PARTITIONS):
        k.produce(t, [E(1000 * p + n, value=body, partition=p) for n in range(RECORDS)])


def run_slow_receiver(k):
    t = k.topic(partitions=PARTITIONS)
    r = k.receiver()
    r.default = Reply(delay=0.05)
    b = limited(k, t, r)
    fill(k, t)
    k.must_start(b)
    until(lambda: not b.alive or len(r.ok()) >= PARTITIONS * RECORDS, 60, lambda: f"{len(r.ok())} deliveries in 60 s")
    check(b.alive, f"it ended under a limit of {formula() >> 20} MB: {b.log()[-200:]}")
    peak = b.rss(peak=True)
    check(peak <= formula(), f"peak {peak >> 20} MB, expected at most {formula() >> 20} MB")
    for p in range(PARTITIONS):
        k.wait_committed(t, RECORDS, partition=p)
    check(b.stop(20) == 0, "exit status at SIGTERM is not 0")
    check(not k.dlq(), "a record in the DLQ")
    k.kafka.delete(t)
    k.figure = f"peak {peak >> 20} MB of {formula() >> 20} MB, {PARTITIONS * RECORDS * SIZE >> 20} MB delivered"


def run_closed_target(k):
    """Nothing is taken for a while: what can be read is parked, the rest stays with the broker."""
    t = k.topic(partitions=PARTITIONS)
    r = k.receiver()
    r.default = Reply(503)
    b = limited(k, t, r, breaker={"failures": 3, "probe_ms": 200, "probe_max_ms": 1000})
    fill(k, t)
    k.must_start(b)
    until(lambda: not b.alive or b.metrics().get('outbox_bridge_alarm{name="buffer_parked"}') == 1, 30, "no alarm buffer_parked")
    check(b.alive, f"it ended under a limit of {formula() >> 20} MB: {b.log()[-200:]}")
    open_ = b.metric("outbox_bridge_buffer_bytes")
    check(open_ <= BUFFER * 3 // 4 + 2 * SIZE, f"{open_:.0f} bytes of open events with a buffer of {BUFFER}")
    check(b.metrics().get('outbox_bridge_alarm{name="target_closed"}') == 1, "no alarm target_closed")
    check(b.get("/readyz")[0] == 200, "not ready because of a receiver")
    r.default = Reply()
    until(lambda: not b.alive or len(r.ok()) >= PARTITIONS * RECORDS, 60, lambda: f"{len(r.ok())} deliveries in 60 s")
    check(b.alive, f"it ended under a limit of {formula() >> 20} MB: {b.log()[-200:]}")
    until(lambda: b.metrics().get('outbox_bridge_alarm{name="buffer_parked"}') == 0, 15, "the alarm buffer_parked stays")
    peak = b.rss(peak=True)
    check(peak <= formula(), f"peak {peak >> 20} MB, expected at most {formula() >> 20} MB")
    check(b.stop(20) == 0, "exit status at SIGTERM is not 0")
    check(not k.dlq(), "a record in the DLQ")
    k.kafka.delete(t)
    k.figure = f"peak {peak >> 20} MB of {formula() >> 20} MB, {open_ / MB:.1f} MB parked"

TITLE = "events that wait hold no worker: the others go on at once"
TIME = 45
from acceptance.api import *


def healthy(p):
    return [E(1000 * p + i, partition=p) for i in range(100)]


def run(k):
    t = k.topic(partitions=8)
    r = k.receiver()
    for n in range(1, 5):
        r.on(ID(n), Reply(503))
    b = k.started(t, r.url, retry={"base_ms": 10000})
    k.produce(t, [E(n, partition=n - 1) for n in range(1, 5)])
    until(lambda: all(r.requests(ID(n)) for n in range(1, 5)), 10, "the four failing events are not sent within 10 s")
    begin = now()
    for p in range(4, 8):
        k.produce(t, healthy(p))
    until(lambda: len(r.ok()) >= 400, 5, lambda: f"{len(r.ok())} of 400 healthy events after 5 s while four events wait 20 s")
    took = now() - begin
    for p in range(4, 8):
        k.wait_committed(t, 100, 5, p)
    for p in range(4):
        check(k.committed(t, p) in (None, 0), f"offset {k.committed(t, p)} of partition {p} is committed while its event waits")
    got = [len(r.requests(ID(n))) for n in range(1, 5)]
    check(got == [1, 1, 1, 1], f"{got} requests of the failing events within the first wait, expected one each")
    m = b.metrics()
    check(m.get("outbox_bridge_waiting") == 4, f"outbox_bridge_waiting is {m.get('outbox_bridge_waiting')}, expected 4")
    check(m.get("outbox_bridge_in_flight") == 0, f"outbox_bridge_in_flight is {m.get('outbox_bridge_in_flight')}, expected 0")
    rc = b.stop(10)
    check(rc == 0, f"exit status {rc} at SIGTERM while events wait")
    check(not k.dlq(), "the stop put waiting events into the DLQ")
    k.figure = f"400 healthy events in {took:.1f} s"

TITLE = "a DLQ topic that is missing, deleted or compacted never costs an event"
TIME = 150
from acceptance.api import *


def refused(k, t, dlq, *words):
    """`run` ends with 69 within 30 s and says why; nothing was sent."""
    r = k.receiver()
    k.produce(t, E(1), free=True)
    b = k.bridge(k.conf(t, r.url, kafka={"start_timeout_ms": 5000}))
    b.start(ready=0)
    rc = b.wait(30)
    check(rc == names.UNAVAILABLE, f"exit status {rc} within 30 s, expected {names.UNAVAILABLE}")
    lines = [l for l in b.log().splitlines() if dlq in l and all(w in l for w in words)]
    check(lines, f"no line says {dlq} {' '.join(words)}; last: {(b.log().strip().splitlines() or ['(none)'])[-1][:160]}")
    check(not r.requests(), "an event was sent although there is no DLQ")
    check(k.committed(t) in (None, 0), f"offset {k.committed(t)} is committed")


def run_missing(k):
    t = k.topic(dlq=False)
    refused(k, t, t + ".dlq")


def run_compacted(k):
    t = k.topic(dlq_config={"cleanup.policy": "compact"})
    refused(k, t, t + ".dlq", "compact")


def run_deleted(k):
    t = k.topic()
    dlq = t + ".dlq"
    r = k.receiver()
    r.default = Reply(400)
    b = k.started(t, r.url)
    k.produce(t, E(1), free=True)       # its copy goes with the topic
    k.wait_dlq(1, 15)
    k.wait_committed(t, 1)
    k.kafka.delete(dlq)
    k.produce(t, [E(n) for n in range(2, 6)])
    until(lambda: r.requests(ID(2)), 10, "event 2 is not sent while the DLQ topic is away")
    end, ready = now() + 6, True
    while now() < end:
        got = k.committed(t)
        check(got == 1, f"offset {got} is committed while the DLQ topic is away, expected 1")
        check(b.alive, f"the bridge ended with {b.proc.returncode}; it must hold the event and go on later")
        ready = ready and b.get("/readyz")[0] == 200
        time.sleep(0.2)
    until(lambda: not ready or b.get("/readyz")[0] == 503, 30, "/readyz is still 200 although the DLQ topic is away")
    k.dlq_topic(dlq)
    k.wait_dlq(4, 45)
    k.wait_committed(t, 5, 20)
    until(lambda: b.get("/readyz")[0] == 200, 15, "/readyz stays red after the DLQ topic is back")
    for n in range(2, 6):
        got = len(r.requests(ID(n)))
        check(got == 1, f"event {n} was sent {got} times while its dead letter waited, expected 1")
    check(len(k.dlq()) == 4, f"{len(k.dlq())} records in the new DLQ topic for 4 events")

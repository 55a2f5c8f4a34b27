TITLE = "a topic that is deleted and made again while the bridge runs"
TIME = 90
from acceptance.api import *


def run(k, properties=()):
    t = k.topic(partitions=2)
    keep = k.topic("keep", dlq=False)
    r = k.receiver()
    r.on(ID(0), Reply(503))
    b = k.bridge(k.conf([t, keep], r.url, kafka={"start": "latest", "properties": list(properties)}, retry={"base_ms": 60000}))
    k.must_start(b)
    k.backwards_ok = True               # the new topic begins at 0
    k.produce(t, [E(n, partition=n % 2) for n in range(10)], free=True)
    until(lambda: len(r.ok()) == 9 and r.requests(ID(0)), 15, "the events before are not delivered")
    k.wait_committed(t, 5, 10, 1)
    k.kafka.delete(t)
    begin = now()
    until(lambda: b.metrics().get('outbox_bridge_alarm{name="topic_missing"}') == 1, 40, "no alarm topic_missing 40 s after the topic was deleted")
    took = now() - begin
    check(b.get("/readyz")[0] == 503, "/readyz is 200 while the topic is missing")
    check(t in b.get("/readyz")[1], "/readyz does not name the topic")
    check([l for l in b.log().splitlines() if "topic_missing" in l and t in l], "the alarm does not name the topic")
    k.produce(keep, [E(n) for n in range(50, 60)])
    k.wait_committed(keep, 10, 10)
    check(b.alive, "the bridge ended")
    check(k.committed(t, 1) in (None, 5), f"offset {k.committed(t, 1)} is committed for a topic that is gone")
    k.samples.clear()                   # of the old topic
    k.kafka.create(t, 2)
    k.produce(t, [E(n, partition=n % 2) for n in range(100, 104)])
    until(lambda: {q.key for q in r.ok()} >= {ID(n) for n in range(100, 104)}, 30,
          lambda: f"{len({q.key for q in r.ok()} & {ID(n) for n in range(100, 104)})} of 4 events of the new topic after 30 s")
    until(lambda: b.get("/readyz")[0] == 200, 15, lambda: f"not ready 15 s after the topic is back: {b.get('/readyz')[1][:200]}")
    for p in (0, 1):
        k.wait_committed(t, 2, 10, p)
    check(b.metrics().get('outbox_bridge_alarm{name="topic_missing"}') == 0, "the alarm topic_missing stays")
    got = len(r.requests(ID(0)))
    check(got == 1, f"the event that waited when its topic was deleted was sent {got} times")
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"alarm after {took:.1f} s"


def run_by_metadata(k):
    """The group takes the topic away before a fetch is refused."""
    run(k, ["topic.metadata.refresh.interval.ms=20"])


def run_at_start(k):
    """A plain name that is missing at start: 69."""
    t = k.topic()
    b = k.bridge(k.conf([t, t + ".nowhere"], k.receiver().url, kafka={"start_timeout_ms": 3000}))
    b.start(ready=0)
    rc = b.wait(30)
    check(rc == names.UNAVAILABLE, f"exit status {rc}, expected {names.UNAVAILABLE}")
    check(t + ".nowhere" in b.log(), "the log does not name the topic")


def run_two(k):
    """Two members: the alarm stands while the topic is gone, and goes when either has it again."""
    t = k.topic()
    keep = k.topic("keep", partitions=2, dlq=False)
    r = k.receiver()
    both = [k.bridge(k.conf([t, keep], r.url)) for _ in range(2)]
    k.connections = 8
    k.backwards_ok = True
    for b in both:
        k.must_start(b)
    until(lambda: all(b.metric("outbox_bridge_group_members") == 2 for b in both), 20, "not both are in the group")
    k.produce(t, [E(n) for n in range(3)], free=True)
    k.wait_committed(t, 3)
    k.kafka.delete(t)
    missing = lambda b: b.metrics().get('outbox_bridge_alarm{name="topic_missing"}')
    until(lambda: any(missing(b) for b in both), 20, "no member raises topic_missing")
    told = [b for b in both if missing(b)]
    end = now() + 6                     # the rebalance that the deletion causes, and what it asks
    until(lambda: now() > end or not all(missing(b) for b in told), 8)
    check(all(missing(b) for b in told), "the alarm was cleared while the topic is gone")
    k.samples.clear()                   # of the old topic
    k.kafka.create(t, 1)
    k.produce(t, [E(n) for n in range(10, 13)])
    until(lambda: {q.key for q in r.ok()} >= {ID(n) for n in range(10, 13)}, 30, "the events of the new topic are not delivered")
    until(lambda: not any(missing(b) for b in both), 20, "the alarm topic_missing stays although the topic is back")
    for b in both:
        check(b.get("/readyz")[0] == 200, f"not ready: {b.get('/readyz')[1][:200]}")

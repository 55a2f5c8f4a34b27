TITLE = "a partition that waits for its schema: TERM, another member takes it, its topic is deleted and made again"
TIME = 120
import threading

from acceptance.api import *
from acceptance.cases.case_014 import TEXT, body, delivered, event, send

WAITS = 'msg="partition waits for a schema"'


def held(b, t, partition, offset):
    """The bridge has this partition, and it waits there for the schema of this offset."""
    return any(WAITS in l and f"topic={t} " in l and f"partition={partition} " in l and f"offset={offset} " in l for l in b.log().splitlines())


def alarm(b, name):
    return b.metrics().get(f'outbox_bridge_alarm{{name="{name}"}}')


def outage(k, t, g, b, partition=0):
    """One event is delivered, the next one waits for a schema that cannot be had, and one more stands behind it."""
    r = k.receivers[0]
    send(k, t, 7, 1, partition)
    delivered(r, 1, 10, "its schema was there")
    k.wait_committed(t, 1, 10, partition)
    g.schemas[8] = TEXT
    g.status = 503
    first = send(k, t, 8, 2, partition)
    send(k, t, 7, 3, partition)
    until(lambda: held(b, t, partition, first.offset), 10, "the partition does not wait for its schema")
    until(lambda: alarm(b, "registry_down") == 1, 10, "no alarm registry_down")
    return first


def once(r, *events):
    for n in events:
        got = len(r.requests(ID(n)))
        check(got == 1, f"event {n} was sent {got} times")


def run_term(k):
    """With an attempt of another partition in flight."""
    limit = 4000
    t = k.topic(partitions=2)
    r = k.receiver()
    g = k.registry({7: TEXT})
    b = k.started(t, r.url, registry={"url": [g.url]}, limits={"shutdown_ms": limit})
    first = outage(k, t, g, b)
    r.on(ID(10), Reply(delay=1))
    send(k, t, 7, 10, 1)
    until(lambda: r.requests(ID(10)), 10, "the other partition stands still, too")
    at = now()
    rc = b.stop()
    took = now() - at
    check(rc == 0, f"the bridge stops with {rc}")
    check(took < limit / 1000, f"stopping took {took:.1f} s, shutdown_ms is {limit}")
    check(k.committed(t, 0) == first.offset, f"offset {k.committed(t, 0)} is committed, the event that waits has {first.offset}")
    check(k.committed(t, 1) == 1, f"what was in flight is not committed: {k.committed(t, 1)}")
    check(not r.requests(ID(2)) and not r.requests(ID(3)), "an event was sent without its schema, or before its turn")
    g.status = None
    k.must_start(b)
    delivered(r, 2, 15, "the restart")
    delivered(r, 3, 5, "the one before it was delivered")
    k.wait_committed(t, first.offset + 2, 10)
    once(r, 1, 2, 3, 10)
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"ended after {took:.1f} s"


def run_term_mute(k):
    """The registry took the question and does not answer."""
    class Mute(dict):
        asked, go = threading.Event(), threading.Event()

        def get(self, ident, *more):
            if ident == 8:
                self.asked.set()
                self.go.wait(60)
            return super().get(ident, *more)

    limit = 4000
    t = k.topic()
    r = k.receiver()
    g = k.registry(Mute({7: TEXT, 8: TEXT}))
    b = k.started(t, r.url, registry={"url": [g.url], "timeout_ms": 30000}, limits={"shutdown_ms": limit})
    send(k, t, 7, 1, 0)
    first = send(k, t, 8, 2, 0)
    delivered(r, 1, 10, "its schema was there")
    check(g.schemas.asked.wait(10), "the registry is not asked for the schema")
    until(lambda: held(b, t, 0, first.offset), 10, "the partition does not wait for its schema")
    at = now()
    rc = b.stop()
    took = now() - at
    check(rc == 0, f"the bridge stops with {rc}")
    check(took < limit / 1000, f"stopping took {took:.1f} s, shutdown_ms is {limit}")
    check(k.committed(t) == first.offset, f"offset {k.committed(t)} is committed, the event that waits has {first.offset}")
    g.schemas.go.set()
    k.must_start(b)
    delivered(r, 2, 15, "the restart")
    k.wait_committed(t, first.offset + 1, 10)
    once(r, 1, 2)
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"ended after {took:.1f} s"


def run_rebalance(k):
    """The one that joins subscribes to nothing but the topic that waits, so that it must take just that one."""
    t = k.topic()
    keep = k.topic("keep", partitions=3, dlq=False)
    r = k.receiver()
    g = k.registry({7: TEXT})
    a = k.bridge(k.conf([t, keep], r.url, registry={"url": [g.url]}))
    b = k.bridge(k.conf(t, r.url, registry={"url": [g.url]}))
    k.connections = 8
    k.must_start(a)
    first = outage(k, t, g, a)
    b.start(ready=0)
    until(lambda: held(b, t, 0, first.offset), 25, "the second member does not take the partition that waits")
    took = now()
    until(lambda: alarm(b, "registry_down") == 1, 10, "the member that has it now raises no alarm")
    until(lambda: a.get("/readyz")[0] == 200, took + 25 - now(), lambda: f"not ready 25 s after the partition was given away: {a.get('/readyz')[1][:200]}")
    took = now() - took
    check(alarm(a, "registry_down") == 0, "the alarm registry_down stays where nothing waits any more")
    check(alarm(b, "registry_down") == 1 and b.get("/readyz")[0] == 503, "the alarm went where the partition waits still")
    send(k, keep, 7, 10, 0)
    delivered(r, 10, 10, "its schema was known, at a member that waits for none")
    check(not r.requests(ID(2)) and not r.requests(ID(3)), "an event was sent without its schema, or before its turn")
    check(k.committed(t) == first.offset, f"offset {k.committed(t)} is committed, the event that waits has {first.offset}")
    g.status = None
    delivered(r, 2, 25, "the registry was back")
    delivered(r, 3, 5, "the one before it was delivered")
    k.wait_committed(t, first.offset + 2, 10)
    for m in (a, b):
        until(lambda: m.get("/readyz")[0] == 200, 10, lambda: f"not ready at the end: {m.get('/readyz')[1][:200]}")
    once(r, 1, 2, 3, 10)
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"the alarm went after {took:.1f} s"


def gone(k, properties=()):
    t = k.topic(partitions=2)
    r = k.receiver()
    g = k.registry({7: TEXT})
    # latest: what the new topic holds before the bridge sees it is read nevertheless
    b = k.bridge(k.conf(t, r.url, registry={"url": [g.url]}, kafka={"start": "latest", "properties": list(properties)}))
    k.must_start(b)
    outage(k, t, g, b)
    k.kafka.delete(t)
    begin = now()
    until(lambda: alarm(b, "topic_missing") == 1, 20, "no alarm topic_missing 20 s after the topic was deleted")
    took = now() - begin
    check(t in b.get("/readyz")[1], "/readyz does not name the topic")
    k.backwards_ok = True               # the new topic begins at 0
    k.samples.clear()                   # of the old topic
    k.events.clear()
    k.kafka.create(t, 2)
    for n in range(20, 24):
        send(k, t, 7, n, n % 2)
    waits = send(k, t, 8, 24, 0)        # at an offset that the old one never had
    for n in range(20, 24):
        delivered(r, n, 20, "the topic was made again")
    until(lambda: alarm(b, "topic_missing") == 0, 10, "the alarm topic_missing stays")
    check(not r.requests(ID(24)), "an event was sent without its schema")
    g.status = None
    delivered(r, 24, 25, "the registry was back")
    k.wait_committed(t, waits.offset + 1, 10, 0)
    k.wait_committed(t, 2, 10, 1)
    until(lambda: b.get("/readyz")[0] == 200, 10, lambda: f"not ready at the end: {b.get('/readyz')[1][:200]}")
    once(r, 1, *range(20, 25))
    check(not r.requests(ID(2)) and not r.requests(ID(3)), "an event of the old topic was sent")
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"topic_missing after {took:.1f} s"


def run_topic_gone(k):
    """Its partition is paused: no fetch tells that the topic is gone."""
    gone(k)


def run_topic_gone_by_metadata(k):
    """The group takes the topic away first."""
    gone(k, ["topic.metadata.refresh.interval.ms=20"])

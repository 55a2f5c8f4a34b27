TITLE = "each class of refusal of the DLQ is cured by its own means: one copy of each event"
TIME = 75
from acceptance.api import *
from acceptance.cases.case_dlq_errors import OPEN, once_each

PRODUCE = 0


def refused(k, pushes, count=60, seconds=30):
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    r.default = Reply(400)
    k.produce(t, [E(n) for n in range(count)])
    for error, times in pushes:
        m.push(PRODUCE, error, times)
    b = k.bridge(k.conf(t, r.url, **OPEN))
    k.must_start(b)
    k.wait_committed(t, count, seconds)
    check(len(r.requests()) == count, f"{len(r.requests())} requests for {count} events")
    until(lambda: b.get("/readyz")[0] == 200, 15, lambda: f"/readyz stays red: {b.get('/readyz')}")
    return t, b


def run_denied(k):
    """Topic authorization and unknown topic: again after a while, one copy each."""
    t, b = refused(k, [(29, 2), (3, 1), (29, 1)])
    once_each(k, t, 60)
    check("dlq_unavailable" in b.log(), "no alarm dlq_unavailable")


def run_replicas(k):
    """Too few replicas: librdkafka or we try again, one copy each, but for what was stored and refused."""
    t, b = refused(k, [(19, 3), (20, 1), (6, 1)])
    once_each(k, t, 60, 5)


def run_timestamps(k):
    """Only the one whose time was refused gets another; the rest keep theirs."""
    t, b = refused(k, [(32, 1)])
    once_each(k, t, 60)
    changed = [d for d in k.dlq() if d.text("outbox.dlq.timestamp.replaced")]
    check(len(changed) == 1, f"{len(changed)} timestamps were replaced although one was refused")
    k.without.add("I6")


def run_slow(k):
    """A broker that takes 0.3 s for each answer: dead letters are stored, and the others are not held up by them."""
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    for n in range(0, 60, 2):
        r.on(ID(n), Reply(400))
    k.produce(t, [E(n) for n in range(60)])
    b = k.bridge(k.conf(t, r.url, **OPEN))
    k.must_start(b)
    until(lambda: len(r.requests()) >= 1, 10, "nothing is sent")
    m.do("rtt 1 300")
    k.wait_committed(t, 60, 30)
    m.do("rtt 1 0")
    check(len(r.requests()) == 60, f"{len(r.requests())} requests for 60 events")
    got = {int(d.text("outbox.dlq.offset")) for d in k.dlq()}
    check(got == set(range(0, 60, 2)), f"{len(got)} events in the DLQ, expected 30")
    check("dlq_unavailable" not in b.log(), "slow is called unavailable")

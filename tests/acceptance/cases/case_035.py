TITLE = "the same event twice in the log: both are sent, with the same key"
TIME = 45
from acceptance.api import *


def run(k):
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url)
    k.produce(t, [E(1), E(1)])
    k.wait_committed(t, 2)
    got = r.requests(ID(1))
    check(len(got) == 2, f"{len(got)} requests, expected 2")
    check(got[1].t_head > got[0].t_status, "the second copy was sent before the first was answered")


def run_dead(k):
    """The first copy ends in the DLQ: that says nothing about the second."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(400), Reply(200))
    k.started(t, r.url)
    k.produce(t, [E(1), E(1)])
    k.wait_committed(t, 2)
    check([q.status for q in r.requests(ID(1))] == [400, 200], f"answers {[q.status for q in r.requests(ID(1))]}")
    dead = [d.text("outbox.dlq.offset") for d in k.dlq()]
    check(dead == ["0"], f"in the DLQ: offsets {dead}, expected the first copy only")

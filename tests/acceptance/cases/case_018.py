TITLE = "order per key while an event is retried and after its end; other keys go on"
TIME = 45
from acceptance.api import *


def triple():
    """Key A: events 1 and 3; key B: event 2; one partition."""
    return [E(1, key=b"A"), E(2, key=b"B"), E(3, key=b"A")]


def run_retried(k):
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(503), Reply(503), Reply(200))
    k.started(t, r.url)
    k.produce(t, triple())
    k.wait_committed(t, 3)
    one, two, three = (r.requests(ID(n)) for n in (1, 2, 3))
    check([q.status for q in one] == [503, 503, 200], f"event 1 was answered {[q.status for q in one]}")
    check(len(two) == 1 and len(three) == 1, f"{len(two)} and {len(three)} requests for events 2 and 3, expected one each")
    check(three[0].t_head > one[2].t_status, "event 3 was sent before event 1 of the same key was delivered")
    check(two[0].t_head < one[2].t_head, "event 2 of another key waited for event 1")
    check(not k.dlq(), "a record in the DLQ")


def run_buried(k):
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(503))
    buried = []

    def third(q):
        buried.append(sum(k.kafka.ends(t + ".dlq").values()))
        return Reply(200)
    r.on(ID(3), third)
    k.started(t, r.url)
    k.produce(t, triple())
    until(lambda: r.ok(ID(2)), 10, "event 2 of another key is not delivered while event 1 is retried")
    check(len(r.requests(ID(1))) < 5, "event 2 of another key waited for the end of event 1")
    k.wait_committed(t, 3, 20)
    check(len(r.requests(ID(1))) == 5, f"{len(r.requests(ID(1)))} requests for event 1, expected 5")
    check(buried == [1], f"when event 3 was sent the DLQ held {buried} records, expected [1]: event 1 must be there first")


def run_relaxed(k):
    """order = "none": a later event of the key need not wait."""
    t = k.topic()
    r = k.receiver()
    k.without.add("P4")
    r.on(ID(1), Reply(503), Reply(503), Reply(200))
    k.started(t, r.url, delivery={"order": "none"})
    k.produce(t, triple())
    k.wait_committed(t, 3)
    one, three = r.requests(ID(1)), r.requests(ID(3))
    check(three[0].t_head < one[2].t_head, 'order = "none", but event 3 waited for event 1 of its key')


def run_partition(k):
    """order = "partition": all later events wait."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(503), Reply(503), Reply(200))
    k.started(t, r.url, delivery={"order": "partition"})
    k.produce(t, triple())
    k.wait_committed(t, 3)
    one, two = r.requests(ID(1)), r.requests(ID(2))
    check(two[0].t_head > one[2].t_status, 'order = "partition", but event 2 was sent before event 1 was delivered')

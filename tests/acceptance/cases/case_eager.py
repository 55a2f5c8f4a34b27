TITLE = "the eager protocol: at each join and leave all partitions are given up and taken again, and nothing is lost"
TIME = 90
from acceptance.api import *

EAGER = ["session.timeout.ms=4000", "heartbeat.interval.ms=500", "topic.metadata.refresh.interval.ms=1000", "broker.address.family=v4",
         "partition.assignment.strategy=range,roundrobin"]


def pair(k, t, r, **more):
    conf = lambda: k.conf(t, r.url, **merge({"kafka": {"properties": EAGER}}, more))
    first = k.bridge(conf())
    k.must_start(first)
    second = k.bridge(conf())
    k.connections = 8                   # two instances, four each
    return first, second


def lost(k):
    return sum(b.log().count('msg="partitions lost"') for b in k.bridges)


def run_orderly(k):
    """What is in flight at a revoke ends first, and is committed before the partitions go."""
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = Reply(delay=0.3)
    first, second = pair(k, t, r)
    k.produce(t, [E(n, partition=n % 4) for n in range(160)])
    until(lambda: len(r.requests()) >= 8, 15, "nothing is sent")
    k.must_start(second)
    until(lambda: second.metric("outbox_bridge_delivered_total") >= 8, 20, "the second instance delivers nothing")
    check(second.stop() == 0, "exit status of the second instance at SIGTERM is not 0")
    for p in range(4):
        k.wait_committed(t, 40, 40, p)
    extra = len(r.requests()) - 160
    check(lost(k) <= 1, f"partitions were lost {lost(k)} times in one join and one leave")
    check(extra <= 12 * lost(k), f"{extra} events were sent twice in an orderly join and leave")
    revokes = first.log().count('msg="partitions revoked"') + lost(k)
    check(revokes >= 2, f"{revokes} revokes of the first instance: the protocol is not the eager one, nothing is tested")
    k.figure = f"{extra} sent twice"


def run_waiting(k):
    """An event in its back-off moves with its attempts, and its key's order."""
    t = k.topic(partitions=2)
    r = k.receiver()
    for n in (0, 1):
        r.on(ID(n), Reply(500), Reply(500), Reply(200))
    first, second = pair(k, t, r, retry={"base_ms": 1000})
    k.produce(t, [E(n, key=f"order-{n % 4}".encode(), partition=n % 2) for n in range(20)])
    until(lambda: r.requests(ID(0)) and r.requests(ID(1)), 15, "the failing events are not sent")
    until(lambda: len(r.ok()) == 10, 15, lambda: f"{len(r.ok())} of the 10 events of healthy keys are delivered")
    k.must_start(second)
    for p in (0, 1):
        k.wait_committed(t, 10, 40, p)
    for n in (0, 1):
        got = len(r.requests(ID(n)))
        check(3 <= got <= 3 + lost(k), f"event {n} was sent {got} times, expected 3: its attempts move with it")
    check(not k.dlq(), "a record in the DLQ")


def run_kill(k):
    """Killed, not stopped: the other one takes over after the session."""
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = Reply(delay=0.05)
    first, second = pair(k, t, r)
    k.must_start(second)
    until(lambda: first.get("/readyz")[0] == 200 and second.get("/readyz")[0] == 200, 20, "not both instances are ready")
    k.produce(t, [E(n, key=f"order-{n % 50}".encode(), partition=n % 4) for n in range(600)])
    until(lambda: second.metric("outbox_bridge_delivered_total") >= 50, 20, "the second instance delivers nothing")
    second.kill()
    for p in range(4):
        k.wait_committed(t, 150, 40, p)
    extra = len(r.requests()) - 600
    check(extra <= 4 + 12 + 12 * lost(k), f"{extra} events were sent twice after one kill -9")
    k.figure = f"{extra} sent twice after kill -9"

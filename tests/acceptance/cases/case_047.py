TITLE = "no connection lives for ever, and a dead one costs one time-out a worker"
TIME = 60
from acceptance.api import *


def run_life(k):
    t = k.topic()
    r = k.receiver()
    r.default = Reply(delay=0.05)
    k.started(t, r.url, delivery={"max_life_ms": 1000})
    k.produce(t, [E(n, key=b"same") for n in range(80)])
    k.wait_committed(t, 80, 25)
    first, last, count = {}, {}, {}
    for q in r.requests():
        first.setdefault(q.conn, q.t_head)
        last[q.conn] = q.t_head
        count[q.conn] = count.get(q.conn, 0) + 1
    longest = max(last[c] - first[c] for c in first)
    check(longest <= 1.1, f"a request begins on a connection {longest:.2f} s old, with max_life_ms = 1000")
    span = max(last.values()) - min(first.values())
    check(3 <= len(first) <= span / 0.8 + 3, f"{len(first)} connections in {span:.1f} s, expected about one a second")
    check(len(r.requests()) == 80, f"{len(r.requests())} requests for 80 events")
    k.figure = f"{len(first)} connections in {span:.1f} s"


def run_idle(k):
    """A connection that is idle for max_idle_ms is closed."""
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url, delivery={"max_idle_ms": 700})
    k.produce(t, E(1))
    k.wait_committed(t, 1)
    until(lambda: k.world.established() == 0, 5, f"{k.world.established()} connections are open 5 s after the last request, with max_idle_ms = 700")


def run_dead(k):
    """All open connections stop answering, new ones work."""
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url, delivery={"timeout_ms": 1000})
    k.warm(t, 60)
    r.default = Reply(delay=0.1)
    k.produce(t, [E(n) for n in range(40)])
    until(lambda: len(r.ok()) >= 100, 15, "the events before are not delivered")
    dead = max(q.conn for q in r.requests())
    r.default = lambda q: Reply(hang=True) if q.conn <= dead else Reply(200)
    k.produce(t, [E(n) for n in range(100, 300)])
    k.wait_committed(t, 300, 25)
    lost = [q for q in r.requests() if q.status is None]
    check(lost, "no request on a dead connection: nothing is tested")
    check(len(lost) <= k.connections, f"{len(lost)} requests on dead connections, expected at most one a worker")
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"{len(lost)} time-outs"

TITLE = "refused commits are survived; a partition that moved is never committed backwards"
TIME = 90
from acceptance.api import *


def run_refused(k):
    """OffsetCommit errors of the mock cluster: one of each kind, then fifty."""
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    b = k.started(t, r.url)
    n = 0
    k.produce(t, E(n))
    k.wait_committed(t, 1, 20)
    for error, count in ((22, 1), (25, 1), (27, 1), (15, 1), (16, 1), (27, 50)):
        m.push(8, error, count)
        n += 1
        k.produce(t, E(n))
        until(lambda: r.ok(ID(n)), 20, f"event {n} is not delivered after commit error {error}")
        k.wait_committed(t, n + 1, 30)
        check(b.alive, f"the bridge ended with {b.proc.returncode} after commit error {error}")
    m.clear(8)
    k.produce(t, [E(x) for x in range(50, 60)])
    k.wait_committed(t, n + 11, 20)
    extra = len(r.requests()) - n - 11
    check(extra <= 6, f"{extra} events were sent again because commits were refused")
    until(lambda: b.get("/readyz")[0] == 200, 15, "/readyz stays red")
    k.figure = f"{extra} sent again"


def run_ping_pong(k):
    """A to B to A, while A's request of its first time is still open: A goes on when that has ended."""
    t = k.topic(partitions=2)
    r = k.receiver()
    slow = {"kafka": {"revoke_wait_ms": 500}, "delivery": {"timeout_ms": 30000}}
    a = k.started(t, r.url, **slow)
    b = k.bridge(k.conf(t, r.url, **slow))
    k.connections = 8
    k.without.add("P4")
    for p in (0, 1):
        r.on(ID(p), Reply(delay=14), Reply(200))
    k.produce(t, [E(n, partition=n % 2) for n in range(20)])
    until(lambda: len(r.ok()) == 18, 15, "the 18 healthy events are not delivered")
    k.must_start(b)
    moved = until(lambda: [p for p in (0, 1) if len(r.requests(ID(p))) == 2], 10, "no partition moved to the second instance")
    check(len(moved) == 1, "both partitions moved")
    p = moved[0]
    k.wait_committed(t, 10, 10, p)
    check(b.stop() == 0, "exit status of the second instance at SIGTERM is not 0")
    check(r.requests(ID(p))[0].t_end is None, "the old request has ended: nothing is tested")
    k.produce(t, [E(n, partition=p) for n in range(20, 30)])
    until(lambda: r.requests(ID(p))[0].t_end, 20, "the old request does not end")
    k.wait_committed(t, 20, 15, p)
    ended = r.requests(ID(p))[0].t_end
    early = [q for n in range(20, 30) for q in r.requests(ID(n)) if q.t_head < ended]
    check(not early, f"{len(early)} events were sent beside the open request that an earlier assignment had begun")
    k.wait_committed(t, 10, 10, 1 - p)
    k.produce(t, [E(n, partition=p) for n in range(30, 33)])
    k.wait_committed(t, 23, 10, p)
    got = len(r.requests(ID(1 - p)))
    check(got == 1, f"the event of the partition that stayed was sent {got} times")
    check(len(r.requests()) == 34, f"{len(r.requests())} requests for 33 events, of which one is sent twice")

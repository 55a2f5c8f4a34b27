TITLE = "no record is skipped while partitions are paused, resumed and moved"
TIME = 90
from acceptance.api import *

EVENTS, TURNS = 1600, 4


def run(k):
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = lambda q: Reply(delay=random.choice((0.03, 0.05, 0.1)))
    # so few open events that partitions are paused and resumed all the time
    small = {"limits": {"open_per_partition": 8, "buffer_bytes": 65536}}
    first = k.started(t, r.url, **small)
    second = k.bridge(k.conf(t, r.url, **small))
    k.connections = 8                   # two instances, four each
    k.produce(t, [E(n, key=f"order-{n % 100}".encode(), partition=n % 4) for n in range(EVENTS)])
    base = first.metric("outbox_bridge_rebalances_total")
    done = lambda: all((k.committed(t, p) or 0) >= EVENTS // 4 for p in range(4))
    turns = 0
    while turns < TURNS and not done():
        before = len(r.ok())
        k.must_start(second)
        until(lambda: len(r.ok()) >= before + 120 or done(), 20, "no progress after a second instance has joined")
        rc = second.stop()
        check(rc == 0, f"the second instance stops with {rc}")
        before = len(r.ok())
        until(lambda: len(r.ok()) >= before + 60 or done(), 20, "no progress after the second instance has left")
        turns += 1
    for p in range(4):
        k.wait_committed(t, EVENTS // 4, 30, p)
    check(turns >= 3, f"only {turns} turns before everything was delivered: nothing is tested")
    missing = {ID(n) for n in range(EVENTS)} - {q.key for q in r.ok()}
    check(not missing, f"{len(missing)} events were never sent")
    extra = len(r.requests()) - EVENTS
    moves = first.metric("outbox_bridge_rebalances_total") - base
    check(extra <= 4 * 2 * turns, f"{extra} extra deliveries in {2 * turns} rebalances")
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"{extra} extra deliveries, {turns} times a second instance, {moves:.0f} rebalance events"

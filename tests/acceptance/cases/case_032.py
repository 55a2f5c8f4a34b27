TITLE = "a revoke lets open requests end and commits them"
TIME = 170
from acceptance.api import *


def both_ready(k, a, b, seconds):
    k.must_start(b, seconds)
    until(lambda: a.get("/readyz")[0] == 200 and b.get("/readyz")[0] == 200, seconds, "not both instances are ready")


def none_lost(k):
    """A commit that is sent behind the group's JoinGroup is refused, and librdkafka 2.0 then gives up everything."""
    lost = sum(b.log().count('msg="partitions lost"') for b in k.bridges)
    check(lost == 0, f"partitions were lost {lost} times in orderly joins and leaves")
    shown = [l for b in k.bridges for l in b.log().splitlines() if "HEARTBEAT" in l or "level=debug" in l]
    check(not shown, f"a line of librdkafka that nobody asked for: {shown[:1]}")


def run_orderly(k):
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = Reply(delay=0.5)
    a = k.started(t, r.url)
    b = k.bridge(k.conf(t, r.url))
    k.connections = 8
    k.produce(t, [E(n, partition=n % 4) for n in range(120)])
    until(lambda: len(r.requests()) >= 8, 15, "nothing is sent")
    k.must_start(b)
    until(lambda: b.metric("outbox_bridge_delivered_total") >= 8, 20, "the second instance delivers nothing")
    check(b.stop() == 0, "exit status of the second instance at SIGTERM is not 0")
    for p in range(4):
        k.wait_committed(t, 30, 40, p)
    sent = {}
    for q in r.requests():
        sent[q.key] = sent.get(q.key, 0) + 1
    check(len(sent) == 120, f"{len(sent)} of 120 events were sent")
    twice = [x for x, n in sent.items() if n > 1]
    none_lost(k)
    check(not twice, f"{len(twice)} events were sent twice in an orderly join and leave")


def run_three(k):
    """Two more at once: whoever has joined again waits for the others, and commits nothing meanwhile."""
    t = k.topic(partitions=6)
    r = k.receiver()
    r.default = Reply(delay=0.2)
    all_ = [k.bridge(k.conf(t, r.url)) for _ in range(3)]
    k.connections = 12
    k.must_start(all_[0])
    k.produce(t, [E(n, partition=n % 6) for n in range(300)])
    until(lambda: len(r.requests()) >= 8, 15, "nothing is sent")
    for b in all_[1:]:
        b.start(ready=0)
    until(lambda: all(b.metric("outbox_bridge_delivered_total") >= 8 for b in all_), 20, "not all three deliver")
    check(all_[1].stop() == 0, "exit status of the second instance at SIGTERM is not 0")
    for p in range(6):
        k.wait_committed(t, 50, 30, p)
    extra = len(r.requests()) - 300
    none_lost(k)
    check(extra == 0, f"{extra} events were sent twice in an orderly join and leave")


def run_often(k):
    """One after the other, with commits as often as can be: what is lost one time in twenty is seen."""
    t = k.topic(partitions=4)
    r = k.receiver()
    k.started(t, r.url, kafka={"commit_interval_ms": 100})
    done = threading.Event()

    def feed():
        n = 0
        while not done.is_set():
            k.produce(t, [E(n + i, partition=i) for i in range(4)])
            n += 4
            time.sleep(0.02)
    feeder = threading.Thread(target=feed)
    feeder.start()
    turns = 0
    try:
        end = now() + 40
        while now() < end:
            b = k.bridge(k.conf(t, r.url, kafka={"commit_interval_ms": 100}))
            k.connections = 8
            k.must_start(b)
            until(lambda: b.metric("outbox_bridge_delivered_total") >= 8, 20, "the second instance delivers nothing")
            check(b.stop() == 0, "exit status of the second instance at SIGTERM is not 0")
            turns += 1
    finally:
        done.set()
        feeder.join()
    for p in range(4):
        k.wait_committed(t, k.kafka.ends(t, 4)[p], 20, p)
    none_lost(k)
    extra = len(r.requests()) - len(k.events)
    check(extra == 0, f"{extra} events were sent twice in {turns} orderly joins and leaves")
    k.figure = f"{turns} joins and leaves, {len(k.events)} events, none twice"


def run_slow(k):
    """Requests longer than revoke_wait_ms: they are sent again, and nothing else."""
    t = k.topic(partitions=4)
    r = k.receiver()
    for n in range(4):
        r.on(ID(n), Reply(delay=9), Reply(200))
    a = k.started(t, r.url, kafka={"revoke_wait_ms": 1000}, delivery={"timeout_ms": 20000})
    b = k.bridge(k.conf(t, r.url, kafka={"revoke_wait_ms": 1000}, delivery={"timeout_ms": 20000}))
    k.connections = 8
    k.without.add("P4")
    k.produce(t, [E(n, partition=n % 4) for n in range(40)])
    until(lambda: all(r.requests(ID(n)) for n in range(4)), 15, "the first event of each partition is not sent")
    both_ready(k, a, b, 8)
    check(not [q for n in range(4) for q in r.ok(ID(n)) if q.attempt == 1], "the open requests ended before the hand-over: nothing is tested")
    for p in range(4):
        k.wait_committed(t, 10, 20, p)
    extra = len(r.requests()) - 40
    check(0 < extra <= 4, f"{extra} extra requests, expected those of the partitions that moved, at most 4")
    k.figure = f"{extra} of 4 open requests sent again by the next owner"

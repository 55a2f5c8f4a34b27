TITLE = "four means four: two receivers, random closes, a reload"
TIME = 60
import signal
from acceptance.api import *


def run(k):
    a, c = k.topic("a", partitions=4), k.topic("c", partitions=4, dlq=False)
    ra = k.receiver(limit=4)
    rc = k.receiver(limit=4)
    answer = lambda q: Reply(delay=random.choice((0, 0, 0.005, 0.02)), close=random.random() < 0.1)
    ra.default = rc.default = answer
    conf = k.conf([a, c], ra.url, routes=[{"name": "other", "match": {"topic": c}, "url": rc.url}])
    b = k.bridge(conf)
    k.must_start(b)
    k.produce(a, [E(n, partition=n % 4) for n in range(500)])
    k.produce(c, [E(n, partition=n % 4) for n in range(500, 1000)])
    until(lambda: len(k.requests()) > 300, 20, lambda: f"only {len(k.requests())} requests after 20 s")
    b.signal(signal.SIGHUP)
    for topic in (a, c):
        for p in range(4):
            k.wait_committed(topic, 125, 30, p)
    check(len({q.key for q in ra.ok()}) == 500 and len({q.key for q in rc.ok()}) == 500,
          f"{len({q.key for q in ra.ok()})} and {len({q.key for q in rc.ok()})} events at the two receivers, expected 500 each")
    check(b.alive, "the bridge ended")
    check(k.world.max_open >= 2, "never more than one connection: the four workers are not used")
    k.figure = f"at most {k.world.max_open} open, {k.world.accepted} connections for 1000 events"

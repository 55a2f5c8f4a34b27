TITLE = "where a group without offsets begins, and a new partition of a known topic"
TIME = 75
from confluent_kafka.admin import NewPartitions
from acceptance.api import *


def begun(k, start, sent):
    """Five events before the start, three after it; `sent` of the eight must be delivered."""
    t = k.topic()
    r = k.receiver()
    mark = int(time.time()) - 3600
    k.produce(t, [E(n, ts=(mark - 60 if n < 2 else mark + 60) * 1000) for n in range(5)], free=True)
    if start is None:
        start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(mark))
    b = k.started(t, r.url, kafka={"start": start})
    first = 8 - sent
    got = k.committed(t)
    check(got is not None and got >= first, f"ready, and {got} is committed: the start {first} must be committed before the first record is read")
    k.produce(t, [E(n) for n in range(5, 8)], free=True)
    k.wait_committed(t, 8)
    keys = [q.key for q in r.ok()]
    waiting = max(0, sent - 3)
    check(f'offset={first} waiting={waiting} ' in b.log(), f"the log does not say that {waiting} events wait")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(mark + (60 if first else -60)))
    told = [l for l in b.log().splitlines() if 'msg="first record"' in l]
    check(len(told) == (waiting > 0) and all(f"since={since}" in l for l in told), f"since when they wait: expected {since} where something waits, the log says {told}")
    check(sorted(keys) == [ID(n) for n in range(8 - sent, 8)], f"start = {start}: events {sorted(int(x[-12:]) for x in keys)} were sent, expected the last {sent} of 8")


def run_earliest(k):
    begun(k, "earliest", 8)


def run_latest(k):
    begun(k, "latest", 3)


def run_time(k):
    begun(k, None, 6)


def run_ago(k):
    begun(k, "-1h", 6)


def run_error(k):
    t = k.topic()
    r = k.receiver()
    k.produce(t, [E(1), E(2)])
    b = k.bridge(k.conf(t, r.url, kafka={"start": "error"}))
    b.start(ready=0)
    rc = b.wait(30)
    check(rc == names.UNAVAILABLE, f"exit status {rc}, expected {names.UNAVAILABLE}")
    check([l for l in b.log().splitlines() if t in l and "start" in l], "no line names the topic and kafka.start")
    check(not r.requests() and k.committed(t) is None, "something was sent or committed")
    k.kafka.commit_raw(k.group, t, 0, 1)
    k.backwards_ok = True
    k.events[0].free = True
    k.must_start(b)
    k.wait_committed(t, 2)
    check([q.key for q in r.ok()] == [ID(2)], 'start = "error" with an offset does not go on there')


def run_partitions(k):
    """start = "latest" is for a topic that the group does not know: a partition added later is read from its beginning."""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, kafka={"start": "latest"})
    k.produce(t, E(1))
    k.wait_committed(t, 1)

    def add(n):
        k.kafka.admin.create_partitions([NewPartitions(t, n)])[t].result(10)
        k.kafka.wait_topic(t, n)
        k.topics[t] = n
    add(2)
    # another producer: the first one does not know yet how many partitions there are
    k.produce(t, [E(n, partition=1) for n in range(10, 15)], producer=k.kafka.producer())
    k.wait_committed(t, 5, 20, 1)
    check(b.stop() == 0, "exit status at SIGTERM is not 0")
    add(3)
    k.produce(t, [E(n, partition=2) for n in range(20, 25)], producer=k.kafka.producer())
    k.must_start(b)
    k.wait_committed(t, 5, 20, 2)
    want = sorted(ID(n) for n in [1, *range(10, 15), *range(20, 25)])
    got = sorted(q.key for q in r.ok())
    check(got == want, f"{len(got)} deliveries, {len(set(got))} events; expected each of {len(want)} once")

TITLE = "after kill -9 only what was open or just settled is sent again; metadata that is not ours costs nothing"
TIME = 75
from acceptance.api import *


def run_killed(k):
    """Five blocked events, thousands settled above them."""
    t = k.topic()
    r = k.receiver()
    r.default = Reply(delay=0.01)
    blocked = {ID(n) for n in (0, 100, 101, 400, 700)}
    for key in blocked:
        r.on(key, Reply(503), Reply(503), Reply(200))
    conf = k.conf(t, r.url, kafka={"instance": k.tag}, retry={"base_ms": 6000})
    b = k.bridge(conf)
    k.must_start(b)
    k.produce(t, [E(n) for n in range(4000)])
    until(lambda: len(r.ok()) >= 2000, 40, lambda: f"{len(r.ok())} of 2000 after 40 s")
    b.kill()
    killed = now()
    before = {}
    for q in r.requests():
        if q.key not in blocked:
            before[q.key] = q.t_status if q.status == 200 else killed
    settled = len(before)
    check(k.committed(t) == 0, f"offset {k.committed(t)} is committed, event 0 waits")
    check(len(r.requests(ID(0))) == 1, "event 0 was already sent twice: nothing is tested")
    k.must_start(b)
    k.wait_committed(t, 4000, 50)
    again = {q.key for q in r.requests() if q.attempt > 1} - blocked
    # commits with large metadata come every second
    late = [x for x in again if before[x] < killed - 1.25]
    check(not late, f"{len(late)} events that were settled more than a second before the kill were sent again ({len(again)} in all)")
    for key in blocked:
        got = r.requests(key)
        check(len(got) == 3, f"a blocked event was sent {len(got)} times, expected 3")
        gap = got[1].t_head - got[0].t_end
        check(0.9 * 12 - 1.05 <= gap <= 1.1 * 12 + 1.5, f"a blocked event waited {gap:.1f} s over the restart, expected 12 s")
    k.figure = f"{len(again)} of {settled} settled events were sent again"


def run_foreign(k):
    """Foreign, damaged and misplaced metadata: ignored, nothing lost."""
    t = k.topic(partitions=6)
    r = k.receiver()
    r.on(ID(2), Reply(503))
    b = k.started(t, r.url, retry={"base_ms": 60000})
    k.produce(t, [E(1000 * p + n, partition=p) for p in range(6) for n in range(10)], free=True)
    for p in range(1, 6):
        k.wait_committed(t, 10, 15, p)
    until(lambda: len(r.ok()) == 59 and k.kafka.committed(k.group, t)[0][1].startswith(b"ob1.") and k.kafka.committed(k.group, t)[0][0] == 2, 10,
          lambda: f"the commit of partition 0 is {k.kafka.committed(k.group, t)[0]}, expected 2 and a checkpoint")
    end = now() + 1.2                   # the last one there is
    until(lambda: now() > end, 3)
    ours = k.kafka.committed(k.group, t)[0][1]
    b.kill()
    until(lambda: k.kafka.members(k.group)[0] in ("EMPTY", "DEAD"), 15, "the group keeps a killed member")
    k.backwards_ok = True
    half = len(ours) // 2
    for p, offset, meta in ((1, 2, ours), (2, 2, b"hello"), (3, 2, b"\0\xff\xfe" * 20), (4, 2, b"ob1."), (5, 2, b"ob1." + b"/" * 3000)):
        k.kafka.commit_raw(k.group, t, p, offset, meta)
    flipped = ours[:half] + (b"A" if ours[half:half + 1] != b"A" else b"B") + ours[half + 1:]
    k.kafka.commit_raw(k.group, t, 0, 2, flipped)
    r.on(ID(2), Reply(200))
    sent = len(r.requests())
    k.must_start(b)
    for p in range(6):
        k.wait_committed(t, 10, 20, p)
    again = sorted(int(q.key[-12:]) for q in r.requests()[sent:])
    want = sorted(1000 * p + n for p in range(6) for n in range(2, 10))
    check(again == want, f"{len(again)} events were sent, expected the {len(want)} from the committed offsets on; missing {sorted(set(want) - set(again))[:5]}")
    for p in (0, 1, 4, 5):
        check([l for l in b.log().splitlines() if "checkpoint ignored" in l and f"partition={p} " in l], f"the log does not say that the metadata of partition {p} is ignored")


def run_ours(k):
    """The same, with the metadata as it was: only the open event is sent."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(2), Reply(503), Reply(200))
    b = k.started(t, r.url, retry={"base_ms": 2000})
    k.produce(t, [E(n) for n in range(10)])
    until(lambda: len(r.ok()) == 9, 10, "the healthy events are not delivered")
    noted = lambda: k.kafka.committed(k.group, t)[0]
    until(lambda: noted()[0] == 2 and len(noted()[1]) > 8, 5, "no checkpoint is committed")
    check(b.stop() == 0, "exit status at SIGTERM is not 0")
    k.must_start(b)
    k.wait_committed(t, 10, 20)
    got = sorted(int(q.key[-12:]) for q in r.requests())
    check(got == sorted([*range(10), 2]), f"{len(got)} requests, expected 11: only the open event is sent again after a stop")

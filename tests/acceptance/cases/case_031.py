TITLE = "a ladder longer than max.poll.interval, and a stop of the process, cost nothing"
TIME = 75
import signal
from acceptance.api import *


def conf(k, t, url, **more):
    c = k.conf(t, url, **more)
    c["kafka"]["properties"] += ["max.poll.interval.ms=5000"]
    return c


def run_ladder(k):
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(503, delay=0.4))
    b = k.bridge(conf(k, t, r.url, retry={"base_ms": 600}))
    k.must_start(b)
    state, members = k.kafka.members(k.group)
    k.produce(t, [E(1), E(2)])
    end = now() + 30
    while now() < end and not sum(k.kafka.ends(t + ".dlq").values()):
        s, m = k.kafka.members(k.group)
        check(s == "STABLE" and m == members, f"the group changed while an event waits: {s}, {len(m)} members, {'same' if m == members else 'other'} ids")
        time.sleep(0.3)
    k.wait_committed(t, 2, 10)
    got = r.requests(ID(1))
    check(len(got) == 5, f"{len(got)} requests, expected 5")
    gaps = [b_.t_head - a.t_end for a, b_ in zip(got, got[1:])]
    for g, w in zip(gaps, (1.2, 2.4, 4.8, 9.6)):
        check(0.9 * w - 0.05 <= g <= 1.1 * w + 0.6, f"gaps {', '.join(f'{x:.2f}' for x in gaps)} s, expected 1.2, 2.4, 4.8, 9.6 s within 10 %")
    check(len(k.dlq()) == 1, f"{len(k.dlq())} records in the DLQ")
    k.figure = "gaps " + ", ".join(f"{g:.2f}" for g in gaps) + " s"


def run_stopped(k):
    t = k.topic()
    r = k.receiver()
    b = k.bridge(conf(k, t, r.url))
    k.must_start(b)
    k.produce(t, [E(n) for n in range(5)])
    k.wait_committed(t, 5)
    b.signal(signal.SIGSTOP)
    until(lambda: k.kafka.members(k.group)[0] in ("EMPTY", "DEAD"), 20, "the group keeps a stopped member")
    k.produce(t, [E(n) for n in range(5, 10)])
    b.signal(signal.SIGCONT)
    k.wait_committed(t, 10, 30)
    check(b.alive, "the bridge ended after it was stopped and continued")
    until(lambda: b.get("/readyz")[0] == 200, 10, "/readyz stays red after the bridge rejoined")

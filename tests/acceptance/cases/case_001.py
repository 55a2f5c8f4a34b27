TITLE = "a lower event still open is never passed by the commit"
from acceptance.api import *


def run(k):
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(delay=3), Reply(200))
    b = k.started(t, r.url)
    base = k.warm(t)
    before = len(r.ok())
    k.produce(t, [E(n) for n in range(1, 9)])
    until(lambda: r.requests(ID(1)), 10, "event 1 is not sent within 10 s")
    until(lambda: len(r.ok()) >= before + 7, 2.5, lambda: f"while event 1 is open only {len(r.ok()) - before} of the 7 other keys are delivered")
    first = r.requests(ID(1))[0]
    time.sleep(max(0, first.t_head + 1.8 - now()))
    got = k.committed(t)
    check(got is None or got <= base, f"offset {got} is committed while offset {base} is open")
    b.kill()
    check(not r.ok(ID(1)), "event 1 was already answered: the kill came too late for this test")
    before = len(r.requests())
    k.must_start(b)
    k.wait_committed(t, base + 8)
    check(r.ok(ID(1)), "event 1 is not sent again after the kill")
    again = len([q for q in r.requests()[before:] if q.key != ID(1)])
    k.figure = f"{again} of the 7 others were sent again after kill -9"

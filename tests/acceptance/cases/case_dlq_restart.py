TITLE = "the broker is killed and restarted while dead letters are stored: each has its copy"
TIME = 120
from acceptance.api import *
from acceptance.cases.case_dlq_errors import OPEN, once_each
from acceptance.cases.case_lifetime_broker import back, killed, own_broker

EVENTS = 800


def run(k):
    """kill -9 in the middle of 800 dead events: one copy of each, a second one only of what was open then."""
    own, _ = own_broker(k)
    k.events.clear()
    t = k.topic("dead")
    try:
        r = k.receiver()
        r.default = Reply(400, delay=0.01)
        k.produce(t, [E(n, key=b"k%d" % (n % 50)) for n in range(EVENTS)])
        b = k.bridge(k.conf(t, r.url, **OPEN))
        k.must_start(b)
        k.wait_dlq(200, 20, t + ".dlq")
        killed(own)
        back(k, own)
        k.wait_committed(t, EVENTS, 40)
        check(b.alive, f"the bridge ended with {b.proc.returncode}")
        check(not b.log().count("dead letter producer cannot be made"), "no producer")
        # the session ends too: what settled since the last commit is sent again
        sent = len(r.requests()) - EVENTS
        check(sent <= 300, f"{sent} events were sent again, more than those of a commit interval")
        twice = once_each(k, t, EVENTS, sent + 8)
        k.figure = f"{twice} of {EVENTS} stored twice, {sent} sent again"
        until(lambda: b.get("/readyz")[0] == 200, 15, lambda: f"/readyz stays red: {b.get('/readyz')}")
        check(b.stop() == 0, "exit status at SIGTERM is not 0")
        k.finish()
    finally:
        killed(own)
    k.dlqs.clear()              # all is judged while the broker was there
    k.events.clear()

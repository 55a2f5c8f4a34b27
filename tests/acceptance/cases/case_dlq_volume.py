TITLE = "20,000 dead events, stored or refused: one copy of each, in order per key, in bounded memory and time"
TIME = 120
from acceptance.api import *
from acceptance.cases.case_dlq_errors import OPEN


def run_stored(k):
    """20,000 dead events: one copy each, committed, bounded memory."""
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = Reply(400)
    k.produce(t, [E(n, key=b"k%d" % (n % 500), partition=n % 500 % 4, value=b'{"n":%d,"f":"%s"}' % (n, b"x" * 200)) for n in range(20000)])
    b = k.bridge(k.conf(t, r.url, **OPEN))
    k.must_start(b)
    begin = now()
    k.wait_dlq(20000, 60)
    took = now() - begin
    for p in range(4):
        k.wait_committed(t, 5000, 10, p)
    seen = {}
    for d in k.dlq():
        at = (int(d.text("outbox.dlq.partition")), d.key)
        off = int(d.text("outbox.dlq.offset"))
        check(seen.get(at, -1) < off, f"copies of key {d.key} are not in order, or there are two")
        seen[at] = off
    check(len(k.dlq()) == 20000, f"{len(k.dlq())} copies of 20,000 events")
    peak = b.rss(peak=True)
    check(peak < 64 << 20, f"{peak >> 20} MiB resident at most")
    k.without |= {"I1", "P4"}   # checked above; as a whole they take longer than the case
    k.figure = f"{20000 / took:.0f} a second, at most {peak >> 20} MiB"


def run_held(k):
    """Dead events that all are too large for the DLQ, more than the buffer takes: they wait in bounded memory, and TERM ends it in time."""
    t = k.topic(dlq_config={"max.message.bytes": "100"})
    r = k.receiver()
    r.default = Reply(400)
    k.produce(t, [E(n, value=b'{"n":%d,"f":"%s"}' % (n, b"x" * 200)) for n in range(20000)])
    b = k.bridge(k.conf(t, r.url, limits={"shutdown_ms": 2500, "open_per_partition": 1000}, **OPEN))
    k.must_start(b)
    until(lambda: "dlq_too_large" in b.get("/readyz")[1], 40, lambda: f"no alarm dlq_too_large after {len(r.requests())} requests")
    until(lambda: len(r.requests()) >= 1000, 10, "reading has stopped too early")
    peak = b.rss(peak=True)
    check(peak < 64 << 20, f"{peak >> 20} MiB resident at most")
    b.signal(15)
    rc = b.wait(3.5)
    check(rc == 0, f"exit status {rc} within 3.5 s of SIGTERM")
    raised = b.log().count('msg="alarm" alarm=dlq_too_large')
    check(raised == 1, f"{raised} lines about the alarm dlq_too_large: it flaps")
    check(not k.dlq() and k.committed(t) in (None, 0), "something is stored or committed")
    k.without |= {"P4"}
    k.figure = f"{len(r.requests())} held, at most {peak >> 20} MiB"

TITLE = "records too large for the DLQ wait alone: one copy of each event, byte for byte"
TIME = 90
import hashlib
from acceptance.api import *

OPEN = {"breaker": {"after": 0}}       # so many dead events in a row would close the target


def headers(n):
    return [("id", ID(n).encode()), ("eventType", b"OrderCreated"), ("empty", b""), ("none", None), ("raw", bytes(range(256)))]


def copies(k):
    """{offset: copies}"""
    out = {}
    for d in k.dlq():
        at = int(d.text("outbox.dlq.offset"))
        out[at] = out.get(at, 0) + 1
    return out


def once_each(k, t, count, most_twice=0):
    got = copies(k)
    missing = [n for n in range(count) if n not in got]
    check(not missing, f"{len(missing)} of {count} events have no copy in the DLQ, the first is {missing[:1]}")
    twice = [n for n, c in got.items() if c > 1]
    check(len(twice) <= most_twice, f"{len(twice)} events have more than one copy, at most {most_twice} expected")
    return len(twice)


def run_small_limit(k):
    """The DLQ's limit takes every record but not a batch of them: no copy loses a header, no alarm, nothing waits."""
    t = k.topic(dlq_config={"max.message.bytes": "3000"})
    r = k.receiver()
    r.default = Reply(400)
    k.produce(t, [E(n, headers=headers(n)) for n in range(300)])
    b = k.bridge(k.conf(t, r.url, **OPEN))
    k.must_start(b)
    k.wait_committed(t, 300, 25)
    once_each(k, t, 300)
    poor = [d for d in k.dlq() if d.text("outbox.dlq.group") is None]
    check(not poor, f"{len(poor)} copies have only the least headers although each fits")
    check("dlq_too_large" not in b.log(), "an alarm although each record fits")


def run_some_too_large(k):
    """Large ones wait with a lasting alarm that names one, the others go by; raising the limit cures it."""
    t = k.topic(dlq_config={"max.message.bytes": "20000"})
    r = k.receiver()
    r.default = Reply(400)
    big = {n for n in range(200) if n % 10 == 7}
    k.produce(t, [E(n, value=b'{"n":%d,"f":"%s"}' % (n, b"x" * (40000 if n in big else 2000))) for n in range(200)])
    b = k.bridge(k.conf(t, r.url, **OPEN))
    k.must_start(b)
    k.wait_dlq(200 - len(big), 20)
    until(lambda: "dlq_too_large" in b.get("/readyz")[1], 10, "no alarm dlq_too_large")
    check(k.committed(t) == 7, f"offset {k.committed(t)} is committed, expected 7")
    why = b.get("/readyz")[1]
    check(t in why and "40" in why, f"the alarm does not say which record: {why}")
    k.produce(t, [E(n) for n in range(200, 230)])
    k.wait_dlq(230 - len(big), 20)
    raised = lambda: b.log().count("dlq_too_large")
    check(raised() == 1, f"{raised()} lines about the alarm while nothing changed, expected 1")
    k.kafka.alter(t + ".dlq", max_message_bytes=100000)
    k.wait_committed(t, 230, 45)
    until(lambda: b.get("/readyz")[0] == 200, 15, lambda: f"/readyz stays red: {b.get('/readyz')}")
    once_each(k, t, 230)
    check(len(r.requests()) == 230, f"{len(r.requests())} requests for 230 events")


def run_truncate(k):
    """dlq.truncate: the value is cut to what the topic takes; its digest, key, headers and time stay."""
    k.without.add("I6")                 # the one exception to the original's bytes
    t = k.topic(dlq_config={"max.message.bytes": "20000"})
    r = k.receiver()
    r.default = Reply(400)
    value = b'{"n":1,"f":"%s"}' % (b"x" * 100000)
    k.produce(t, [E(0, headers=headers(0)), E(1, value=value, headers=headers(1)), E(2, headers=headers(2))])
    b = k.bridge(k.conf(t, r.url, dlq={"topic": t + ".dlq", "truncate": True}, **OPEN))
    k.must_start(b)
    k.wait_committed(t, 3, 20)
    once_each(k, t, 3)
    for d in k.dlq():
        e = next(e.rec for e in k.events if e.at[2] == int(d.text("outbox.dlq.offset")))
        check(d.key == e.key and d.ts == e.ts and d.headers[:len(e.headers)] == list(e.headers), "key, time or headers are changed")
        cut = e.value == value
        check(d.text("outbox.dlq.truncated") == ("true" if cut else None), f"outbox.dlq.truncated is {d.text('outbox.dlq.truncated')}")
        check(d.value == (value[:len(d.value)] if cut else e.value), "the value is neither the original nor its beginning")
        if cut:
            check(5000 < len(d.value) < 20000, f"{len(d.value)} bytes of the value are kept, the topic takes 20,000")
            check(d.text("outbox.dlq.value.sha256") == hashlib.sha256(value).hexdigest(), "outbox.dlq.value.sha256 is not the original's")
    check("dlq_too_large" not in b.log(), "an alarm although the value may be cut")

TITLE = "lag reaches zero behind transaction markers, aborted records and compacted ones"
TIME = 75
from acceptance.api import *


def lag(b, t):
    return b.metrics().get(f'outbox_bridge_lag{{topic="{t}",partition="0"}}')


def transactional(k):
    p = k.kafka.producer(**{"transactional.id": k.tag, "transaction.timeout.ms": 60000})
    p.init_transactions(20)
    return p


def aborted(k, t, p, recs):
    """Written, and taken back: no consumer may see them."""
    p.begin_transaction()
    k.kafka.produce(t, recs, producer=p)
    p.abort_transaction(20)


def at_end(k, b, t):
    end = k.kafka.ends(t)[0]
    k.wait_committed(t, end, 20)
    until(lambda: lag(b, t) == 0, 10, lambda: f"outbox_bridge_lag is {lag(b, t)} although everything is committed")
    check(k.committed(t) == end, f"offset {k.committed(t)} is committed, the log ends at {end}")
    return end


def run_transactions(k):
    """Markers at the end of the log are nothing to wait for; aborted records are not sent."""
    t = k.topic()
    r = k.receiver()
    p = transactional(k)
    b = k.started(t, r.url)
    p.begin_transaction()
    k.produce(t, [E(n) for n in range(10)], producer=p)
    p.commit_transaction(20)
    aborted(k, t, p, [E(n) for n in range(100, 110)])
    p.begin_transaction()
    k.produce(t, [E(n) for n in range(10, 15)], producer=p)
    p.commit_transaction(20)
    aborted(k, t, p, [E(110)])
    end = at_end(k, b, t)
    check(end == 30, f"the log ends at {end}, expected 26 records and 4 markers")
    got = sorted(q.key for q in r.requests())
    check(got == [ID(n) for n in range(15)], f"{len(got)} requests, expected the 15 of the committed transactions")
    check(b.stop() == 0, "exit status at SIGTERM is not 0")
    k.must_start(b)                     # nothing left to do, and it says so
    at_end(k, b, t)
    check(len(r.requests()) == 15, "events were sent again after a restart")


def run_open(k):
    """A transaction that is still open holds what is behind it, with no alarm, and no commit passes it."""
    t = k.topic()
    r = k.receiver()
    p = transactional(k)
    b = k.started(t, r.url)
    k.produce(t, [E(n) for n in range(5)])
    k.wait_committed(t, 5)
    p.begin_transaction()
    k.produce(t, [E(n) for n in range(5, 8)], producer=p)
    k.produce(t, [E(n) for n in range(8, 12)])
    end = now() + 3                     # nothing may happen, so there is nothing else to wait for
    until(lambda: now() > end, 5)
    check(len(r.requests()) == 5, f"{len(r.requests()) - 5} events were sent from or behind an open transaction")
    check(k.committed(t) == 5, f"offset {k.committed(t)} is committed, the open transaction begins at 5")
    check(b.get("/readyz")[0] == 200, f"/readyz is red: {b.get('/readyz')[1][:200]}")
    p.commit_transaction(20)
    at_end(k, b, t)
    check(sorted(q.key for q in r.requests()) == [ID(n) for n in range(12)], f"{len(r.requests())} requests for 12 events")


def run_compacted(k):
    """Most records are gone from the middle of the log: their offsets are passed."""
    t = k.topic(config={"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.001", "delete.retention.ms": "0",
                        "max.compaction.lag.ms": "100"})
    r = k.receiver()
    for turn in range(5):               # the same three keys again and again, in a batch and a segment each
        k.produce(t, [E(10 * turn + n, key=f"order-{n}".encode()) for n in range(3)], skip_ok=True)
        end = now() + 0.15
        until(lambda: now() > end, 3)
    k.produce(t, [E(90, key=b"order-9")])
    cleaned = lambda: len(k.kafka.read(t)) <= 9
    until(cleaned, 40, "the broker does not compact the topic", every=0.5)
    left = [x.text("id") for x in k.kafka.read(t)]
    b = k.started(t, r.url)
    at_end(k, b, t)
    sent, now_left = {q.key for q in r.requests()}, {x.text("id") for x in k.kafka.read(t)}
    # the broker goes on compacting, so the log was somewhere between the two when it was read
    check(now_left <= sent <= set(left) and len(sent) == len(r.requests()),
          f"{len(r.requests())} requests, {len(left)} records in the log before and {len(now_left)} after")
    check(len(left) < 16, "nothing was compacted: nothing is tested")

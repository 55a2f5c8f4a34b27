TITLE = "null, empty, the text null and a wrapped null: each as documented"
TIME = 60
from acceptance.api import *

WRAPPED = b'{"schema":{"type":"string","optional":true},"payload":null}'
VALUES = {"null": None, "empty": b"", "text": b"null", "wrapped": WRAPPED}
BARE = [("eventType", b"OrderCreated")]


def records():
    """[((what, has an id header), record)]: the four values, and a null key with a null value, each with and without id."""
    out = []
    for with_id in (True, False):
        for name in (*VALUES, "null key"):
            rec = E(len(out) + 1, headers=None if with_id else list(BARE))
            rec.value = VALUES.get(name)
            if name == "null key":
                rec.key = None
            out.append(((name, with_id), rec))
    return out


def reasons(k):
    by_offset = {int(d.text("outbox.dlq.offset")): d for d in k.dlq()}
    for d in by_offset.values():
        check(d.text("outbox.dlq.attempts") == "0", f"outbox.dlq.attempts {d.text('outbox.dlq.attempts')} of an event that was never sent")
    return {at: d.text("outbox.dlq.reason") for at, d in by_offset.items()}


def counted(b, name):
    """{reason: count} of a counter with the label reason, zeros left out."""
    out = {}
    for sample, value in b.metrics().items():
        m = re.match(name + r'\{.*?reason="([^"]*)"', sample)
        if m and value:
            out[m.group(1)] = out.get(m.group(1), 0) + int(value)
    return out


def go(k, policy):
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, source={"on_null_payload": policy} if policy else {})
    all_ = records()
    # what is delivered at all is delivered empty
    k.produce(t, [rec for _, rec in all_], skip_ok=True, expect={i: (rec.text("id"), b"") for i, (_, rec) in enumerate(all_)})
    k.produce(t, E(50))
    k.wait_committed(t, len(all_) + 1, 20)
    check(len(r.ok(ID(50))) == 1, "the healthy event behind them was not delivered once")
    got = reasons(k)
    return b, r, {name: got.get(rec.offset) for name, rec in all_}


def compare(got, want):
    wrong = [f"{name} {'with' if with_id else 'without'} id: {got[name, with_id]}, expected {want.get((name, with_id))}"
             for name, with_id in got if got[name, with_id] != want.get((name, with_id))]
    check(not wrong, "dead-letter reasons: " + "; ".join(wrong))


def run_dlq(k):
    """The default."""
    b, r, got = go(k, None)
    want = {(name, True): "null-payload" for name in ("null", "text", "wrapped", "null key")}
    want |= {("empty", True): "empty-value", ("empty", False): "empty-value"}
    compare(got, want)
    check(len(r.requests()) == 1, f"{len(r.requests())} requests, expected one: the healthy event")
    skipped, dead = counted(b, "outbox_bridge_skipped_total"), counted(b, "outbox_bridge_dead_letters_total")
    check(skipped == {"tombstone": 4}, f"outbox_bridge_skipped_total {skipped}, expected tombstone 4")
    check(dead == {"null-payload": 4, "empty-value": 2}, f"outbox_bridge_dead_letters_total {dead}, expected null-payload 4, empty-value 2")


def run_skip(k):
    b, r, got = go(k, "skip")
    compare(got, {("empty", False): "empty-value"})
    check(len(r.requests()) == 1, f"{len(r.requests())} requests, expected one: the healthy event")
    skipped = counted(b, "outbox_bridge_skipped_total")
    check(skipped.get("tombstone") == 4 and sum(skipped.values()) == 9, f"outbox_bridge_skipped_total {skipped}, expected 4 tombstones, 5 others")


def run_send_empty(k):
    b, r, got = go(k, "send_empty")
    compare(got, {("empty", False): "empty-value"})
    empty = [q for q in r.requests() if q.key != ID(50)]
    check(len(empty) == 5, f"{len(empty)} requests for the five with an id, expected 5")
    for q in empty:
        check(q.raw_body == b"" and q.get("Content-Length") == "0", f"body {q.raw_body!r}, Content-Length {q.get('Content-Length')}, expected 0 bytes")
    check(counted(b, "outbox_bridge_skipped_total") == {"tombstone": 4}, f"skipped {counted(b, 'outbox_bridge_skipped_total')}")

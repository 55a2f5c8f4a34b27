TITLE = "records that are no outbox insert are never sent: each is dead-lettered or a counted skip"
TIME = 60
from acceptance.api import *

HEARTBEAT = b'{"ts_ms":1720724527278}'
SERVER = b'{"serverName":"shop"}'
ROW = '{{"id":"{}","event_type":"OrderCreated","payload":"{{\\"row\\":\\"{}\\"}}"}}'
# op -> number of the row
OPS = {"c": 101, "r": 102, "u": 103, "d": 104, "m": 105, "t": 106}


def envelope(op):
    row = ROW.format(ID(OPS[op]), op)
    before, after = {"u": (row, row), "d": (row, "null"), "m": ("null", "null"), "t": ("null", "null")}.get(op, ("null", row))
    message = ',"message":{"prefix":"p","content":"e30="}' if op == "m" else ""
    source = '{"connector":"postgresql","db":"shop","schema":"public","table":"outbox","ts_ms":1720724527278}'
    return f'{{"before":{before},"after":{after},"source":{source},"op":"{op}","ts_ms":1720724527279{message}}}'.encode()


def bare(value, key=b"k"):
    rec = E(0, headers=[])
    rec.key, rec.value = key, value
    return rec


def skips(b):
    """{reason: count} of what was skipped."""
    found = ((re.search(r'reason="([^"]*)"', name), int(v)) for name, v in b.metrics().items() if name.startswith("outbox_bridge_skipped_total{"))
    return {m.group(1): v for m, v in found if v}


def go(k, form, delivered, **source):
    """The eight records of the case; the ops named in `delivered` must be sent. (bridge, {offset: reason in the DLQ})"""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, source={"format": form, **source})
    k.produce(t, bare(HEARTBEAT), skip_ok=True, expect={0: (None, None)})
    for op, n in OPS.items():
        sent = op in delivered
        k.produce(t, bare(envelope(op), f"row-{op}".encode()), skip_ok=not sent,
                  expect={0: (ID(n), f'{{"row":"{op}"}}'.encode()) if sent else (None, None)})
    k.produce(t, E(1))
    k.wait_committed(t, 8, 20)
    check(k.committed(t) == 8, f"{k.committed(t)} is committed, expected 8")
    got = sorted(q.key for q in r.requests())
    want = sorted([ID(1)] + [ID(OPS[op]) for op in delivered])
    check(got == want, f"{form}: sent were {got}, expected {want}")
    check(b.get("/readyz")[0] == 200, "not ready because of such records")
    return b, {int(d.text("outbox.dlq.offset")): d.text("outbox.dlq.reason") for d in k.dlq()}


def run_auto(k):
    """A new row of a change event is an event; no other operation is."""
    b, dead = go(k, "auto", "cr")
    check(dead == {0: "unrecognised"}, f"in the DLQ: {dead}, expected the heartbeat without its key, unrecognised")
    want = {"op-update": 1, "op-delete": 1, "op-message": 1, "op-truncate": 1}
    check(skips(b) == want, f"skipped: {skips(b)}, expected {want}")


def run_other_table(k):
    """Rows of a table that is not listed: not even an insert."""
    b, dead = go(k, "auto", "", tables=["public.webhook_outbox"])
    got = skips(b)
    check(dead == {0: "unrecognised"} and sum(got.values()) == 6, f"in the DLQ {dead}, skipped {got}, expected the heartbeat and 6 skips")
    check(got.get("other-table", 0) >= 2, f"skipped: {got}, expected other-table for the inserts at least")


def strict(k, form, reason):
    b, dead = go(k, form, "")
    want = {0: "missing-id", **{n: reason for n in range(1, 7)}}
    check(dead == want, f"in the DLQ {dead}, expected {want}")
    check(not skips(b), f"skipped: {skips(b)}")


def run_json(k):
    """Where the topic is said to hold payloads of the router, a change event is none."""
    strict(k, "json", "format-mismatch")


def run_string(k):
    strict(k, "string", "missing-id")


def run_infrastructure(k):
    """Debezium's own records, and a topic that is to be skipped."""
    t = k.topic()
    beats = k.topic("heartbeat", dlq=False)
    r = k.receiver()
    b = k.started([t, beats], r.url, source={"format": "auto", "skip_topics": ["*.heartbeat"]})
    own = [bare(HEARTBEAT, SERVER), bare(b'{"status":"BEGIN","id":"571","ts_ms":1,"event_count":null,"data_collections":null}', b'{"id":"571"}'),
           bare(b'{"source":{},"ts_ms":1,"databaseName":"shop","ddl":"CREATE TABLE t (a int)","tableChanges":[]}', None)]
    k.produce(t, own, skip_ok=True, expect={n: (None, None) for n in range(len(own))})
    k.produce(beats, [E(2), bare(HEARTBEAT, SERVER)], skip_ok=True)
    k.produce(t, E(1))
    k.wait_committed(t, len(own) + 1, 20)
    k.wait_committed(beats, 2, 20)
    check([q.key for q in r.requests()] == [ID(1)], f"sent were {[q.key for q in r.requests()]}, expected the event only")
    check(not k.dlq(), f"in the DLQ: {[d.text('outbox.dlq.reason') for d in k.dlq()]}")
    want = {"heartbeat": 1, "transaction-metadata": 1, "schema-change": 1, "topic-skipped": 2}
    check(skips(b) == want, f"skipped: {skips(b)}, expected {want}")

TITLE = "quoted, wrapped and raw ids give one idempotency key; a key may be any bytes"
TIME = 60
import uuid
from acceptance.api import *


def wrapped(text):
    return b'{"schema":{"type":"string","optional":false},"payload":"%s"}' % text.encode()


def spellings(text):
    return text.encode(), b'"%s"' % text.encode(), wrapped(text), uuid.UUID(text).bytes


def run_ids(k):
    """The route is found by the event type, which the same converter spells."""
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url + "/rest", routes=[{"name": "typed", "match": {"event_type": "OrderCreated"}, "url": r.url + "/typed"}])
    types = b"OrderCreated", b'"OrderCreated"', wrapped("OrderCreated"), b"OrderCreated"
    upper = ID(0xABC).replace("4000", "4AbC")
    recs = [E(n, headers=[("id", i), ("eventType", y)]) for n, (i, y) in enumerate(zip(spellings(ID(1)), types))]
    k.i3_keys.add(ID(1))                # four events with one id, on purpose
    k.produce(t, recs, expect={n: (ID(1), rec.value) for n, rec in enumerate(recs)})
    k.wait_committed(t, 4, 20)
    got = [(q.key, q.get("X-Idempotency-Key"), q.path.rpartition("/")[2], q.raw_body) for q in r.ok()]
    want = [(ID(1), ID(1), "typed", rec.value) for rec in recs]
    check(sorted(got) == sorted(want), f"sent were {[(key, path) for key, _, path, _ in got]}, expected four with the key {ID(1)} to /typed")
    # the case of letters is the writer's: nothing is made small
    k.produce(t, E(9, headers=[("id", upper.encode())]), expect={0: (upper, b'{"n":9}')})
    k.wait_committed(t, 5, 20)
    check(len(r.ok(upper)) == 1, f"the id {upper} did not become the key as it is")
    check(not k.dlq(), f"in the DLQ: {[d.text('outbox.dlq.reason') for d in k.dlq()]}")


KEYS = {"null": None, "empty": b"", "binary": b"\0\1", "line": b"a\r\nlevel=error msg=forged", "json": b'{"id":1}', "string": b'"order-1"',
        "avro": b"\0\0\0\0\x07\x02\x31", "invalid": b"\xff\xfe", "large": b"\0\n" * 50000, "integer": b"\0\0\0\x2a"}


def run_keys(k):
    """Each key once delivered, once refused, so that both lines of the log and the DLQ copy have it."""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, log={"level": "info", "format": "logfmt", "delivered": True})
    recs = []
    for key in KEYS.values():
        for refused in (False, True):
            n = len(recs) + 1
            rec = E(n)
            rec.key = key
            recs.append(rec)
            if refused:
                r.on(ID(n), Reply(400))
    for rec in recs:
        k.produce(t, rec, free=rec.key == b"")  # an empty key is none, and has no order
    k.wait_committed(t, len(recs), 30)
    for n, name in enumerate(KEYS):
        check(len(r.ok(ID(2 * n + 1))) == 1, f"key {name}: delivered {len(r.ok(ID(2 * n + 1)))} times")
    dead = sorted(d.text("id") for d in k.dlq())
    check(dead == [ID(2 * n + 2) for n in range(len(KEYS))], f"in the DLQ: {dead}")
    raw = b.errors.read_bytes()
    bad = next((l for l in raw.split(b"\n") if any(c < 0x20 or c > 0x7E for c in l)), None)
    check(bad is None, f"a line of the log has bytes that are not printable: {short(bad)}")
    lines = raw.decode().splitlines()
    forged = [l for l in lines if l.startswith("level=error") or "msg=forged" in re.sub(r'"(\\.|[^"\\])*"', "", l)]
    check(not forged, f"a key made a line of its own: {forged[:1]}")
    check(max(map(len, lines)) < 4096, f"a line of the log is {max(map(len, lines))} long")
    for word in ("delivered", "dead-lettered"):
        named = [l for l in lines if f'msg="{word}"' in l or f"msg={word}" in l]
        check(len(named) == len(KEYS), f"{len(named)} lines say {word}, expected {len(KEYS)}")
        check(any(re.search(r'key="\\+(x00|u0000|0)', l) for l in named), f"no line {word} has the key 00 01, escaped: {short(named)}")

TITLE = "an undecodable value goes to the DLQ as it is, at once; the next event is delivered"
TIME = 45
from acceptance.api import *

POISON = (b'{"a":', b"nul", b"\xff\xfe", b'{"a":1}{"b":2}', b"[" * 10000, b"[" * 10000 + b"]" * 10000, b"\xef\xbb\xbf{}", b'{"a":"\xc3\x28"}',
          b'{"a":01}', b"{'a':1}", b" ", b'{"a":1}\0')


def judge(k, form, poison):
    """poison: [(value, reason)]"""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, source={"format": form})
    recs = [rec for i, (v, _) in enumerate(poison) for rec in (E(2 * i, value=v), E(2 * i + 1))]
    for i in range(len(poison)):
        recs[2 * i + 1].value = b'{"schema":null,"payload":{"n":%d}}' % i if form == "json_schema" else b'{"n":%d}' % i
    body = {2 * i + 1: (ID(2 * i + 1), b'{"n":%d}' % i) for i in range(len(poison))}
    k.produce(t, recs, expect=body)
    k.wait_committed(t, len(recs), 20)
    dead = {d.text("id"): d for d in k.dlq()}
    for i, (v, reason) in enumerate(poison):
        d = dead.pop(ID(2 * i), None)
        check(d is not None, f"{short(v)} is not in the DLQ")
        got = d.text("outbox.dlq.reason"), d.text("outbox.dlq.attempts")
        check(got == (reason, "0"), f"{short(v)}: reason and attempts {got}, expected {reason} and 0")
        check(not r.requests(ID(2 * i)), f"{short(v)} was sent")
        check(len(r.ok(ID(2 * i + 1))) == 1, f"the event behind {short(v)} was delivered {len(r.ok(ID(2 * i + 1)))} times")
    check(not dead, f"healthy events in the DLQ: {[d.text('outbox.dlq.reason') for d in dead.values()]}")
    check(b.alive and b.get("/readyz")[0] == 200, "not ready because of bad input")


SYNTAX = [(v, "json-syntax") for v in POISON]


def run_json(k):
    judge(k, "json", SYNTAX + [(b'"\\ud800"', "json-syntax")])


def run_schema(k):
    judge(k, "json_schema", SYNTAX + [(b'{"schema":null,"payload":"\\ud800"}', "json-syntax"), (b'{"n":1}', "format-mismatch"), (b"[1]", "format-mismatch")])

TITLE = "the body is the value, byte for byte, whatever the bytes are"
TIME = 45
from acceptance.api import *

MIB = 1 << 20
LARGE = {"max.message.bytes": str(4 * MIB)}
VALUES = (b"a\0\0\0\0b", b"\0", b"", bytes(MIB), b"\xef\xbb\xbf{}", b"\r\n\r\n", b"\xff\xfe\x80 not UTF-8")


def exact(k, fmt, values, bodies):
    t = k.topic(config=LARGE, dlq_config=LARGE)
    r = k.receiver()
    k.started(t, r.url, source={"format": fmt, "on_null_payload": "send_empty"})
    k.produce(t, [E(n, value=v) for n, v in enumerate(values, 1)], expect={n: (ID(n + 1), body) for n, body in enumerate(bodies)})
    k.wait_committed(t, len(values), 20)
    for n, body in enumerate(bodies, 1):
        got = r.requests(ID(n))
        what = f"{fmt}: value {values[n - 1][:12]!r} of {len(values[n - 1])} bytes"
        check(len(got) == 1, f"{what}: {len(got)} requests, expected 1")
        check(got[0].raw_body == body, f"{what}: body {(got[0].raw_body or b'')[:20]!r} of {len(got[0].raw_body or b'')} bytes, expected {len(body)}")
        check(got[0].all("Content-Length") == [str(len(body))], f"{what}: Content-Length {got[0].all('Content-Length')}, expected {len(body)}")
        check(not got[0].all("Transfer-Encoding"), f"{what}: Transfer-Encoding {got[0].all('Transfer-Encoding')}")
        check(not got[0].all("Expect"), f"{what}: Expect {got[0].all('Expect')}")
    check(not k.dlq(), f"{fmt}: {len(k.dlq())} records in the DLQ")


def run_bytes(k):
    exact(k, "bytes", VALUES, VALUES)


def run_string(k):
    exact(k, "string", VALUES, VALUES)


def run_json(k):
    """A quoted payload is unquoted once; \\u0000 in it becomes a zero byte. Anything else stays as it is written."""
    values = (rb'"a\u0000b"', b'"{\\"n\\": 1.50}"', b' {"b":1.50,\n"a" : [] } ', rb'{"n":"\u0000"}')
    bodies = (b"a\0b", b'{"n": 1.50}', values[2], values[3])
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url, source={"format": "json"})
    k.produce(t, [E(n, value=v) for n, v in enumerate(values, 1)], expect={n: (ID(n + 1), body) for n, body in enumerate(bodies)})
    k.wait_committed(t, len(values), 20)
    for n, body in enumerate(bodies, 1):
        check(r.bodies(ID(n)) == [body], f"json: value {values[n - 1]!r}: bodies {r.bodies(ID(n))}, expected {body!r}")


def run_not_json(k):
    """A byte order mark is not JSON: no guess, but the DLQ."""
    t = k.topic()
    r = k.receiver()
    k.started(t, r.url, source={"format": "json"})
    k.produce(t, [E(1, value=b"\xef\xbb\xbf{}"), E(2, value=b'{"n":1} x'), E(3, value=b"{\"n\":'1'}"), E(4)])
    k.wait_committed(t, 4, 20)
    reasons = {d.text("id"): d.text("outbox.dlq.reason") for d in k.dlq()}
    check(reasons == {ID(n): "json-syntax" for n in (1, 2, 3)}, f"reasons {sorted(reasons.values())}, expected json-syntax three times")
    check([q.key for q in r.requests()] == [ID(4)], f"{len(r.requests())} requests, expected one for the good event")

TITLE = "hostile Avro goes to the DLQ without growing the program; healthy events flow"
TIME = 90
import json, struct
from acceptance.api import *

MB = 1 << 20
ROUNDS = 1000                           # of each of BAD
SCHEMAS = {
    7: {"type": "record", "name": "E", "fields": [{"name": "id", "type": "string"}, {"name": "n", "type": "long"}]},
    8: ["null", "string"],
    9: {"type": "array", "items": "null"},
    10: {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]},
    11: {"type": "record", "name": "M", "fields": [{"name": "m", "type": {"type": "map", "values": "bytes"}}]},
}
DEEP = 12                               # a schema that is itself 10,000 levels deep


def number(n):
    """Avro's long."""
    n, out = n << 1 ^ n >> 63, b""
    while n > 0x7F:
        out, n = out + bytes([n & 0x7F | 0x80]), n >> 7
    return out + bytes([n])


def framed(ident, data):
    return b"\0" + struct.pack(">I", ident) + data


BAD = {
    "length 2^31-1": framed(7, b"\xfe\xff\xff\xff\x0f\x41"),
    "length 2^62": framed(7, number(1 << 62) + b"A"),
    "negative length": framed(7, b"\x01"),
    "ten bytes ff": framed(7, b"\xff" * 10),
    "cut off": framed(7, b"\x02"),
    "nothing at all": framed(7, b""),
    "one byte more": framed(7, b"\x02\x31\x02\x00"),
    "index of no branch": framed(8, b"\x0a"),
    "negative index": framed(8, b"\x01"),
    "2^40 nulls": framed(9, number(1 << 40) + b"\0"),
    "2^40 nulls, sized": framed(9, number(-(1 << 40)) + number(0) + b"\0"),
    "least count": framed(9, number(-(1 << 63)) + number(0) + b"\0"),
    "10,000 deep": framed(10, b"\x02" * 10000 + b"\0"),
    "cut off deep inside": framed(10, b"\x02" * 30),
    "map without its value": framed(11, number(1) + b"\x02k" + number(1 << 30)),
    "schema too deep": framed(DEEP, b"\x02\x31"),
}


def good(n):
    """Event n: record E, which takes the way through avro-c."""
    return E(n, value=framed(7, b"\x02\x31" + number(n))), (ID(n), f'{{"id":"1","n":{n}}}'.encode())


def send(k, t, start, rounds):
    """All of BAD so often, a healthy event before every round. The number of the next event, and those that are healthy."""
    recs, want, healthy = [], {}, []
    for _ in range(rounds):
        rec, body = good(start)
        healthy.append(ID(start))
        want[len(recs)] = body
        recs += [rec] + [E(start + 1 + n, value=v) for n, v in enumerate(BAD.values())]
        start += 1 + len(BAD)
    k.produce(t, recs, expect=want)
    return start, healthy, recs[-1].offset + 1


def run(k):
    schemas = {i: json.dumps(s) for i, s in SCHEMAS.items()}
    schemas[DEEP] = '{"type":"array","items":' * 10000 + '"null"' + "}" * 10000
    t = k.topic()
    r = k.receiver()
    g = k.registry(schemas)
    conf = k.conf(t, r.url, source={"format": "avro", "avro_payload": "json"}, registry={"url": [g.url]},
                  limits={"buffer_bytes": 2 * MB}, log={"level": "error", "format": "logfmt"})
    # what waits to be decoded is no leak
    conf["kafka"]["properties"].append("consumer.queued.max.messages.kbytes=1024")
    b = k.bridge(conf)
    k.must_start(b)
    n, healthy, end = send(k, t, 1, 20)
    k.wait_committed(t, end, 30)
    before = b.rss()
    n, more, end = send(k, t, n, ROUNDS)
    k.wait_committed(t, end, 60)
    grown = b.rss(peak=True) - before
    check(b.alive and b.get("/readyz")[0] == 200, "not ready because of bad input")
    for key in healthy + more:
        check(len(r.ok(key)) == 1, f"the healthy event {key} was delivered {len(r.ok(key))} times")
    check(len(r.requests()) == len(healthy + more), f"{len(r.requests())} requests, expected {len(healthy + more)}: bad input was sent")
    names_ = list(BAD)
    copies = k.dlq()
    check(len(copies) == (20 + ROUNDS) * len(BAD), f"{len(copies)} records in the DLQ, expected {(20 + ROUNDS) * len(BAD)}")
    for d in copies:
        name = names_[int(d.text("outbox.dlq.offset")) % (1 + len(BAD)) - 1]
        got = d.text("outbox.dlq.reason"), d.text("outbox.dlq.attempts")
        check(got == ("avro-decode", "0"), f"{name}: reason and attempts {got}, expected avro-decode and 0")
    asked = sorted(int(re.search(r"\d+$", path.split("?")[0]).group()) for path in g.asked)
    check(asked == sorted(schemas), f"the registry was asked for {short(asked)}, expected each schema once")
    check(grown < 20 * MB, f"the peak is {grown / MB:.1f} MB above the start, allowed 20")
    k.figure = f"{len(copies)} hostile values, peak {grown / MB:.1f} MB above {before / MB:.0f} MB"

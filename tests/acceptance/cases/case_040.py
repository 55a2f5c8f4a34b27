TITLE = "replies that never end, drip, are huge or are cut off"
TIME = 75
import gzip
from acceptance.api import *

KINDS = {
    1: ("never answers", Reply(hang=True)),
    2: ("one header byte a second", Reply(200, drip=1.0)),
    3: ("endless chunks", Reply(200, (("Transfer-Encoding", "chunked"),), endless=b"1\r\nx\r\n", every=0.5)),
    4: ("10 GiB body", Reply(200, (("Content-Length", "10737418240"),), endless=b"x" * 65536)),
    5: ("gzip bomb", None),
    6: ("10 MB of headers", None),
    7: ("Content-Length 5, 3 bytes, close", Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", close=True)),
}
TIMEOUT = 1.5


def run(k):
    t = k.topic()
    r = k.receiver()
    bomb = gzip.compress(b"\0" * (64 << 20), 9) * 8
    for n, (_, reply) in KINDS.items():
        if n == 5:
            reply = Reply(200, (("Content-Encoding", "gzip"),), bomb)
        if n == 6:
            reply = Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 1000) for i in range(10000)) + b"Content-Length: 0\r\n\r\n")
        r.on(ID(n), reply)
    b = k.started(t, r.url, delivery={"timeout_ms": int(TIMEOUT * 1000)}, breaker={"failures": 0, "after": 0})
    base = k.warm(t)
    rss = b.rss(peak=True)
    k.produce(t, [E(n) for n in KINDS] + [E(n) for n in range(10, 40)])
    t0 = now()
    until(lambda: len({q.key for q in r.ok()} & {ID(n) for n in range(10, 40)}) == 30, 20,
          lambda: f"healthy events are stuck: {len({q.key for q in r.ok()} & {ID(n) for n in range(10, 40)})} of 30 after 20 s")
    healthy = now() - t0
    k.wait_committed(t, base + 7 + 30, 40)
    grown = b.rss(peak=True) - rss
    for q in r.requests():
        n = int(q.key[-12:])
        if n in KINDS and q.t_end is not None and q.t_body is not None:
            check(q.t_end - q.t_body <= TIMEOUT + 1.6, f"{KINDS[n][0]}: the connection was held {q.t_end - q.t_body:.1f} s with a timeout of {TIMEOUT} s")
    for n in (3, 4, 5, 7):
        got = len(r.requests(ID(n)))
        check(got == 1, f"{KINDS[n][0]}: {got} requests; the 2xx status decides, so 1")
    dead = {d.text("id"): d for d in k.dlq()}
    for n in (1, 2):
        got = len(r.requests(ID(n)))
        check(got == 5 and ID(n) in dead, f"{KINDS[n][0]}: {got} requests, {'' if ID(n) in dead else 'not '}in the DLQ; expected 5 and the DLQ")
    check(set(dead) <= {ID(n) for n in (1, 2, 6)}, f"unexpected in the DLQ: {sorted(set(dead) - {ID(n) for n in (1, 2, 6)})}")
    check(grown < 16 << 20, f"memory grew by {grown >> 20} MB")
    check(not [q for q in r.requests() if q.get("Accept-Encoding", "identity") not in ("identity", "")], "a compressed reply is asked for")
    k.figure = f"healthy events done after {healthy:.1f} s, memory +{max(0, grown) >> 10} KB"

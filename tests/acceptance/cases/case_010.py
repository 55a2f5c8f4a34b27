TITLE = "a redirect is a failure and never followed"
from acceptance.api import *


def run(k):
    t = k.topic()
    r = k.receiver()
    codes = {1: 301, 2: 302, 3: 303, 4: 307, 5: 308}
    for n, code in codes.items():
        r.on(ID(n), Reply(code, (("Location", "/login?token=S3cr3tTok"),)))
    r.default = lambda q: Reply(200, (("Content-Type", "text/html"),), b"<html>login</html>")
    k.secrets.append("S3cr3tTok")
    b = k.started(t, r.url)
    k.produce(t, [E(n) for n in codes])
    k.wait_committed(t, 5, 25)
    bad = [q for q in r.requests() if q.method != "POST" or not q.path.startswith("/hook")]
    check(not bad, f"{bad[0].method} {bad[0].path} was requested" if bad else "")
    for d in k.dlq():
        n = int(d.text("id")[-2:])
        check(d.text("outbox.dlq.http.status") == str(codes[n]), f"outbox.dlq.http.status is {d.text('outbox.dlq.http.status')}, expected {codes[n]}")
        check(d.text("outbox.dlq.attempts") == "5", f"outbox.dlq.attempts is {d.text('outbox.dlq.attempts')}, expected 5")
        check(d.text("outbox.dlq.reason") == "http-retries-exhausted", f"reason {d.text('outbox.dlq.reason')}")
    for n in codes:
        got = len(r.requests(ID(n)))
        check(got == 5, f"{got} requests for status {codes[n]}, expected 5")
    check(len(k.dlq()) == 5, f"{len(k.dlq())} records in the DLQ, expected 5")

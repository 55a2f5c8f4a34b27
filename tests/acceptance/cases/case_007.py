TITLE = "every kind of transport failure ends in the DLQ with its own reason"
TIME = 60
from acceptance.api import *
from acceptance import ports

# event type -> (libcurl's codes for it, word for messages)
KINDS = {
    "Refused": ({7}, "connection refused"),
    "Unresolvable": ({6}, "host that does not resolve"),
    "Mismatch": ({60}, "certificate of another host"),
    "Reset": ({52, 55, 56}, "RST after the request"),
    "Timeout": ({28}, "read time-out"),
}


def route(kind, url):
    return {"name": kind.lower(), "match": {"event_type": kind}, "url": url}


def typed(n, kind):
    return E(n, headers=[("id", ID(n).encode()), ("eventType", kind.encode())])


def run(k):
    t = k.topic()
    r, tls = k.receiver(), k.receiver(tls="other")
    numbers = {kind: n for n, kind in enumerate(KINDS, 1)}
    r.on(ID(numbers["Reset"]), Reply(rst="body"))
    r.on(ID(numbers["Timeout"]), Reply(hang=True))
    closed = ports.reserve(ports.RECEIVER)
    b = k.started(t, r.url, breaker={"failures": 0, "after": 0}, delivery={"timeout_ms": 1000, "ca_file": ca_file()}, routes=[
        route("Refused", f"http://127.0.0.1:{closed}/hook"),
        route("Unresolvable", "http://receiver.invalid/hook"),
        route("Mismatch", tls.url),
    ])
    k.produce(t, [typed(n, kind) for kind, n in numbers.items()] + [E(6)])
    k.wait_dlq(5, 40)
    k.wait_committed(t, 6)
    codes = {}
    for d in k.dlq():
        kind = d.text("eventType")
        codes[kind] = d.text("outbox.dlq.curl.code")
        want, words = KINDS[kind]
        check(codes[kind] and int(codes[kind]) in want, f"{words}: outbox.dlq.curl.code {codes[kind]}, expected {sorted(want)}")
        check(d.text("outbox.dlq.reason") == "http-retries-exhausted", f"{words}: reason {d.text('outbox.dlq.reason')}")
        check(d.text("outbox.dlq.attempts") == "5", f"{words}: attempts {d.text('outbox.dlq.attempts')}, expected 5")
        check(d.header("outbox.dlq.http.status") is None, f"{words}: an HTTP status {d.text('outbox.dlq.http.status')}, but none was received")
        check(d.text("outbox.dlq.detail"), f"{words}: outbox.dlq.detail is missing or empty")
    check(codes.keys() == KINDS.keys(), f"dead letters for {sorted(codes)}, expected one of each kind")
    # what fails on a connection that was used before is sent again within its attempt, once; a time-out never is
    again = b.metric("outbox_bridge_resends_total")
    for kind, want in (("Reset", 5 + again), ("Timeout", 5)):
        got = len(r.requests(ID(numbers[kind])))
        check(got == want, f"{KINDS[kind][1]}: {got} requests, expected {want:.0f}, {again:.0f} resent")
    check(again <= 5, f"{again:.0f} requests were resent in 5 attempts")
    check(not tls.requests(), "a request was sent to a host whose certificate names another")
    check(len(r.ok(ID(6))) == 1, "the healthy event was not delivered once")
    k.figure = "curl codes " + ", ".join(codes[kind] for kind in KINDS)

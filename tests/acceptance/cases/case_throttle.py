TITLE = "a receiver that takes two requests at once, and says so in whatever clothes"
TIME = 90
import re
from acceptance.api import *

LIMIT, WORK = 2, 0.02          # requests at once; seconds for one that is taken
SAYS = b'{"error":"Concurrent request limit exceeded","retry":true}'
MATCH = "concurrent request limit( was)? exceeded"
CLOSED = {"failures": 20, "after": 100}


class Limited:
    """Takes LIMIT requests at once and answers the rest with `reply`; knows what it really took."""

    def __init__(self, k, reply):
        self.r, self.reply = k.receiver(), reply
        self.lock = threading.Lock()
        self.busy = []                          # until when, each
        self.taken, self.refused = [], []
        self.r.default = self.answer

    def answer(self, q):
        with self.lock:
            self.busy = [t for t in self.busy if t > now()]
            if len(self.busy) >= LIMIT:
                self.refused.append(q)
                return self.reply
            self.busy.append(now() + WORK)
            self.taken.append(q)
            return Reply(200, delay=WORK)


def limited(k, reply, n, most):
    """n events of n keys against a receiver that refuses with `reply`; at most `most` refusals for each success."""
    t = k.topic()
    l = Limited(k, reply)
    b = k.started(t, l.r.url, retry={"base_ms": 10, "throttle_match": MATCH}, breaker=CLOSED)
    k.produce(t, [E(i) for i in range(1, n + 1)])
    k.wait_committed(t, n, 25)
    taken = sorted(q.key for q in l.taken)
    lost = {ID(i) for i in range(1, n + 1)} - set(taken)
    check(not lost, f"{len(lost)} events are committed that the receiver never took")
    check(len(taken) == n, f"{len(taken)} requests were taken for {n} events")
    check(not k.dlq(), f"{len(k.dlq())} events in the DLQ, expected none")
    check(l.refused, "nothing was refused: the limit was not met")
    check(len(l.refused) <= most * n, f"{len(l.refused)} of {len(l.refused) + n} requests were refused; the window does not adapt")
    said = b.metrics().get('outbox_bridge_attempts_total{outcome="throttled"}', 0)
    check(said == len(l.refused), f"attempts_total says throttled {said} times, the receiver refused {len(l.refused)}")
    check(b.metric("outbox_bridge_delivered_total") == n, f"delivered_total is {b.metric('outbox_bridge_delivered_total')}, expected {n}")
    check("the answer's text matches throttle_match" in b.log(), "the log does not say why an answer is no success")
    check("target closed" not in b.log(), "the target was closed")
    k.figure = f"{len(l.refused)} refused for {n} taken"


def run_200(k):
    limited(k, Reply(200, body=SAYS), 300, 0.5)


def run_403(k):
    limited(k, Reply(403, body=SAYS), 300, 0.5)


def run_503(k):
    limited(k, Reply(503, body=SAYS), 300, 0.5)


def run_429(k):
    limited(k, Reply(429, body=SAYS), 300, 0.5)


def run_400(k):
    """A status that would be the DLQ at once."""
    limited(k, Reply(400, body=SAYS), 100, 0.5)


def run_503_later(k):
    limited(k, Reply(503, (("Retry-After", "1"),), SAYS), 30, 0.5)


def run_200_chunked(k):
    """The text behind 60 KB of others, in two chunks that part it."""
    pad = b"." * 60000
    first, second = pad + SAYS[:30], SAYS[30:]
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"".join(b"%x\r\n%s\r\n" % (len(c), c) for c in (first, second, b""))
    limited(k, Reply(200, raw=raw), 60, 0.5)


def run_off(k):
    """Without the expression the status decides, as ever."""
    t = k.topic()
    l = Limited(k, Reply(200, body=SAYS))
    k.started(t, l.r.url)
    k.produce(t, [E(i) for i in range(1, 61)])
    k.wait_committed(t, 60, 20)
    check(len(l.r.requests()) == 60, f"{len(l.r.requests())} requests, expected 60")
    check(l.refused, "nothing was refused: the limit was not met")


def run_cut_off(k):
    """A 200 whose body is cut off: what came of it counts, and where that says nothing the status decides."""
    t = k.topic()
    r = k.receiver()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"
    r.on(ID(1), Reply(raw=head + SAYS, cut=len(head + SAYS)), Reply(200))
    r.on(ID(2), Reply(raw=head + SAYS, cut=len(head) + 20), Reply(200))
    k.started(t, r.url, retry={"base_ms": 10, "throttle_match": MATCH})
    k.produce(t, [E(1), E(2)])
    k.wait_committed(t, 2, 15)
    sent = [len(r.requests(ID(n))) for n in (1, 2)]
    check(sent == [2, 1], f"{sent} requests for a body cut behind and before the text; expected [2, 1]")


def run_always(k):
    """An event that is always refused in words ends in the DLQ after at most ten requests, and holds up nobody."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(200, body=SAYS))
    k.started(t, r.url, retry={"base_ms": 10, "throttle_match": MATCH})
    k.produce(t, [E(n) for n in range(1, 41)])
    k.wait_committed(t, 40, 20)
    d, = k.dlq()
    check(d.text("id") == ID(1), "another event is in the DLQ")
    check(d.text("outbox.dlq.reason") == "http-retries-exhausted", f"reason {d.text('outbox.dlq.reason')}")
    check(d.text("outbox.dlq.attempts") == "5", f"attempts {d.text('outbox.dlq.attempts')}")
    check(d.text("outbox.dlq.http.status") == "200", f"http.status {d.text('outbox.dlq.http.status')}")
    check(5 <= len(r.requests(ID(1))) <= 10, f"{len(r.requests(ID(1)))} requests, expected 5 to 10")


def run_fault(k):
    """An expression that does not compile ends the start, with its place."""
    t = k.topic()
    b = k.bridge(k.conf(t, "http://127.0.0.1:1/", retry={"throttle_match": "limit ("}), watch=False)
    b.start(ready=0)
    check(b.wait(10) == 78, f"exit status {b.proc.returncode}, expected 78")
    check(re.search(r"\.conf:\d+: retry\.throttle_match: .*limit \(.*Unmatched \( or", b.output()), f"the message is {b.output().strip()[-200:]}")

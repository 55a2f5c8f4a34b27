TITLE = "each status as the table says: once, or five times, then the DLQ"
TIME = 75
from acceptance.api import *

NEVER = (400, 402, 405, 406, 410, 411, 413, 414, 415, 417, 422, 426, 428, 431, 451, 501, 505, 506, 508, 510, 511)
AGAIN = (300, 304, 401, 403, 404, 407, 408, 409, 418, 421, 423, 424, 425, 429, 499, 500, 502, 503, 504, 507, 520, 529, 599, 600, 999)
# an answer of this status halves what the target may have open, and until that is 1 it is not counted as an attempt
THROTTLED = 429
OPEN = {"failures": 0, "after": 0}


def run(k):
    t = k.topic()
    r = k.receiver()
    codes = dict(enumerate(NEVER + AGAIN, 1))
    for n, code in codes.items():
        r.on(ID(n), Reply(code))
    k.started(t, r.url, retry={"base_ms": 10}, breaker=OPEN)
    recs = [rec for n in codes for rec in (E(n), E(1000 + n))]
    k.produce(t, recs)
    k.wait_committed(t, len(recs), 45)
    wrong = []
    dead = {d.text("id"): d for d in k.dlq()}
    for n, code in codes.items():
        d = dead.get(ID(n))
        if d is None:
            wrong.append(f"{code}: not in the DLQ")
            continue
        sent, attempts = len(r.requests(ID(n))), d.text("outbox.dlq.attempts")
        least = 1 if code in NEVER else 5
        most = 10 if code == THROTTLED else least
        if not least <= sent <= most:
            wrong.append(f"{code}: {sent} requests, expected {least}")
        if attempts != str(least):
            wrong.append(f"{code}: outbox.dlq.attempts {attempts}, expected {least}")
        if d.text("outbox.dlq.http.status") != str(code):
            wrong.append(f"{code}: outbox.dlq.http.status {d.text('outbox.dlq.http.status')}")
        reason = "http-gone" if code == 410 else "http-permanent" if code in NEVER else "http-retries-exhausted"
        if d.text("outbox.dlq.reason") != reason:
            wrong.append(f"{code}: reason {d.text('outbox.dlq.reason')}, expected {reason}")
    check(not wrong, f"{len(wrong)} differ: " + "; ".join(wrong[:6]))
    check(len(dead) == len(codes), f"{len(dead)} records in the DLQ, expected {len(codes)}")
    missing = [n for n in codes if len(r.ok(ID(1000 + n))) != 1]
    check(not missing, f"{len(missing)} healthy events were not delivered once")
    check(not [q for q in r.requests() if q.method != "POST"], "a request that is not a POST")


def run_early(k):
    """413 while the body is still being sent, then RST: reported as 413."""
    large = {"max.message.bytes": "9000000"}
    t = k.topic(config=large, dlq_config=large)
    r = k.receiver()
    r.on(ID(1), Reply(413, early=True))
    k.started(t, r.url, breaker=OPEN)
    k.produce(t, [E(1, value=b"x" * 8000000), E(2)])
    k.wait_committed(t, 2, 20)
    d, = k.dlq()
    check(d.text("outbox.dlq.http.status") == "413", f"http.status {d.text('outbox.dlq.http.status')}, curl.code {d.text('outbox.dlq.curl.code')}, expected 413")
    check(d.text("outbox.dlq.reason") == "http-permanent", f"reason {d.text('outbox.dlq.reason')}")
    check(len(r.requests(ID(1))) == 1, f"{len(r.requests(ID(1)))} requests, expected 1")
    check(len(r.ok(ID(2))) == 1, "the event behind it was not delivered once")


def run_changed(k):
    """retry_on, drop_on and success_on of the configuration win over the table."""
    t = k.topic()
    r = k.receiver()
    for n, code in ((1, 422), (2, 503), (3, 409)):
        r.on(ID(n), Reply(code))
    k.started(t, r.url, breaker=OPEN, retry={"base_ms": 10, "retry_on": ["420-422"], "drop_on": ["5xx"], "success_on": ["409"]})
    k.produce(t, [E(n) for n in (1, 2, 3)], free=True)      # a 409 that counts as delivered is no 2xx
    k.wait_committed(t, 3, 20)
    sent = [len(r.requests(ID(n))) for n in (1, 2, 3)]
    check(sent == [5, 1, 1], f"{sent} requests for retry_on, drop_on, success_on; expected [5, 1, 1]")
    dead = {d.text("id"): d.text("outbox.dlq.reason") for d in k.dlq()}
    check(dead == {ID(1): "http-retries-exhausted", ID(2): "http-permanent"}, f"in the DLQ: {sorted(dead.values())}")

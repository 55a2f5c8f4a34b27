TITLE = "429 and 503 with Retry-After in all its forms"
TIME = 60
from email.utils import formatdate
from datetime import datetime, timezone
from acceptance.api import *

CAP, STEP = 4, 0.5              # retry_after_max_ms; the first wait of the ladder
at = lambda unix: datetime.fromtimestamp(unix, timezone.utc)
imf = lambda unix: formatdate(unix, usegmt=True)
rfc850 = lambda unix: at(unix).strftime("%A, %d-%b-%y %H:%M:%S GMT")
asctime = lambda unix: at(unix).strftime("%a %b ") + at(unix).strftime("%d").lstrip("0").rjust(2) + at(unix).strftime(" %H:%M:%S %Y")

# what is said (from the present time), and how long it asks for: None is nothing, the ladder
FORMS = {
    1: ("2", lambda t: ["2"], lambda t: 2),
    2: ("IMF date", lambda t: [imf(int(t) + 3)], lambda t: int(t) + 3 - t),
    3: ("RFC 850 date", lambda t: [rfc850(int(t) + 3)], lambda t: int(t) + 3 - t),
    4: ("asctime date", lambda t: [asctime(int(t) + 3)], lambda t: int(t) + 3 - t),
    5: ("past date", lambda t: [imf(t - 60)], None),
    6: ("0", lambda t: ["0"], None),
    7: ("-1", lambda t: ["-1"], None),
    8: ("86400", lambda t: ["86400"], lambda t: CAP),
    9: ("abc", lambda t: ["abc"], None),
    10: ("1e9", lambda t: ["1e9"], None),
    11: ("99999999999999999999", lambda t: ["99999999999999999999"], None),
    12: ("two that differ", lambda t: ["2", "3"], None),
    13: ("two that agree", lambda t: ["2", "2"], lambda t: 2),
    14: ("1.5", lambda t: ["1.5"], None),
    15: ("date, clock an hour ahead", lambda t: [imf(int(t) + 3602)], lambda t: 2),
    16: ("date an hour ahead, no Date", lambda t: [imf(int(t) + 3600)], lambda t: CAP),
}


def run(k):
    """Each form at a receiver of its own, half of them with 503."""
    t = k.topic()
    asked, routes = {}, []
    for n, (what, said, wait) in FORMS.items():
        r = k.receiver()

        def first(q, n=n, said=said, wait=wait):
            unix = time.time()
            asked[n] = wait(unix) if wait else None
            date = (("Date", imf(int(unix) + 3600)),) if n == 15 else ()
            return Reply(429 if n % 2 else 503, date + tuple(("Retry-After", v) for v in said(unix)))
        r.on(ID(n), first, Reply(200))
        routes.append({"name": f"r{n}", "match": {"event_type": f"t{n}"}, "url": r.url})
    conf = k.conf(t, "http://127.0.0.1:1/", retry={"base_ms": int(STEP * 500), "retry_after_max_ms": CAP * 1000}, routes=routes)
    b = k.bridge(conf)
    k.must_start(b)
    k.produce(t, [E(n, headers=[("id", ID(n).encode()), ("eventType", b"t%d" % n)]) for n in FORMS])
    k.wait_committed(t, len(FORMS), 30)
    wrong = []
    for n, (what, _, _) in FORMS.items():
        got = k.requests(ID(n))
        if len(got) != 2:
            wrong.append(f"{what}: {len(got)} requests")
            continue
        gap, least = got[1].t_head - got[0].t_status, max(asked[n] or 0, 0.9 * STEP)
        if gap < least - 0.02:
            wrong.append(f"{what}: again after {gap:.2f} s, not before {least:.2f} s")
        if gap > max(least, 1.1 * STEP) + 1:
            wrong.append(f"{what}: again after {gap:.2f} s, expected {least:.2f} s")
    check(not wrong, "; ".join(wrong[:6]))
    check(not k.dlq(), "a record in the DLQ")


def run_in_words(k):
    """Retry-After beside the text of a limit, whatever the status: the event waits as it does after 429."""
    t = k.topic()
    codes = dict(enumerate((200, 202, 400, 403, 429, 500, 503), 1))
    routes = []
    for n, code in codes.items():
        r = k.receiver()
        r.on(ID(n), Reply(code, (("Retry-After", "2"),), b"Concurrent request limit exceeded"), Reply(200))
        routes.append({"name": f"r{n}", "match": {"event_type": f"t{n}"}, "url": r.url})
    k.must_start(k.bridge(k.conf(t, "http://127.0.0.1:1/", retry={"base_ms": 10, "throttle_match": "request limit"}, routes=routes)))
    k.produce(t, [E(n, headers=[("id", ID(n).encode()), ("eventType", b"t%d" % n)]) for n in codes])
    k.wait_committed(t, len(codes), 20)
    wrong = []
    for n, code in codes.items():
        got = k.requests(ID(n))
        gap = got[1].t_head - got[0].t_status if len(got) == 2 else None
        if gap is None or not 1.98 <= gap <= 3:
            wrong.append(f"{code}: {len(got)} requests, again after {gap} s")
    check(not wrong, "; ".join(wrong))
    check(not k.dlq(), "a record in the DLQ")


def run_held(k):
    """A held route sends one probe at a time; another route at the same target goes on."""
    t = k.topic()
    r = k.receiver()
    hold = {"until": None}

    def answer(q):
        hold["until"] = hold["until"] or now() + 4
        return Reply(429, (("Retry-After", "20"),), delay=0.2) if now() < hold["until"] else Reply(200)
    free = lambda n: E(n, headers=[("id", ID(n).encode()), ("eventType", b"free")])
    for n in range(1, 42):
        r.on(ID(n), answer)
    conf = k.conf(t, r.url, breaker={"probe_max_ms": 1000}, retry={"retry_after_max_ms": 6000},
                  routes=[{"name": "free", "match": {"event_type": "free"}, "url": r.url}])
    k.must_start(k.bridge(conf))
    k.produce(t, E(1))
    until(lambda: r.requests(ID(1)) and r.requests(ID(1))[0].t_end, 10, "the first event is not sent")
    k.produce(t, [E(n) for n in range(2, 42)] + [free(n) for n in range(100, 110)])
    until(lambda: len({q.key for q in r.ok()} & {ID(n) for n in range(100, 110)}) == 10, 3, "another route at the same target waits too")
    k.wait_committed(t, 51, 25)
    held = [q for q in r.requests() if q.status == 429]
    gaps = [b.t_head - a.t_end for a, b in zip(held, held[1:])]
    check(all(g > 0.9 for g in gaps), f"requests to a held route follow each other after {', '.join(f'{g:.2f}' for g in gaps)} s, expected one probe a second")
    check(len(held) <= 5, f"{len(held)} requests to a held route in 4 s, expected one probe a second")
    check(len(held) >= 3, f"{len(held)} requests to a held route in 4 s: nothing probes")
    check(not k.dlq(), "a record in the DLQ")
    k.figure = f"{len(held) - 1} probes in 4 s"

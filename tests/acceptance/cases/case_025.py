TITLE = "processed but the answer is lost: the same request again, once"
from acceptance.api import *


def run(k):
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(delay=2.5), Reply(200))
    b = k.started(t, r.url, delivery={"timeout_ms": 1000})
    k.produce(t, E(1))
    k.wait_committed(t, 1)
    time.sleep(1)
    got = r.requests(ID(1))
    check(len(got) == 2, f"{len(got)} requests, expected 2")
    check(len({(q.get('Idempotency-Key'), q.get('X-Idempotency-Key'), q.raw_body) for q in got}) == 1, "key or body differs between the two")
    check(got[0].get("X-Idempotency-Key") == ID(1), f"X-Idempotency-Key is {got[0].get('X-Idempotency-Key')!r}")
    check(not k.dlq(), "a record in the DLQ")
    gap = got[1].t_head - got[0].t_head
    check(1.1 <= gap <= 2.6, f"second attempt after {gap:.2f} s, expected timeout 1 s + 0.2 s")

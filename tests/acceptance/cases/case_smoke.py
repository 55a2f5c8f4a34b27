TITLE = "200 events over 4 partitions with mixed failures, one kill -9"
TIME = 60
from acceptance.api import *


def run(k):
    t = k.topic("ob", partitions=4)
    r = k.receiver()
    recs = []
    for n in range(200):
        h = [("id", ID(n).encode()), ("eventType", b"OrderCreated")]
        value = json.dumps({"n": n, "d": "1.50", "t": "Ł€😀"}, ensure_ascii=False, indent=1 if n % 3 else None).encode()
        recs.append(E(n, key=f"order-{n % 40}".encode(), value=value, headers=h, partition=n % 40 % 4))
    for n in range(0, 200, 7):
        r.on(ID(n), Reply(503), Reply(200))
    for n in range(3, 200, 29):
        r.on(ID(n), Reply(400))
    r.on(ID(5), Reply(hang=True), Reply(200))
    r.on(ID(6), Reply(rst="body"), Reply(200))
    r.on(ID(11), Reply(503))
    r.on(ID(13), Reply(302, (("Location", "/login"),)), Reply(200))
    r.on(ID(17), Reply(silent=True), Reply(200))
    r.on(ID(50), Reply(429, (("Retry-After", "1"),)), Reply(200))
    r.default = Reply(delay=0.03)
    expect_dlq = {ID(n) for n in range(3, 200, 29)} | {ID(11)}
    b = k.bridge(k.conf(t, r.url, delivery={"timeout_ms": 1500}))
    k.must_start(b)
    t0 = now()
    k.produce(t, recs)
    until(lambda: len(r.ok()) >= 60, 20, lambda: f"only {len(r.ok())} deliveries after 20 s")
    b.kill()
    k.must_start(b)
    for p in range(4):
        k.wait_committed(t, k.kafka.ends(t, 4)[p], 25, p)
    took = now() - t0
    dead = {d.text("outbox.dlq.idempotency.key") or d.text("id") for d in k.dlq()}
    check(dead == expect_dlq, f"DLQ holds {len(dead)} events, expected {len(expect_dlq)}: {sorted(dead ^ expect_dlq)[:3]}")
    ok = {q.key for q in r.ok()}
    missing = {ID(n) for n in range(200)} - ok - expect_dlq
    check(not missing, f"{len(missing)} events were neither delivered nor dead-lettered")
    check(not [q for q in r.requests() if q.method != "POST"], "a request that is not a POST")
    check(b.stop() == 0, "exit status at SIGTERM is not 0")
    extra = len(r.ok()) - len(ok)
    k.figure = f"{len(ok)} delivered, {len(dead)} in the DLQ, {extra} delivered twice after kill -9, at most {k.world.max_open} connections, {took:.1f} s"

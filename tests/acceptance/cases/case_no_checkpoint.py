TITLE = "without a checkpoint everything above an open event is sent again after kill -9"
TIME = 60
from acceptance.api import *


def run(k):
    """What the checkpoint is good for; beside it case checkpoint."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(0), Reply(503), Reply(200))
    b = k.bridge(k.conf(t, r.url, kafka={"instance": k.tag, "checkpoint_bytes": 0}, retry={"base_ms": 6000}))
    k.must_start(b)
    k.produce(t, [E(n) for n in range(1000)])
    until(lambda: len(r.ok()) == 999, 40, lambda: f"{len(r.ok())} of 999 after 40 s")
    b.kill()
    check(k.kafka.committed(k.group, t)[0] == (0, b""), f"committed: {k.kafka.committed(k.group, t)[0]}, expected offset 0 without metadata")
    k.must_start(b)
    k.wait_committed(t, 1000, 50)
    again = len({q.key for q in r.requests() if q.attempt > 1}) - 1
    check(again == 999, f"{again} settled events were sent again without a checkpoint, expected all 999")
    k.figure = f"without: {again} of 999"

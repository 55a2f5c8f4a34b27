TITLE = "nothing is committed before the DLQ has acknowledged"
TIME = 160
from acceptance.api import *


def run_refused(k):
    """A real broker whose DLQ topic takes no record for a while."""
    t = k.topic()
    r = k.receiver()
    r.default = Reply(400)
    b = k.started(t, r.url)
    k.kafka.alter(t + ".dlq", max_message_bytes=100)
    time.sleep(1.5)                     # until the broker goes by it
    k.produce(t, [E(n) for n in range(1, 4)])
    until(lambda: len(r.requests()) >= 1, 10, "no event is sent within 10 s")
    end = now() + 6
    unready = False
    while now() < end:
        got = k.committed(t)
        check(got in (None, 0), f"offset {got} is committed while the DLQ refuses every record")
        check(b.alive, "the bridge ended while the DLQ refuses records; it must hold and go on when cured")
        unready = unready or b.get("/readyz")[0] != 200
        time.sleep(0.2)
    until(lambda: unready or b.get("/readyz")[0] != 200, 15, "/readyz is still 200 although the DLQ refuses records")
    k.kafka.alter(t + ".dlq", max_message_bytes=1048588)
    k.wait_dlq(3, 45)
    k.wait_committed(t, 3)
    until(lambda: b.get("/readyz")[0] == 200, 15, "/readyz stays red after the DLQ is cured")
    n = len(k.dlq())
    check(n == 3, f"{n} records in the DLQ for 3 events")


def run_timeouts(k):
    """The mock cluster answers every Produce with REQUEST_TIMED_OUT for a while."""
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    r.default = Reply(400)
    k.produce(t, E(1))
    m.push(0, 7, 100000)
    b = k.bridge(k.conf(t, r.url))
    b.start(ready=0)
    until(lambda: r.requests(), 20, lambda: "no event is sent within 20 s on the mock cluster (it knows no DescribeConfigs: that must not stop the start)"
          + ("" if b.alive else f"; the bridge ended with {b.proc.returncode}"))
    end = now() + 8
    while now() < end:
        got = k.committed(t)
        check(got in (None, 0), f"offset {got} is committed while every Produce times out")
        time.sleep(0.2)
    m.clear(0)
    k.wait_dlq(1, 45)
    k.wait_committed(t, 1)
    n = len(k.dlq())
    check(n == 1, f"{n} records in the DLQ for one event")


def run_queue_full(k):
    """1500 dead letters through a producer queue of 100."""
    t = k.topic()
    r = k.receiver()
    r.default = Reply(400)
    conf = k.conf(t, r.url, breaker={"after": 0})
    conf["kafka"]["properties"].append("queue.buffering.max.messages=100")
    b = k.bridge(conf)
    k.must_start(b)
    k.produce(t, [E(n) for n in range(1, 1501)])
    k.wait_committed(t, 1500, 45)
    n = len(k.dlq())
    check(n == 1500, f"{n} records in the DLQ for 1500 events")
    check(b.alive, "the bridge ended")

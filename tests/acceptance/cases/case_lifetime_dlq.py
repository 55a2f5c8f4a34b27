TITLE = "TERM ends in time while dead letters wait, and the next one stores them"
TIME = 60
import signal
from acceptance.api import *
from acceptance.cases.case_lifetime_receiver import conf, ended, once, twice


def run_refuses(k):
    """A dead letter waits for a DLQ that refuses it; its copy is made once, by the next one."""
    t = k.topic(dlq_config={"max.message.bytes": "100"})
    r = k.receiver()
    r.on(ID(0), Reply(400))
    k.produce(t, [E(n) for n in range(12)])
    b = k.bridge(conf(k, t, r.url))
    for end in (twice, lambda b: once(b, signal.SIGTERM)):
        k.must_start(b)
        until(lambda: "dlq_too_large" in b.get("/readyz")[1], 10, "no alarm dlq_too_large")
        end(b)
        check(k.committed(t) in (None, 0), "the event is committed although its dead letter is not stored")
        check(not k.dlq(), "a refused dead letter is in the DLQ")
    k.kafka.alter(t + ".dlq", max_message_bytes=100000)
    ended(k, t, b, 12 + 12 + 12)
    check(len(k.dlq()) == 1, f"{len(k.dlq())} copies in the DLQ, expected 1")


def run_gone(k):
    """The DLQ topic is deleted, then an event dies, then TERM."""
    t = k.topic()
    dlq = t + ".dlq"
    r = k.receiver()
    r.on(ID(0), Reply(400))
    b = k.bridge(conf(k, t, r.url))
    k.must_start(b)
    k.kafka.delete(dlq)
    k.produce(t, [E(n) for n in range(12)])
    until(lambda: len(r.requests()) == 12, 10, "not all events are sent")
    once(b, signal.SIGTERM)
    check(k.committed(t) in (None, 0), "the event is committed although there is no DLQ")
    k.dlq_topic(dlq)
    ended(k, t, b, 12 + 1)
    check(len(k.dlq()) == 1, f"{len(k.dlq())} copies in the DLQ, expected 1")

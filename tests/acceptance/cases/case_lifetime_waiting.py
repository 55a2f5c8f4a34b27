TITLE = "TERM and INT end in time while all events wait, and a second one at once"
TIME = 75
from acceptance.api import *
from acceptance.cases.case_lifetime_receiver import conf, lifetime


def run_back_off(k):
    """An event that waits 80 s for its second attempt."""
    t = k.topic()
    r, good = k.receiver(), k.receiver()
    r.on(ID(0), Reply(503))
    k.produce(t, [E(n) for n in range(12)])
    c = conf(k, t, r.url, retry={"base_ms": 40000, "jitter": 0.0})
    # the wait that the checkpoint holds is cut to the longest one that the next configuration allows
    lifetime(k, t, c, lambda b: len({q.key for q in r.ok()}) == 11 and b.metric("outbox_bridge_in_flight") == 0
             and b.metric("outbox_bridge_waiting") == 1, {"delivery": {"url": good.url}, "retry": {"base_ms": 100, "retry_after_max_ms": 1000, "max_delay_ms": 1000}}, 12, 12 + 12 + 1)


def run_closed(k):
    """A closed target: all wait for a probe that comes in a minute."""
    t = k.topic()
    r = k.receiver()
    r.default = Reply(503)
    k.produce(t, [E(n) for n in range(12)])
    good = k.receiver()
    c = conf(k, t, r.url, breaker={"failures": 4, "probe_ms": 60000, "probe_max_ms": 60000})
    lifetime(k, t, c, lambda b: b.metric("outbox_bridge_target_open") == 0 and b.metric("outbox_bridge_in_flight") == 0
             and b.metric("outbox_bridge_waiting") == 12 and 'msg="target closed"' in b.log(),
             {"delivery": {"url": good.url}}, 12, 3 * 8 + 12)

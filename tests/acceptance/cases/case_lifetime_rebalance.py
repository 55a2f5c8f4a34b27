TITLE = "TERM in the middle of a rebalance ends in time; what was delivered is committed"
TIME = 60
import signal
from acceptance.api import *
from acceptance.cases.case_lifetime_receiver import LIMIT, conf, once

EVENTS = 600


def run(k):
    """A second member joins and leaves, TERM meets either of them at several moments of it."""
    t = k.topic(partitions=4)
    r = k.receiver()
    r.default = Reply(delay=0.03)
    a, b = (k.bridge(conf(k, t, r.url)) for _ in range(2))
    k.connections = 8
    k.produce(t, [E(n, key=b"k%d" % (n % 20), partition=n % 20 % 4) for n in range(EVENTS)])
    k.must_start(a)
    for n, wait in enumerate((0, 0.05, 0.15, 0.3)):
        starts = b.log().count('msg="starting"')
        b.start(ready=0)
        until(lambda: b.log().count('msg="starting"') > starts, 10, "the second one does not start")
        until(lambda: len(k.kafka.members(k.group)[1]) == 2, 15, "the second one does not join")
        time.sleep(wait)
        once(b if n % 2 else a, signal.SIGTERM)
        if n % 2 == 0:
            a, b = b, a             # the one that stays is the next first
    for p in range(4):
        k.wait_committed(t, EVENTS // 4, 30, p)
    once(a, signal.SIGINT)
    again = len(r.requests()) - EVENTS
    lost = sum(x.log().count('msg="partitions lost"') for x in (a, b))
    check(again <= 12 * lost, f"{again} sent again in four rebalances with four ends, {lost} times were partitions lost")
    check(not k.dlq(), "an end dead-letters nothing")
    k.figure = f"{again} of {EVENTS} sent again"

TITLE = "a process that was stopped for longer than its session goes on by itself: nothing lost, nothing committed backwards"
TIME = 90
import signal
from acceptance.api import *

SESSION = 6
EVENTS = 400


def conf(k, t, url, **more):
    c = k.conf(t, url, **more)
    c["kafka"]["properties"] = [f"session.timeout.ms={SESSION * 1000}", "heartbeat.interval.ms=500", "broker.address.family=v4"]
    return c


def stale(k, t, cont):
    """What was sent after `cont` although it had been accepted before: a redelivery by the one that was stopped."""
    first = {}
    for q in k.requests():
        if q.status == 200:
            first.setdefault(q.key, q.t_status)
    return [q for q in k.requests() if q.t_head > cont and first.get(q.key, q.t_head) < cont]


def run_taken_over(k):
    """Another member takes over and goes ahead; whoever comes back repeats at most what it had open and a few it had queued."""
    t = k.topic(partitions=2)
    r = k.receiver()
    r.default = Reply(delay=0.05)
    a = k.bridge(conf(k, t, r.url))
    b = k.bridge(conf(k, t, r.url))
    k.connections = 8
    k.must_start(a)
    k.produce(t, [E(n, key=b"k%d" % (n % 10), partition=n % 10 % 2) for n in range(EVENTS)])
    until(lambda: len(r.ok()) >= 100, 20, "100 events are not delivered")
    a.signal(signal.SIGSTOP)
    k.must_start(b, 30)
    for p in range(2):
        k.wait_committed(t, EVENTS // 2, 30, p)
    k.produce(t, [E(n, key=b"k%d" % (n % 10), partition=n % 10 % 2) for n in range(EVENTS, EVENTS + 50)])
    for p in range(2):
        k.wait_committed(t, EVENTS // 2 + 25, 20, p)
    before = len(r.requests())
    cont = now()
    a.signal(signal.SIGCONT)
    until(lambda: a.get("/readyz")[0] == 200, 20, "it does not come back by itself")
    k.produce(t, [E(n, key=b"k%d" % (n % 10), partition=n % 10 % 2) for n in range(EVENTS + 50, EVENTS + 100)])
    for p in range(2):
        k.wait_committed(t, EVENTS // 2 + 50, 20, p)
    again = len(stale(k, t, cont))
    check(again <= 8, f"{again} events that the other had delivered were sent again after SIGCONT, expected one or two a connection")
    check(before - EVENTS - 50 <= 4 + 8, f"{before - EVENTS - 50} sent again by the take-over")
    k.figure = f"{before - EVENTS - 50} sent again by the take-over, {again} by the one that was stopped"
    k.without.add("P4")


def run_alone(k):
    """Nobody takes over: it joins again and sends again what was in flight, and no more."""
    t = k.topic(partitions=2)
    r = k.receiver()
    r.default = Reply(delay=0.05)
    a = k.bridge(conf(k, t, r.url))
    k.must_start(a)
    k.produce(t, [E(n, key=b"k%d" % (n % 10), partition=n % 10 % 2) for n in range(EVENTS)])
    until(lambda: len(r.ok()) >= 100, 20, "100 events are not delivered")
    a.signal(signal.SIGSTOP)
    until(lambda: k.kafka.members(k.group)[0] in ("EMPTY", "DEAD"), 20, "the group keeps a stopped member")
    a.signal(signal.SIGCONT)
    for p in range(2):
        k.wait_committed(t, EVENTS // 2, 30, p)
    again = len(r.requests()) - EVENTS
    check(again <= 4 + 12, f"{again} events were sent again")
    check(a.stop() == 0, "exit status at SIGTERM is not 0")
    k.figure = f"{again} sent again"
    k.without.add("P4")

TITLE = "TERM ends in time before anything is assigned, and a second one at once"
TIME = 60
import signal, socket
from acceptance.api import *
from acceptance.cases.case_lifetime_receiver import conf, ended, once, twice

FIND_COORDINATOR, JOIN = 10, 11
NO_COORDINATOR, REBALANCE = 15, 27


def mocked(k):
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    k.produce(t, [E(n) for n in range(12)])
    return t, m


def patient(c):
    """The mock cluster lets a group wait three seconds for members: their session must be longer."""
    c["kafka"]["properties"] = ["session.timeout.ms=6000", "heartbeat.interval.ms=500", "broker.address.family=v4"]
    return c


def run_unassigned(k):
    """No coordinator, so no assignment."""
    t, m = mocked(k)
    r = k.receiver()
    m.push(FIND_COORDINATOR, NO_COORDINATOR, 10000)
    b = k.bridge(patient(conf(k, t, r.url)))
    for end in (twice, lambda b: once(b, signal.SIGTERM)):
        b.start(ready=0)
        until(lambda: b.get("/readyz")[0] == 503, 10, "the admin page does not answer")
        until(lambda: "no partitions assigned" in b.get("/readyz")[1], 5, lambda: f"/readyz: {b.get('/readyz')}")
        end(b)
    check(not r.requests(), "an event was sent without an assignment")
    m.clear(FIND_COORDINATOR)
    ended(k, t, b, 12)


def run_joining(k):
    """JoinGroup is never accepted; TERM at several moments of the start."""
    t, m = mocked(k)
    r = k.receiver()
    m.push(JOIN, REBALANCE, 10000)
    b = k.bridge(patient(conf(k, t, r.url)))
    for wait in (0, 0.1, 0.3, 0.6):
        at = b.log().count("msg=\"starting\"")
        b.start(ready=0)
        until(lambda: b.log().count("msg=\"starting\"") > at, 10, "it does not start")
        time.sleep(wait)
        once(b, signal.SIGTERM)
    m.clear(JOIN)
    ended(k, t, b, 12)


def run_start(k):
    """While it waits for brokers: nothing listens there, or something that says nothing."""
    t = k.topic()
    r = k.receiver()
    mute = socket.socket()
    mute.bind(("127.0.0.1", 0))
    mute.listen(50)
    gone = socket.socket()
    gone.bind(("127.0.0.1", 0))
    for s in (gone, mute):
        c = conf(k, t, r.url, kafka={"brokers": "127.0.0.1:%d" % s.getsockname()[1]})
        b = k.bridge(c)
        for end in (twice, lambda b: once(b, signal.SIGTERM), lambda b: once(b, signal.SIGINT)):
            b.start(ready=0)
            until(lambda: b.get("/healthz")[0] == 200, 10, "the admin page does not answer while it waits for brokers")
            end(b)
    check("cannot start" not in b.log().splitlines()[-1], "an end that was asked for is called a failure to start")

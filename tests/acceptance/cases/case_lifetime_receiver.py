TITLE = "TERM and INT end in time whatever the receiver does, and a second one at once"
TIME = 120
import signal, socket
from acceptance.api import *

LIMIT = 2.5                     # limits.shutdown_ms
PROPERTIES = ["session.timeout.ms=2000", "heartbeat.interval.ms=300", "broker.address.family=v4"]


def conf(k, t, url, **more):
    c = k.conf(t, url, **merge({"limits": {"shutdown_ms": int(LIMIT * 1000)}, "delivery": {"timeout_ms": 60000}}, more))
    c["kafka"]["properties"] = PROPERTIES
    return c


def twice(b):
    """Both signals are there when it looks: the second one ends it with 1."""
    b.signal(signal.SIGSTOP)
    b.signal(signal.SIGTERM)
    b.signal(signal.SIGINT)
    b.signal(signal.SIGCONT)
    rc = b.wait(1.5)
    check(rc == 1, f"exit status {rc} within 1.5 s of a second signal, expected 1")


def once(b, number):
    b.signal(number)
    rc = b.wait(LIMIT + 1)
    check(rc == 0, f"exit status {rc} within {LIMIT} + 1 s of {signal.Signals(number).name}, expected 0")


def ended(k, t, b, most):
    """After the cure the next one delivers what is left."""
    k.must_start(b)
    k.wait_committed(t, 12, 20)
    check(b.stop() == 0, "exit status after the cure is not 0")
    got = len(k.requests())
    check(got <= most, f"{got} requests for 12 events, at most {most} expected")
    k.figure = f"{got} requests for 12 events"


def lifetime(k, t, c, reached, cured, count, most):
    """Into the state and out with two signals, again and out with one, then the cure: all is delivered, `most` requests in all."""
    b = k.bridge(c)
    for end in (twice, lambda b: once(b, signal.SIGINT), lambda b: once(b, signal.SIGTERM)):
        k.must_start(b)
        until(lambda: reached(b), 10, lambda: f"the state is not reached; {len(k.requests())} requests, {b.metric('outbox_bridge_buffer_bytes'):.0f} bytes")
        end(b)
        check(k.committed(t) in (None, 0), f"offset {k.committed(t)} is committed although event 0 is not delivered")
    b.write(merge(c, cured))
    k.must_start(b)
    k.wait_committed(t, count, 20)
    check(b.stop() == 0, "exit status after the cure is not 0")
    got = len(k.requests())
    check(got <= most, f"{got} requests for {count} events and three ends, at most {most} expected")
    check(not k.dlq(), f"{len(k.dlq())} records in the DLQ: an end dead-letters nothing")
    k.figure = f"{got} requests for {count} events"


def run_silent(k):
    """Four requests that are never answered."""
    t = k.topic()
    r, good = k.receiver(), k.receiver()
    r.default = Reply(hang=True)
    k.produce(t, [E(n) for n in range(12)])
    began = [0]

    def reached(b):
        if len(r.requests()) >= began[0] + 4:
            began[0] += 4
            return True
    lifetime(k, t, conf(k, t, r.url), reached, {"delivery": {"url": good.url}}, 12, 3 * 4 + 12)


def run_connecting(k):
    """Four connects that neither succeed nor fail: the receiver's queue of connections is full."""
    t = k.topic()
    good = k.receiver()
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(0)
    others = []
    for _ in range(3):
        c = socket.socket()
        c.setblocking(False)
        c.connect_ex(s.getsockname())
        others.append(c)
    k.produce(t, [E(n) for n in range(12)])
    c = conf(k, t, f"http://127.0.0.1:{s.getsockname()[1]}/", delivery={"connect_timeout_ms": 60000})
    lifetime(k, t, c, lambda b: b.metric("outbox_bridge_in_flight") == 4, {"delivery": {"url": good.url}}, 12, 12)


def run_full(k):
    """A full buffer: reading has stopped, and nothing comes back."""
    t = k.topic()
    r, good = k.receiver(), k.receiver()
    r.default = Reply(hang=True)
    k.produce(t, [E(n, value=b'{"n":%d,"f":"%s"}' % (n, b"x" * 30000)) for n in range(100)])
    began = [0]

    def reached(b):
        if len(r.requests()) >= began[0] + 4 and b.metric("outbox_bridge_buffer_bytes") > 100000:
            began[0] += 4
            return True
    lifetime(k, t, conf(k, t, r.url, limits={"buffer_bytes": 1048576, "body_bytes": 100000}), reached,
             {"delivery": {"url": good.url}}, 100, 3 * 4 + 100)

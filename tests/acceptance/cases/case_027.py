TITLE = "the key, the attempts and the wait of an event survive kill -9"
TIME = 60
from acceptance.api import *


def run(k):
    """Waits 1, 2, 4, 8 s; killed in the third."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(503))
    conf = k.conf(t, r.url, kafka={"instance": k.tag}, retry={"base_ms": 500})
    b = k.bridge(conf)
    k.must_start(b)
    k.produce(t, E(1))
    noted = [(0, b"")]

    def third():
        """The commit that tells of the third attempt is there."""
        meta = k.kafka.committed(k.group, t)[0][1]
        if meta != noted[-1][1]:
            noted.append((now(), meta))
        got = r.requests(ID(1))
        return len(got) == 3 and got[2].t_end and noted[-1][0] > got[2].t_end
    until(third, 15, "no commit tells of the third attempt within 15 s")
    b.kill()
    k.must_start(b)
    check(len(r.requests(ID(1))) == 3, "the event was sent at once after the restart: its wait is forgotten")
    k.wait_dlq(1, 25)
    k.wait_committed(t, 1)
    got = r.requests(ID(1))
    check(len(got) == 5, f"{len(got)} requests over the restart, expected 5")
    check({q.get("Idempotency-Key") for q in got} == {ID(1)}, "another idempotency key after the restart")
    third, fourth = got[3].t_head - got[2].t_end, got[4].t_head - got[3].t_end
    # due times are kept in whole seconds
    check(0.9 * 4 - 1.05 <= third <= 1.1 * 4 + 1.5, f"{third:.2f} s over the restart, expected 4 s")
    check(0.9 * 8 - 0.05 <= fourth <= 1.1 * 8 + 0.8, f"{fourth:.2f} s after the fourth failure, expected 8 s")
    d, = k.dlq()
    check(d.text("outbox.dlq.attempts") == "5", f"outbox.dlq.attempts {d.text('outbox.dlq.attempts')}")
    k.figure = f"waits {third:.2f} s over the restart, then {fourth:.2f} s"


def run_replayed(k):
    """The same records again, from the beginning: the same keys and bodies."""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url)
    k.produce(t, [E(n) for n in range(10)])
    k.wait_committed(t, 10)
    check(b.stop() == 0, "exit status at SIGTERM is not 0")
    k.backwards_ok = True
    k.kafka.commit_raw(k.group, t, 0, 0)
    k.must_start(b)
    until(lambda: len(r.ok()) == 20, 15, lambda: f"{len(r.ok())} requests, expected each event twice")
    k.wait_committed(t, 10)
    check(sorted(r.bodies()) == sorted([b'{"n":%d}' % n for n in range(10)] * 2), "other bodies when sent again")


def run_static(k):
    """A fixed key for all events cannot be configured."""
    t = k.topic()
    conf = k.conf(t, "http://127.0.0.1:1/")
    conf["routes"] = [{"name": "all", "headers": ["Idempotency-Key: x"]}]
    b = k.bridge(conf, watch=False)
    rc, out = b.once(["check", "-c", str(b.file)])
    check(rc == names.CONFIG, f"exit status {rc} for a static Idempotency-Key, expected {names.CONFIG}")
    check("headers" in out and re.search(rf"{re.escape(b.file.name)}\D+\d+", out), f"the message does not name file, line and key: {out[:200]}")

TITLE = "two with the same instance id, or a member that the group has fenced: the loser ends and says why"
TIME = 60
from acceptance.api import *


def says(b, *words):
    lines = [l for l in b.log().splitlines() if all(re.search(w, l, re.I) for w in words)]
    check(lines, f"no line says {' '.join(words)}; the last: {(b.log().strip().splitlines() or ['(none)'])[-2:]}")


def run_twins(k):
    t = k.topic(partitions=2)
    r = k.receiver()
    both = [k.bridge(k.conf(t, r.url, kafka={"instance": "twin"})) for _ in range(2)]
    k.connections = 8
    k.must_start(both[0])
    k.produce(t, [E(n, partition=n % 2) for n in range(10)])
    until(lambda: len(r.ok()) == 10, 15, "the first one delivers nothing")
    both[1].start(ready=0)
    begin = now()
    until(lambda: not all(b.alive for b in both), 30, "both of two with one instance id still run after 30 s")
    took = now() - begin
    loser, winner = sorted(both, key=lambda b: b.alive)
    check(winner.alive, "both ended")
    check(loser.proc.returncode > 0, f"exit status {loser.proc.returncode} of the loser")
    says(loser, "fenced|instance")
    until(lambda: winner.get("/readyz")[0] == 200, 20, "the winner does not get ready")
    k.produce(t, [E(n, partition=n % 2) for n in range(10, 30)])
    for p in (0, 1):
        k.wait_committed(t, 15, 15, p)
    check(len({q.key for q in r.ok()}) == 30, f"{len({q.key for q in r.ok()})} of 30 events were delivered")
    k.figure = f"the loser ended after {took:.1f} s with {loser.proc.returncode}"


def run_heartbeat(k):
    """The mock cluster answers one Heartbeat with FENCED_INSTANCE_ID."""
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    b = k.started(t, r.url, kafka={"instance": "one"})
    k.produce(t, E(1))
    k.wait_committed(t, 1, 15)
    m.push(12, 82, 1)
    rc = b.wait(30)
    check(rc is not None and rc > 0, f"exit status {rc} within 30 s after the group has fenced the member")
    says(b, "fenced|instance")

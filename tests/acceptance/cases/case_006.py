TITLE = "everything is refused for a while: the target closes, the topic does not end in the DLQ"
TIME = 75
from acceptance.api import *

EVENTS = 1000
RULES = {"failures": 20, "after": 20, "probe_ms": 300, "probe_max_ms": 600}


def storm(k, answer, most_dead):
    t = k.topic()
    r = k.receiver()
    r.default = answer
    b = k.started(t, r.url, breaker=RULES)
    k.produce(t, [E(n) for n in range(EVENTS)])
    until(lambda: b.metrics().get('outbox_bridge_alarm{name="target_closed"}') == 1, 25, "no alarm target_closed within 25 s")
    closed = len(r.requests())
    check(b.get("/readyz")[0] == 200, "/readyz is red because of a receiver")
    # while closed: only probes, one at a time
    until(lambda: len(r.requests()) >= closed + 3, 10, "no three probes within 10 s")
    begun = [q.t_head for q in r.requests()[closed + k.connections:]]
    close = [b_ - a for a, b_ in zip(begun, begun[1:]) if b_ - a < 0.2]
    check(not close, f"{len(close)} requests to a closed target follow each other within 0.2 s, with probe_ms = 300")
    probes = len(r.requests()) - closed
    r.default = Reply(200)
    k.wait_committed(t, EVENTS, 30)
    dead = k.dlq()
    check(len(dead) <= most_dead(probes), f"{len(dead)} events in the DLQ, expected at most {most_dead(probes)}")
    left = {ID(n) for n in range(EVENTS)} - {q.key for q in r.ok()} - {d.text("id") for d in dead}
    check(not left, f"{len(left)} events were neither delivered nor dead-lettered")
    until(lambda: b.metrics().get('outbox_bridge_alarm{name="target_closed"}') == 0, 15, "the alarm target_closed stays after the recovery")
    lines = b.log().splitlines()
    said = [l for l in lines if "target closed" in l]
    check(len(said) == 1, f"{len(said)} lines say 'target closed', expected one")
    for word in (rf"127\.0\.0\.1:{r.port}", "40[134]", "waiting=", r"breaker\."):
        check(re.search(word, said[0]), f"the line 'target closed' does not say {word}: {said[0][:200]}")
    check(len(lines) < 300, f"{len(lines)} lines of log for one outage")
    k.figure = f"{len(dead)} of {EVENTS} in the DLQ, {len(lines)} log lines"


def run_credentials(k):
    """401 and 403 say something about the target: closed after 20 events in a row, none of them dead."""
    storm(k, lambda q: Reply(403 if int(q.key[-1]) % 2 else 401), lambda probes: k.connections)


def run_missing(k):
    """404 says something about the event: closed after so many dead letters in a row."""
    storm(k, lambda q: Reply(404), lambda probes: RULES["after"] + k.connections + probes + 2)

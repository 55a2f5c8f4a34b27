TITLE = "an offset that no longer exists stops the partition; no silent jump"
TIME = 150
from acceptance.api import *


def stopped(b, t, seconds, what, *numbers):
    """Exit with a status that is not 0, or a red /readyz; and one log line that names the topic and the numbers."""
    def said():
        return any(t in l and all(re.search(rf"\b({n})\b", l) for n in numbers) for l in b.log().splitlines())
    end = now() + seconds
    while now() < end:
        if not b.alive:
            check(b.proc.returncode != 0, f"{what}: exit status 0")
            check(said(), f"{what}: no log line names the topic and {', '.join(numbers)}")
            return
        if b.get("/readyz")[0] not in (0, 200) and said():
            return
        time.sleep(0.2)
    red = b.get("/readyz")[0] != 200
    raise Fail(f"{what}: after {seconds} s " + ("/readyz is red, but no log line names the topic and the missing range" if red else "/readyz is 200"))


def run_below(k):
    t = k.topic()
    r = k.receiver()
    k.produce(t, [E(n) for n in range(50)], free=True)
    k.kafka.delete_records(t, {0: 50})
    k.produce(t, [E(n) for n in range(50, 60)])
    k.kafka.commit_raw(k.group, t, 0, 10)
    b = k.bridge(k.conf(t, r.url))
    b.start(ready=0)
    stopped(b, t, 25, "committed 10, log starts at 50", "10", "49|50")
    time.sleep(1.5)
    check(not r.requests(), f"{len(r.requests())} events were sent in spite of the gap")
    got = k.committed(t)
    check(got == 10, f"committed moved from 10 to {got}")


def run_on_gap(k):
    """kafka.on_gap = "earliest" steps over the gap, logged."""
    t = k.topic()
    r = k.receiver()
    k.produce(t, [E(n) for n in range(50)], free=True)
    k.kafka.delete_records(t, {0: 50})
    k.produce(t, [E(n) for n in range(50, 60)])
    k.kafka.commit_raw(k.group, t, 0, 10)
    b = k.bridge(k.conf(t, r.url, kafka={"on_gap": "earliest"}))
    k.must_start(b)
    k.wait_committed(t, 60)
    got = sorted(q.key for q in r.requests())
    check(got == [ID(n) for n in range(50, 60)], f"on_gap = earliest: {len(got)} requests, expected events 50 to 59 once each")
    lines = [l for l in b.log().splitlines() if t in l and re.search(r"\b(10|40)\b", l)]
    check(lines, "on_gap = earliest: the log does not say what was stepped over")


def run_above(k):
    t = k.topic()
    r = k.receiver()
    k.produce(t, [E(n) for n in range(60)], free=True)
    k.kafka.commit_raw(k.group, t, 0, 1000)
    b = k.bridge(k.conf(t, r.url))
    b.start(ready=0)
    stopped(b, t, 25, "committed 1000, log ends at 60", "1000|999")
    time.sleep(1.5)
    check(not r.requests(), f"{len(r.requests())} events were sent in spite of the gap")
    got = k.committed(t)
    check(got == 1000, f"committed moved from 1000 to {got}")


def run_once(k):
    """One Fetch answered with OFFSET_OUT_OF_RANGE: alarm, or go on without a loss."""
    t = k.tag + ".ob"
    m = k.use_mock({t: 1, t + ".dlq": 1})
    k.topics[t] = 1
    k.dlq_topic(t + ".dlq", create=False)
    r = k.receiver()
    k.produce(t, [E(0), E(1)], free=True)
    k.produce(t, [E(n) for n in range(2, 10)])
    k.kafka.commit_raw(k.group, t, 0, 2)
    m.push(1, 1, 1)
    b = k.bridge(k.conf(t, r.url))
    b.start(ready=0)
    want = {ID(n) for n in range(2, 10)}
    end = now() + 25
    while now() < end and b.alive and {q.key for q in r.ok()} != want:
        time.sleep(0.2)
        if b.get("/readyz")[0] not in (0, 200) and now() > end - 15:
            break
    if b.alive and b.get("/readyz")[0] == 200:
        got = {q.key for q in r.ok()}
        check(got == want, f"/readyz is 200, but only {len(got)} of the 8 events at and after the committed offset were sent")
        k.wait_committed(t, 10)
        k.figure = "one out-of-range answer: went on without a loss"
    else:
        got = k.committed(t)
        check(got == 2 or {q.key for q in r.ok()} == want, f"committed is {got} although events are missing")
        k.figure = "one out-of-range answer: alarm"

"""Measures the bridge beside its references and prints one table of the goals that have numbers; see README.md."""
import argparse, json, statistics, subprocess, sys, tempfile, threading, time
from pathlib import Path

from acceptance.broker import Broker, Cluster

from . import decoding
from .stand import Bridge, Floor, PREFETCH_KB, Receiver, now, percentile, produce, remove, until

HERE = Path(__file__).resolve().parent
CONNECTIONS = 4
KEYS = 1000
POISON = 7
BIG_QUEUE_KB = 32768


class Bench:
    def __init__(self, options):
        self.o = options
        self.build = Path(options.build)
        self.work = Path(tempfile.mkdtemp(prefix="outbox-bench-"))
        self.broker = Broker(self.work / "broker")
        self.kafka = Cluster(self.broker.bootstrap)
        self.receivers = [Receiver(self.build) for _ in range(3)]
        self.receiver = self.receivers[0]
        self.got = {}            # name of a figure: its values, one a run
        self.open_max = {}       # row: most open connections of the bridge
        self.wrong = {}          # row: events out of order, or two of a key at once
        self.filled = set()
        self.backlog = 3000 if options.quick else 6000
        self.load = 280000 if options.quick else 350000      # events that no window exhausts
        self.kafka.create("bench.dlq")

    def close(self):
        for r in self.receivers:
            r.stop()
        self.broker.stop()
        remove(self.work)

    def add(self, name, value):
        self.got.setdefault(name, []).append(value)

    def median(self, name):
        values = [v for v in self.got.get(name, []) if v is not None]
        return statistics.median(values) if values else None

    def fill(self, topic, count, partitions=8, keys=KEYS):
        """Makes a topic with so many events, unless it is there."""
        if topic not in self.filled:
            self.filled.add(topic)
            self.kafka.create(topic, partitions)
            produce(self, topic, count, keys=keys)
        return topic

    def saw(self, row, stats):
        """What holds in every row: connections and order."""
        self.open_max[row] = max(self.open_max.get(row, 0), stats["open_max"])
        self.wrong[row] = self.wrong.get(row, 0) + stats["disorder"] + stats["overlap"]
        if self.wrong[row]:
            self.say(f"{row}: {stats['disorder']} out of order, {stats['overlap']} two at once")

    def say(self, text):
        print(f"[{now() - self.began:4.0f} s] {text}", file=sys.stderr, flush=True)


def begin(subject):
    return subject.cpu_s(), subject.receiver.stats()


def end(subject, start):
    """(events/s, CPU seconds per 10,000, events/s of the keys that do not fail) since begin()"""
    b, cpu, a = subject.receiver.stats(), subject.cpu_s() - start[0], start[1]
    took, count = (b["now_us"] - a["now_us"]) / 1e6, b["unique"] - a["unique"]
    return count / took, cpu / max(count, 1) * 10000, (b["others"] - a["others"]) / took


def window(subject, seconds):
    start = begin(subject)
    time.sleep(seconds)
    return end(subject, start)


def measure_loop(b, receiver, delay, seconds):
    out = subprocess.run([str(b.build / "tests/bench/bench-loop"), receiver.url, str(CONNECTIONS), str(seconds)], capture_output=True, text=True, check=True)
    r = json.loads(out.stdout)
    b.add(f"loop rate {delay}", r["rate"])
    b.add(f"loop cpu {delay}", r["cpu_s"] / r["requests"] * 10000)


def wrk(b, seconds):
    out = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "-s", str(HERE / "post.lua"), b.receiver.url], capture_output=True, text=True)
    for line in out.stdout.splitlines():
        if line.startswith("Requests/sec:"):
            return float(line.split()[1])
    return None


# ---- throughput, CPU, memory under load

def at_full_speed(b, kind, queue_kb, seconds):
    """A receiver that answers at once: alone, since it takes all processors."""
    b.receiver.reset()
    s = kind(b, b.receiver).start(b.fill("bench.load", b.load), queue_kb=queue_kb)
    s.wait_requests()
    time.sleep(0.7)
    rate, cpu, _ = window(s, seconds)
    name = s.name + ("" if queue_kb == PREFETCH_KB else " 32M")
    b.add(f"{name} rate 0", rate)
    b.add(f"{name} cpu 0", cpu)
    b.add(f"{name} peak", s.memory_mb(peak=True))
    if kind is Bridge:
        b.saw("rate 0", b.receiver.stats())
    s.kill()


def side_by_side(b, delay, seconds):
    """A slow receiver: loop, floor and bridge at the same time, each with a receiver of its own, for the machine's noise hits all."""
    for r in b.receivers:
        r.reset(delay)
    subjects = [kind(b, r).start(b.fill("bench.load", b.load)) for kind, r in ((Bridge, b.receiver), (Floor, b.receivers[1]))]
    for s in subjects:
        s.wait_requests()
    time.sleep(0.5)
    reference = threading.Thread(target=lambda: measure_loop(b, b.receivers[2], delay, seconds))
    reference.start()
    begun = [begin(s) for s in subjects]
    time.sleep(seconds)
    for s, start in zip(subjects, begun):
        rate, cpu, _ = end(s, start)
        b.add(f"{s.name} rate {delay}", rate)
        b.add(f"{s.name} cpu {delay}", cpu)
    reference.join()
    b.saw(f"rate {delay}", b.receiver.stats())
    if delay == 5:
        for name, key in (("before", -1), ("others", POISON)):
            b.receiver.set(fail_key=key)
            time.sleep(0.5)
            b.add(name, window(subjects[0], seconds)[2])
        b.saw("others", b.receiver.stats())
    for s in subjects:
        s.kill()


def throughput(b):
    """A backlog and a receiver that answers after 0, 5, 20, 50, 100 ms."""
    seconds = 3 if b.o.quick else 5
    for run in range(b.o.runs):
        for delay in (0, 5, 20, 50, 100):
            if delay == 0:
                b.receiver.reset()
                measure_loop(b, b.receiver, 0, 2)
                b.add("wrk rate 0", wrk(b, 2))
                # with a small queue records come in bursts, about one a second: a window must hold several
                for queue_kb, size in ((PREFETCH_KB, seconds + 2), (BIG_QUEUE_KB, 3)):
                    for kind in (Floor, Bridge) if run % 2 == 0 else (Bridge, Floor):
                        at_full_speed(b, kind, queue_kb, size)
            else:
                side_by_side(b, delay, seconds)
            b.say(f"throughput run {run + 1}, {delay} ms: " + ", ".join(
                f"{n} {b.got[f'{n} rate {delay}'][-1]:.0f}/s {b.got[f'{n} cpu {delay}'][-1]:.2f} s" for n in ("loop", "floor", "bridge")))


# ---- latency, idle memory

def latency(b):
    """20 events/s; bridge and floor get the same events at the same time, each with a receiver of its own."""
    other = b.receivers[1]
    for run in range(max(1, b.o.runs - 1)):
        topic = f"bench.trickle{run}"
        b.kafka.create(topic, 8)
        b.receiver.reset()
        other.reset()
        bridge, floor = Bridge(b, b.receiver).start(topic), Floor(b, other).start(topic)
        until(bridge.ready, 20)
        time.sleep(1)
        b.add("bridge idle", bridge.memory_mb())
        b.add("floor idle", floor.memory_mb())
        produce(b, topic, 100, first=0, rate=50)          # connections, and what else the first events cost
        until(lambda: min(b.receiver.stats()["unique"], other.stats()["unique"]) >= 100, 20)
        b.receiver.reset()
        other.reset()
        count = 200 if b.o.quick else 400
        produce(b, topic, count, first=100, rate=20)
        until(lambda: min(b.receiver.stats()["unique"], other.stats()["unique"]) >= count, 5)
        for name, r in (("bridge", b.receiver), ("floor", other)):
            ms = [e[4] for e in r.events()]
            for share in (50, 99):
                b.add(f"{name} p{share}", percentile(ms, share / 100))
        b.saw("latency", b.receiver.stats())
        bridge.kill()
        floor.kill()
        b.say(f"latency run {run + 1}: bridge {b.got['bridge p50'][-1]:.2f} / {b.got['bridge p99'][-1]:.2f} ms, "
              f"floor {b.got['floor p50'][-1]:.2f} / {b.got['floor p99'][-1]:.2f} ms")


# ---- one failing key

def failing_key(b):
    """400 events/s over 1000 keys; then one key always gets 500."""
    seconds, rate = (6 if b.o.quick else 12), 400
    for run in range(max(1, b.o.runs - 1)):
        topic = f"bench.live{run}"
        b.kafka.create(topic, 8)
        s, floor = Bridge(b, b.receiver).start(topic), Floor(b, b.receivers[1]).start(topic)
        until(s.ready, 20)
        first = 0
        for phase in ("warm-up", "healthy", "failing"):
            count = rate * (1 if phase == "warm-up" else seconds)
            b.receiver.reset(5, POISON if phase == "failing" else -1)
            b.receivers[1].reset(5)
            produce(b, topic, count, first=first, rate=rate)
            poison = sum(n % KEYS == POISON for n in range(first, first + count)) if phase == "failing" else 0
            drained = until(lambda: b.receiver.stats()["others"] >= count - poison, 10)
            first += count
            ms = [e[4] for e in b.receiver.events() if e[1] != POISON]
            b.add(f"{phase} p99", percentile(ms, 0.99))
            b.add(f"{phase} p99 floor", percentile([e[4] for e in b.receivers[1].events()], 0.99))
            b.add(f"{phase} drained", drained)
            b.saw("failing key", b.receiver.stats())
        s.kill()
        floor.kill()
        b.say(f"failing key run {run + 1}: p99 {b.got['healthy p99'][-1]:.1f} → {b.got['failing p99'][-1]:.1f} ms "
              f"(floor, which nothing fails: {b.got['failing p99 floor'][-1]:.1f}), drained after {b.got['failing drained'][-1]:.2f} s")


# ---- a backlog behind a blocked key

def blocked_key(b):
    """100,000 events of one key whose first is refused and waits; then a load of 1000 keys with one of them blocked."""
    count = 100000
    for name, topic, key in (("parked", b.fill("bench.blocked", count, 1, 1), 0), ("behind", b.fill("bench.load", b.load), POISON)):
        b.receiver.reset(0, key)
        s = Bridge(b, b.receiver).start(topic, base_ms=600000)
        s.wait_requests()
        time.sleep(3 if b.o.quick else 5)
        b.add(f"{name} peak", s.memory_mb(peak=True))
        b.saw(f"{name}", b.receiver.stats())
        b.say(f"blocked key, {name}: {s.memory_mb():.1f} MB, at most {b.got[f'{name} peak'][-1]:.1f}; events waiting: {s.metric('waiting'):.0f}, "
              f"buffer: {s.metric('buffer_bytes') / 1e6:.1f} MB")
        s.kill()


# ---- start, kill, stop

def start_up(b):
    """From exec to the first request, with an event waiting; the floor does the same."""
    topic = b.fill("bench.start", 16)
    for _ in range(b.o.runs + 2):
        for kind in (Bridge, Floor):
            b.receiver.reset()
            s = kind(b, b.receiver).start(topic)
            s.wait_requests()
            cpu = s.cpu_since_start_s()
            b.add(f"{s.name} start", b.receiver.stats()["first_us"] / 1e6 - s.started_us / 1e6)
            b.add(f"{s.name} start cpu", cpu)
            s.kill()
    b.say(f"start: bridge {b.median('bridge start'):.3f} s, floor {b.median('floor start'):.3f} s")


def kill_once(b, kind, instance, count):
    b.receiver.reset(5)
    s = kind(b, b.receiver).start("bench.kill", instance=instance)
    s.wait_requests()
    until(lambda: b.receiver.stats()["unique"] >= count * 0.45, 60)
    s.kill()
    time.sleep(0.05)
    before = b.receiver.stats()["requests"]
    s.start("bench.kill", instance=instance)
    s.wait_requests(before)
    again = (time.time_ns() // 1000 - s.started_us) / 1e6
    until(lambda: b.receiver.stats()["unique"] >= count, 60)
    time.sleep(0.2)
    stats = b.receiver.stats()
    s.kill()
    return again, stats["again"], count - stats["unique"], stats


def kill9(b):
    """kill -9 in the middle of a backlog at a receiver of 5 ms (about 760 events/s); started again at once."""
    count = b.backlog
    b.fill("bench.kill", count)
    cases = [(Bridge, "one")] * b.o.runs + [(Floor, "one")]
    for kind, instance in cases + ([] if b.o.quick else [(Bridge, "")]):
        took, again, lost, stats = kill_once(b, kind, instance, count)
        name = f"{kind.name} kill{'' if instance else ' dynamic'}"
        b.add(f"{name} restart", took)
        b.add(f"{name} again", again)
        b.add(f"{name} lost", lost)
        if kind is Bridge:
            b.saw("kill", stats)
        b.say(f"{name}: {again} sent again, {lost} lost, first request after {took:.2f} s")


def stop(b):
    """TERM while a receiver of 200 ms is busy; what was delivered must be committed."""
    b.receiver.reset(200)
    s = Bridge(b, b.receiver).start(b.fill("bench.kill", b.backlog))
    s.wait_requests()
    time.sleep(1.5)
    took, status = s.stop()
    stats = b.receiver.stats()
    committed = sum(offset or 0 for offset, _ in b.kafka.committed(s.group, "bench.kill", 8).values())
    b.add("stop", took)
    b.add("stop left", stats["unique"] - committed if status == 0 else None)
    b.saw("stop", stats)
    b.say(f"stop: {took:.2f} s, status {status}, delivered {stats['unique']}, committed {committed}")


def refusing_dlq(b):
    """The dead letter topic takes no record; one key of 1000 needs it."""
    count = 4000
    b.kafka.create("bench.tiny", 1, {"max.message.bytes": 200})
    b.fill("bench.refused", count)
    rates = {}
    for name, key in (("healthy", -1), ("refused", POISON)):
        b.receiver.reset(5, key)
        s = Bridge(b, b.receiver).start("bench.refused", dlq="bench.tiny", base_ms=10)
        s.wait_requests()
        others = count - (count // KEYS if key >= 0 else 0)
        done = until(lambda: b.receiver.stats()["others"] >= others, 30)
        stats = b.receiver.stats()
        rates[name] = stats["others"] / ((stats["last_us"] - stats["first_us"]) / 1e6)
        if key >= 0:
            until(lambda: b.receiver.stats()["refused"] >= 5, 5)
            s.stop()
            passed = sum(o or 0 for o, _ in b.kafka.committed(s.group, "bench.refused", 8).values())
            delivered = {e[0] for e in b.receiver.events() if e[3]}
            b.add("refusing lost", passed > len(delivered) or done is None)
        else:
            s.kill()
    b.add("refusing others", rates["refused"] / rates["healthy"])
    b.saw("refusing", b.receiver.stats())
    b.say(f"refusing DLQ: others at {rates['refused']:.0f}/s of {rates['healthy']:.0f}/s")


SCENARIOS = {"throughput": throughput, "latency": latency, "failing": failing_key, "blocked": blocked_key, "start": start_up, "kill": kill9,
             "stop": stop, "dlq": refusing_dlq, "decode": decoding.decode}


# ---- the table

class Table:
    def __init__(self, b):
        self.b = b
        self.rows = []

    def number(self, value, digits):
        return "" if value is None else f"{value:,.{digits}f}"

    def row(self, goal, bridge, limit, test, floor=None, loop_=None, wrk_=None, ratio=None, digits=0, conns=None):
        """`test` takes no argument; a row whose figure was not measured is left out."""
        if bridge is None:
            return
        n = self.number
        self.rows.append((goal, n(bridge, digits), n(floor, digits), n(loop_, digits), n(wrk_, digits), n(ratio, 3), limit, "yes" if test() else "NO",
                          str(self.b.open_max.get(conns, ""))))

    def print(self):
        head = ("goal", "bridge", "floor", "loop", "wrk", "ratio", "limit", "met", "open")
        print("| " + " | ".join(head) + " |")
        print("|" + "|".join(" --- " if i == 0 or i > 5 else " ---: " for i in range(len(head))) + "|")
        for r in self.rows:
            print("| " + " | ".join(r) + " |")


def ratio_of_pairs(b, over, under):
    """Median of the quotients of each run: both were measured in the same minute."""
    pairs = [x / y for x, y in zip(b.got.get(over, []), b.got.get(under, [])) if y]
    return statistics.median(pairs) if pairs else None


def rate_rows(b, t):
    m = b.median
    for size in ("", " 32M"):
        r = ratio_of_pairs(b, f"bridge{size} rate 0", f"floor{size} rate 0")
        t.row(f"events/s at 0 ms, prefetch {32 if size else 8} MiB, of the floor", m(f"bridge{size} rate 0"), "≥ 0.9", lambda: r >= 0.9,
              m(f"floor{size} rate 0"), m("loop rate 0"), m("wrk rate 0"), r, conns="rate 0")
    for delay in (5, 20, 50, 100):
        r = ratio_of_pairs(b, f"bridge rate {delay}", f"loop rate {delay}")
        t.row(f"events/s at {delay} ms, of the loop", m(f"bridge rate {delay}"), "≥ 0.99", lambda: r >= 0.99, m(f"floor rate {delay}"),
              m(f"loop rate {delay}"), m(f"wrk rate {delay}"), r, conns=f"rate {delay}")
    for delay, limit in ((0, 0.30), (5, 0.60), (20, 1.0)):
        r = ratio_of_pairs(b, f"bridge cpu {delay}", f"floor cpu {delay}")
        t.row(f"CPU s per 10,000 at {delay} ms, of the floor", m(f"bridge cpu {delay}"), f"≤ {limit}",
              lambda: m(f"bridge cpu {delay}") <= limit, m(f"floor cpu {delay}"), m(f"loop cpu {delay}"), ratio=r, digits=2)
    r = ratio_of_pairs(b, "others", "before")
    t.row("events/s of the others with a failing key in a backlog, of before", m("others"), "≥ 0.99", lambda: r >= 0.99, ratio=r, conns="others")


def memory_rows(b, t):
    m = b.median
    for name, label, limit, conns in (("bridge idle", "idle", 15, "latency"), ("bridge peak", "at most, full load", 40, "rate 0"),
                                      ("parked peak", "at most, 100,000 events behind their blocked key", 64, "parked"),
                                      ("behind peak", "at most, backlog of 1000 keys, one blocked", 64, "behind")):
        floor = m("floor" + name[6:]) if name.startswith("bridge") else None
        t.row(f"resident MB, {label}", m(name), f"≤ {limit}", lambda: m(name) <= limit, floor, digits=1, conns=conns)


def time_rows(b, t):
    m = b.median
    for share, more in ((50, 0.5), (99, 2)):
        t.row(f"ms from produce to request at 20/s, p{share}", m(f"bridge p{share}"), f"≤ floor + {more}",
              lambda: m(f"bridge p{share}") <= m(f"floor p{share}") + more, m(f"floor p{share}"), digits=2, conns="latency")
    t.row("one failing key of 1000 at 400/s: p99 ms of the others (floor: nothing fails)", m("failing p99"), "≤ 10",
          lambda: m("failing p99") <= 10, m("failing p99 floor"), digits=1, conns="failing key")
    t.row("one failing key: s until drained", m("failing drained"), "≤ 0.2", lambda: m("failing drained") <= 0.2, digits=2)
    own = m("bridge start") - m("floor start") if m("bridge start") else None
    t.row("s from start to first request", m("bridge start"), "≤ floor + 0.3", lambda: own <= 0.3, m("floor start"), digits=3)
    t.row("CPU s of a start", m("bridge start cpu"), "≤ 0.1", lambda: m("bridge start cpu") <= 0.1, m("floor start cpu"), digits=3)


def safety_rows(b, t):
    m, got = b.median, b.got
    most = CONNECTIONS + 76
    t.row("kill -9 at 760/s: sent again", m("bridge kill again"), f"≤ {most}", lambda: max(got["bridge kill again"]) <= most, m("floor kill again"), conns="kill")
    t.row("kill -9: lost", m("bridge kill lost"), "0", lambda: max(got["bridge kill lost"]) == 0, m("floor kill lost"))
    t.row("kill -9: s to first request, kafka.instance", m("bridge kill restart"), "≤ 1", lambda: m("bridge kill restart") <= 1,
          m("floor kill restart"), digits=2)
    t.row("kill -9: s to first request, without", m("bridge kill dynamic restart"), "≤ 12 (session)", lambda: m("bridge kill dynamic restart") <= 12, digits=1)
    t.row("stop with a receiver of 200 ms: s", m("stop"), "≤ 0.7", lambda: m("stop") <= 0.7, digits=2, conns="stop")
    t.row("stop: delivered and not committed", m("stop left"), "0", lambda: got["stop left"] == [0])
    t.row("DLQ refuses: others' speed of before", m("refusing others"), "≥ 0.95", lambda: m("refusing others") >= 0.95, digits=3, conns="refusing")
    t.row("DLQ refuses: lost", None if "refusing lost" not in got else float(max(got["refusing lost"])), "0", lambda: not max(got["refusing lost"]))
    wrong = sum(b.wrong.values())
    t.row("out of order or two at once within a key, all rows", wrong, "0", lambda: wrong == 0)
    t.row("most connections open at once, all rows", float(max(b.open_max.values(), default=0)), "4", lambda: max(b.open_max.values()) <= CONNECTIONS)


def main():
    a = argparse.ArgumentParser(prog="tests/bench/run.sh")
    a.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    a.add_argument("--only", default=",".join(SCENARIOS), help="some of: " + ", ".join(SCENARIOS))
    a.add_argument("--runs", type=int, help="of each figure (3, with --quick 1)")
    a.add_argument("--build", required=True, help=argparse.SUPPRESS)
    o = a.parse_args()
    o.runs = o.runs or (1 if o.quick else 3)
    Bench.began = now()
    b = Bench(o)
    try:
        for name in o.only.split(","):
            SCENARIOS[name](b)
        t = Table(b)
        for rows in (rate_rows, memory_rows, time_rows, safety_rows, decoding.rows):
            rows(b, t)
        t.print()
        decoding.print_table(b)
    finally:
        b.close()


if __name__ == "__main__":
    main()

"""Chaos on real services: brokers, bridges and the receiver fail at random
while events are written all the time; at the end nothing may be missing."""
import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from acceptance import bridge, ports
from acceptance.broker import Cluster

from .entrance import House
from .faults import Chaos, Slot
from .figures import tell
from .judge import Case, Dead, Evidence, Sent, Written, judge
from .nodes import Nodes
from .test_judge import self_test
from .traffic import Traffic
from .watch import Commits, Gauges

now = time.monotonic
TOPIC, DLQ, GROUP = "chaos.orders", "chaos.dlq", "chaos-bridge"
PARTITIONS, CONNECTIONS, ATTEMPTS, FAILURES = 6, 4, 5, 20


def say(text):
    print(text, flush=True)


class Run:
    def __init__(self, options, program, folder):
        self.o, self.program, self.folder = options, program, folder
        self.eager = options.protocol == "eager"
        self.timeline = open(folder / "timeline.txt", "w", buffering=1)
        self.house = House(options.seed)
        self.slots = []

    def say(self, text):
        self.timeline.write(text + "\n")
        if self.o.verbose:
            say(text)

    def configuration(self, name, url):
        properties = ["session.timeout.ms=4000", "heartbeat.interval.ms=500",
                      "topic.metadata.refresh.interval.ms=2000",
                      "broker.address.family=v4"]
        if self.eager:
            properties.append("partition.assignment.strategy=range")
        return {
            "kafka": {"brokers": self.nodes.bootstrap, "topics": [TOPIC],
                      "group": GROUP, "start": "earliest",
                      "instance": name if self.o.static else "",
                      "properties": properties},
            "delivery": {"url": url, "connections": CONNECTIONS,
                         "timeout_ms": 3000, "connect_timeout_ms": 2000},
            # 0.4, 0.8, 1.6, 3.2 s: longer than a mood of 500
            "retry": {"max_attempts": ATTEMPTS, "base_ms": 200,
                      "retry_after_max_ms": 2000},
            "breaker": {"failures": FAILURES, "probe_ms": 200,
                        "probe_max_ms": 1000},
            "dlq": {"topic": DLQ},
            "admin": {"listen":
                      f"127.0.0.1:{ports.reserve(ports.RECEIVER)}"},
            "log": {"level": "info", "format": "logfmt"},
        }

    def slot(self, name):
        entrance = self.house.entrance()
        b = bridge.Bridge([self.program],
                          self.configuration(name, entrance.url),
                          self.folder, name)
        return Slot(name, len(self.house.entrances) - 1, b, entrance)

    def up(self):
        self.nodes = Nodes(self.o.brokers, self.folder)
        self.nodes.up()
        self.nodes.create(TOPIC, PARTITIONS)
        self.nodes.create(DLQ, 1)
        self.slots = [self.slot(f"bridge-{i + 1}")
                      for i in range(self.o.bridges)]
        self.spare = self.slot("visitor")
        self.all = self.slots + [self.spare]
        self.traffic = Traffic(self.nodes.bootstrap, TOPIC, self.house,
                               self.o.seed, self.o.rate, self.o.keys)
        self.commits = Commits(self.nodes.bootstrap, GROUP, TOPIC, PARTITIONS)
        self.gauges = Gauges(self.all)
        self.chaos = Chaos(self.o.seed, self.nodes, self.slots, self.spare,
                           self.house, self.say)
        for s in self.slots:
            self.chaos.start(s)
        for thing in (self.traffic, self.commits, self.gauges):
            thing.start()
        end = now() + 90
        while len(self.house.requests()) < 100:
            self.chaos.look()
            if now() > end or self.chaos.exits:
                raise RuntimeError("the bridges do not begin to deliver")
            time.sleep(0.1)
        self.nodes.watch()

    # ---- the end of it
    def ends(self):
        """Ends of the log by partition; {} while the brokers do not say."""
        try:
            return Cluster(self.nodes.bootstrap).ends(TOPIC, PARTITIONS)
        except Exception:
            return {}

    def drain(self):
        """All that was written is committed, within the limit."""
        self.unanswered = self.traffic.stop()
        begun, limit = now(), now() + self.o.drain
        ends = {}
        while now() < limit:
            self.chaos.look()
            ends = ends or self.ends()
            if ends and all(self.commits.last.get(p, 0) == ends[p]
                            for p in ends):
                break
            time.sleep(0.1)
        self.drained = now() - begun
        self.end_offsets = ends or {p: -1 for p in range(PARTITIONS)}
        for s in self.all:
            self.gauges.look(s)
        for s in self.slots:
            self.chaos.wait_left(s, "end")     # no fault any more
        self.commits.stop()
        self.gauges.stop()

    def evidence(self):
        """Everything that was seen, in the judge's words."""
        cluster = Cluster(self.nodes.bootstrap)
        wall = time.time() - now()
        e = Evidence(connections=CONNECTIONS, attempts=ATTEMPTS,
                     failures=FAILURES, bridges=len(self.all), patience=5.0)
        for r in cluster.read(TOPIC, PARTITIONS, timeout=120):
            ident = r.text("id")
            e.written.append(Written(ident, r.partition, r.offset, r.key,
                                     r.value, r.headers, r.ts,
                                     self.house.refused.get(ident)))
        for r in cluster.read(DLQ, 1, timeout=60):
            number = {n: int(r.text("outbox.dlq." + n) or -1)
                      for n in ("partition", "offset", "attempts", "last.ms")}
            last = number["last.ms"]
            e.dead.append(Dead(number["partition"], number["offset"], r.key,
                               r.value, r.headers, r.ts, number["attempts"],
                               last / 1000 - wall if last > 0 else None,
                               r.text("outbox.dlq.reason") or ""))
        for slot, q in self.house.requests():
            e.sent.append(Sent(q.t_first, q.key, q.raw_body, slot, q.status,
                               q.t_status))
        e.acked = self.traffic.acked
        e.failed = len(self.traffic.failed) + self.unanswered
        e.commits = self.commits.samples
        e.ends, e.committed = self.end_offsets, self.commits.last
        e.moods, e.strange = self.chaos.moods, self.house.strange
        e.faults = sorted(
            (t, f.kind) for f in self.chaos.faults
            if not f.kind.startswith("receiver")
            for t in (f.t, f.end) if t is not None)
        e.exits = self.chaos.exits
        e.most_open = {s.name: s.entrance.world.max_open for s in self.all}
        e.most_said = {f"{who}, process {pid}": m["connections"]
                       for (who, pid), m in self.gauges.most.items()
                       if "connections" in m}
        e.most_all = self.house.max_open
        return e

    def run(self):
        begun = now()
        self.up()
        say(f"up after {now() - begun:.1f} s")
        t = now()
        self.chaos.run(self.o.seconds)
        seconds = now() - t
        self.chaos.heal()
        self.drain()
        e = self.evidence()
        found = judge(e)
        more = {"seconds": seconds, "drained": self.drained,
                "generations": self.nodes.generations(GROUP)}
        found["enough happened"] = list(self.enough(e))
        for line in tell(Case(e), found, self.chaos, self.gauges, self.house,
                         more):
            say(line)
        self.keep(e, found)
        return found

    def enough(self, e):
        """A run in which little happened has proved nothing."""
        if self.o.seconds < 45:
            return
        kinds = {f.kind for f in self.chaos.faults}
        for kind in ("bridge kill", "broker kill", "join"):
            if kind not in kinds:
                yield f"no {kind} in {self.o.seconds:.0f} s"
        least = 0.5 * self.o.rate * self.o.seconds
        if len(e.written) < least:
            yield f"only {len(e.written)} events were written"

    def keep(self, e, found):
        """The evidence as text, for whoever looks into a failure."""
        with open(self.folder / "findings.txt", "w") as f:
            for what, texts in found.items():
                for text in texts:
                    f.write(f"{what}: {text}\n")
        with open(self.folder / "requests.tsv", "w") as f:
            at = {w.id: w for w in e.written}
            for s in sorted(e.sent, key=lambda s: s.start):
                w = at.get(s.id)
                where = f"{w.partition}:{w.offset}\t{w.key.decode()}" \
                    if w else "?\t?"
                f.write(f"{s.start:.4f}\t{s.done or 0:.4f}\t{s.slot}\t"
                        f"{s.status}\t{where}\t{s.id}\n")
        wall = time.time() - now()
        (self.folder / "story.json").write_text(json.dumps({
            "wall_minus_monotonic": wall,
            "faults": [[f.t, f.end, f.kind, f.who]
                       for f in self.chaos.faults],
            "starts": self.chaos.starts, "commits": e.commits,
            "dead": [[d.partition, d.offset, d.attempts, d.last, d.reason]
                     for d in e.dead]}, indent=0))

    def stop(self):
        for s in self.slots + ([self.spare] if self.slots else []):
            if s.bridge.alive:
                s.bridge.kill()
        if hasattr(self, "nodes"):
            self.nodes.stop()
        self.house.stop()


def options():
    a = argparse.ArgumentParser(prog="tests/chaos/run")
    a.add_argument("--seconds", type=float, default=60)
    a.add_argument("--seed", type=int, default=1, help="0: a new one")
    a.add_argument("--brokers", type=int, default=3)
    a.add_argument("--bridges", type=int, default=2)
    a.add_argument("--protocol", choices=("cooperative", "eager"),
                   help="default: eager if the seed is even")
    a.add_argument("--static", action="store_true",
                   help="with kafka.instance")
    a.add_argument("--rate", type=float, default=200, help="events a second")
    a.add_argument("--keys", type=int, default=300)
    a.add_argument("--drain", type=float, default=90,
                   help="how many seconds all may take to be done at the end")
    a.add_argument("--keep", action="store_true", help="keep the logs")
    a.add_argument("--verbose", action="store_true",
                   help="print each fault when it comes")
    a.add_argument("--self-test", action="store_true",
                   help="only prove that the judge finds what is planted")
    o = a.parse_args()
    o.seed = o.seed or int(time.time()) % 1000000
    o.protocol = o.protocol or ("cooperative" if o.seed % 2 else "eager")
    return o


def check(o, folder):
    """[(what, findings)] of one run; a run that broke off has failed."""
    try:
        program = bridge.build()
    except bridge.NoProject as e:
        return [("the program", [str(e)])]
    run = Run(o, program, folder)
    try:
        return list(run.run().items())
    except Exception as e:
        (folder / "trace").write_text(traceback.format_exc())
        texts = run.chaos.exits if hasattr(run, "chaos") else []
        return [("the run", texts + [f"{type(e).__name__}: {e}"])]
    finally:
        run.stop()


def main():
    o = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    passed, wrong = self_test()
    failed = len(wrong)
    for text in wrong:
        say(f"FAIL self-test: {text}")
    say(f"self-test: {passed} of {passed + failed}")
    if not o.self_test:
        passed, failed = int(not failed), int(failed > 0)
        folder = Path(tempfile.mkdtemp(prefix="outbox-chaos-"))
        say(f"seed {o.seed}, {o.protocol}{', static' if o.static else ''}, "
            f"{o.brokers} brokers, {o.bridges} bridges, {o.seconds:.0f} s; "
            f"logs: {folder}")
        good = False
        try:
            found = check(o, folder)
            for what, texts in found:
                say(f"{'FAIL' if texts else 'PASS'} {what}" +
                    (f": {len(texts)}, {texts[0]}" if texts else ""))
            bad = sum(1 for _, texts in found if texts)
            passed, failed = passed + len(found) - bad, failed + bad
            good = not failed and not o.keep
        finally:
            for d in folder.glob("broker-*/data"):
                shutil.rmtree(d, ignore_errors=True)
            if good:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                say(f"logs: {folder}")
    say(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""A row's way through the real services: PostgreSQL, Debezium in Kafka
Connect, Kafka, the bridge, a receiver.

For each kind of connector (the outbox router with three converters, and change
events without it): a thousand rows with one that is always refused and some
that fail once; then a second thousand with kill -9 in its middle. All is
compared byte for byte with what was inserted; the invariants of the
acceptance cases are checked on top (acceptance/api.py).
"""
import argparse
import collections
import json
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from acceptance import bridge
from acceptance.api import Event, Fail, Kit, Reply, check, until
from e2e import rows
from e2e.stack import CONNECTORS, Stack

now = time.monotonic
PARTITIONS = 4


class Scenario:
    """One kind of connector: its database, topic, bridge and receiver."""

    topic_name = "event.order"
    change_counts = None        # Counter of rows that change after insertion

    def __init__(self, stack, kind, program, folder):
        self.stack, self.kind = stack, kind
        self.kit = Kit(f"e2e-{kind}", stack.bootstrap, folder, [program])
        self.rows = []
        self.poison = None

    def start(self):
        k, name = self.kit, f"outbox_{self.kind}"
        self.database = name
        self.stack.psql("postgres", f"create database {name};")
        self.stack.psql(name, rows.TABLE)
        self.topic = k.topic(self.topic_name, partitions=PARTITIONS)
        self.stack.read_outbox(name, name, self.topic, self.kind)
        self.receiver = k.receiver()
        self.receiver.default = Reply(delay=0.004)
        self.bridge = k.started(self.topic, self.receiver.url,
                                **self.configuration())

    # ---- what differs between kinds
    def configuration(self):
        """What is set besides that of all kinds."""
        return {}

    def row_id(self, record):
        """Of the row whose event this record is; None: of no event."""
        return record.text("id")

    def record_count(self):
        """Records that must come of the rows so far."""
        return len(self.rows)

    def compare_skipped(self):
        """What must have been counted as skipped."""

    def ends(self):
        return self.kit.kafka.ends(self.topic, PARTITIONS)

    def committed(self):
        got = self.kit.kafka.committed(self.kit.group, self.topic, PARTITIONS)
        return {p: at or 0 for p, (at, _) in got.items()}

    def insert(self, new, sql):
        self.rows += new
        self.stack.psql(self.database, sql)

    def wait_settled(self):
        """All rows are in the topic, all of the topic is committed."""
        want = self.record_count()
        until(lambda: sum(self.ends().values()) >= want, 60,
              lambda: f"{sum(self.ends().values())} of {want} records in the "
              "topic after 60 s", every=0.1)
        until(lambda: self.committed() == self.ends(), 60,
              lambda: f"committed {self.committed()} of {self.ends()} after "
              "60 s", every=0.1)

    # ---- what must be true at the end of each thousand
    def compare(self):
        k = self.kit
        records = {self.row_id(r): r for r in
                   k.kafka.read(self.topic, PARTITIONS)}
        records.pop(None, None)
        by_id = {row.id: row for row in self.rows}
        check(records.keys() == by_id.keys(),
              f"{len(records.keys() ^ by_id.keys())} ids differ between "
              "table and topic")
        k.events = [Event(records[row.id], row.id, row.body)
                    for row in self.rows]
        delivered = {}
        for q in self.receiver.ok():
            delivered.setdefault(q.key, q)
        missing = by_id.keys() - delivered.keys() - {self.poison.id}
        check(not missing, f"{len(missing)} rows were not delivered")
        strange = {q.key for q in self.receiver.requests()} - by_id.keys()
        check(not strange, f"{len(strange)} keys that no row has")
        for q in self.receiver.requests():
            row = by_id[q.key]
            check(q.raw_body == row.body, f"the body of row {row.id} differs: "
                  f"{len(q.raw_body or b'')} bytes, was {len(row.body)}")
        self.compare_order(delivered)
        self.compare_dead()

    def compare_order(self, delivered):
        last = collections.defaultdict(float)
        for row in self.rows:
            if row.id in delivered:
                at = delivered[row.id].t_head
                check(at > last[row.aggregate],
                      f"row {row.id} of {row.aggregate} is out of order")
                last[row.aggregate] = at

    def compare_dead(self):
        dead = self.kit.dlq()
        check([self.row_id(d) for d in dead] == [self.poison.id],
              f"the DLQ holds {len(dead)} records, expected the poison row")
        check(dead[0].text("outbox.dlq.reason") == "http-permanent" and
              dead[0].text("outbox.dlq.http.status") == "400",
              f"reason {dead[0].text('outbox.dlq.reason')}, status "
              f"{dead[0].text('outbox.dlq.http.status')}")

    # ---- the two tests
    def first_thousand(self):
        self.start()
        new, sql = rows.thousand(f"{self.kind}-1", 0, self.change_counts)
        self.poison = new[500]
        self.receiver.on(self.poison.id, Reply(400))
        for row in new[7::50]:
            self.receiver.on(row.id, Reply(503), Reply(200))
        begin = now()
        self.insert(new, sql)
        self.wait_settled()
        took = now() - begin
        self.compare()
        self.compare_skipped()
        return f"{took:.1f} s from the first insert to the last commit"

    def second_thousand(self):
        check(self.poison and len(self.rows) == 1000, "there was no first one")
        new, sql = rows.thousand(f"{self.kind}-2", 1000,
                                 self.change_counts)
        ids = {row.id for row in new}
        self.insert(new, sql)
        ok = self.receiver.ok
        until(lambda: len({q.key for q in ok()} & ids) >= 300, 60,
              "300 of the second thousand are not delivered after 60 s")
        self.bridge.kill()
        killed = now()
        committed = self.committed()
        done = len({q.key for q in ok()} & ids)
        check(done < 1000, "the kill came too late for this test")
        restarted = now()
        self.kit.must_start(self.bridge)
        self.wait_settled()
        after = [q for q in self.kit.requests() if q.t_head >= restarted]
        self.compare()
        self.compare_resent(after, committed)
        twice = len(ok()) - len({q.key for q in ok()})
        return (f"killed after {done} of 1000, {twice} sent twice, first "
                f"request {after[0].t_head - killed:.1f} s after the kill")

    def compare_resent(self, after, committed):
        """What was committed before the kill is not sent again."""
        at = {e.key: e.rec for e in self.kit.events}
        again = [q for q in after if at[q.key].offset <
                 committed[at[q.key].partition]]
        check(not again, f"{len(again)} events below the committed offset "
              "were sent again")

    def finish(self):
        self.kit.finish()
        check(self.bridge.stop() == 0, "exit status at SIGTERM is not 0")
        return (f"at most {self.kit.world.max_open} connections open, "
                f"{self.kit.world.accepted} accepted")


class RawScenario(Scenario):
    """Change events without a transform. Updates, deletes and tombstones are
    no events."""

    topic_name = "public.outbox"

    def __init__(self, *args):
        super().__init__(*args)
        self.change_counts = collections.Counter()

    def row_id(self, record):
        change = json.loads(record.value or b'{"op": "tombstone"}')
        return change["after"]["id"] if change["op"] == "c" else None

    def record_count(self):
        n = self.change_counts
        return len(self.rows) + n["update"] + 2 * n["delete"]

    def compare_skipped(self):
        n = self.change_counts
        check(n["update"] > 50 and n["delete"] > 50, f"too few changes: {n}")
        want = {"op-update": n["update"], "op-delete": n["delete"],
                "tombstone": n["delete"]}
        got = {reason: sum(v for k, v in self.bridge.metrics().items() if
                           "_skipped_total{" in k and f'"{reason}"' in k)
               for reason in want}
        check(got == want, f"skipped {got}, expected {want}")


class AvroScenario(Scenario):
    """Routed rows in Avro; schemas from Apicurio's registry."""

    def configuration(self):
        url = self.stack.registry + "/apis/ccompat/v7"
        return {"registry": {"url": [url]}}


SCENARIOS = {"string": Scenario, "json": Scenario, "raw": RawScenario,
             "avro": AvroScenario}


def attempt(title, call):
    begin = now()
    try:
        figure, status = call(), "PASS"
    except Fail as e:
        figure, status = str(e), "FAIL"
    except Exception as e:
        traceback.print_exc()
        figure, status = f"{type(e).__name__}: {e}", "FAIL"
    print(f"{status} {title} [{now() - begin:.0f} s]: {figure}", flush=True)
    return status == "PASS"


def run(kinds, program, work):
    stack = Stack(work / "stack", registry="avro" in kinds)
    results = []
    try:
        stack.up()
        for name in kinds:
            s = SCENARIOS[name](stack, name, program, work / name)
            try:
                for title, call in (
                        ("1000 rows, one refused for ever", s.first_thousand),
                        ("1000 more, kill -9 amid", s.second_thousand),
                        ("invariants and a clean stop", s.finish)):
                    results.append(attempt(f"{name}: {title}", call))
            finally:
                s.kit.close()
    except Exception as e:
        print(f"FAIL the services: {e}", flush=True)
        results.append(False)
    finally:
        stack.down()
    return results


def main():
    parser = argparse.ArgumentParser(prog="tests/e2e/run")
    parser.add_argument("kind", nargs="*", default=list(CONNECTORS),
                        help=" ".join(CONNECTORS))
    parser.add_argument("--keep", action="store_true",
                        help="keep logs and data although all pass")
    opts = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        program = bridge.build()
    except bridge.NoProject as e:
        print(e)
        print("0 passed, 1 failed")
        return 1
    work = Path(tempfile.mkdtemp(prefix="outbox-e2e-"))
    work.chmod(0o711)           # PostgreSQL's user passes through it
    results = run(opts.kind, program, work)
    failed = results.count(False)
    if failed or opts.keep:
        print(f"logs: {work}")
    else:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{results.count(True)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

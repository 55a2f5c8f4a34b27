"""Threads that look: committed offsets, and the bridges' own figures."""
import socket
import struct
import threading
import time

from acceptance.broker import exchange, pstr

now = time.monotonic


def compact(data):
    """A compact string of the Kafka protocol; all of ours are short."""
    return bytes([len(data) + 1]) + data


def varint(data, at):
    """(value, where it ends)"""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fetch_offsets(sock, group, topic, partitions):
    """{partition: committed} by OffsetFetch 7 with require_stable: the only
    question that a new coordinator does not answer from the state in which
    it had taken over, before all commits of the old one. None: not now."""
    body = b"\0" + compact(group.encode()) + b"\x02" + \
        compact(topic.encode()) + bytes([partitions + 1]) + \
        b"".join(struct.pack(">i", p) for p in range(partitions)) + \
        b"\0" + b"\1" + b"\0"
    data = exchange(sock, 9, 7, body)
    topics, at = varint(data, 5)       # behind the header's tags, throttling
    out, failed = {}, False
    for _ in range(topics - 1):
        size, at = varint(data, at)
        count, at = varint(data, at + size - 1)
        for _ in range(count - 1):
            p, offset, _epoch = struct.unpack_from(">iqi", data, at)
            size, at = varint(data, at + 16)
            at += max(size - 1, 0)
            error, = struct.unpack_from(">h", data, at)
            failed = failed or error != 0
            at += 3
            if offset >= 0:
                out[p] = offset
        at += 1
    error, = struct.unpack_from(">h", data, at)
    return None if failed or error else out


class Commits:
    """Samples of (time, partition, committed), taken from whichever broker
    is the group's coordinator."""

    def __init__(self, bootstrap, group, topic, partitions):
        self.brokers = [(h, int(p)) for h, p in
                        (b.split(":") for b in bootstrap.split(","))]
        self.group, self.topic, self.partitions = group, topic, partitions
        self.samples = []
        self.last = {}
        self.asked = self.unanswered = 0
        self._sock = None
        self._stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def _coordinator(self):
        for host, port in self.brokers:
            try:
                with socket.create_connection((host, port), 2) as c:
                    c.settimeout(2)
                    a = exchange(c, 10, 1, pstr(self.group.encode()) + b"\0")
            except (OSError, RuntimeError):
                continue
            error, size = struct.unpack_from(">hh", a, 4)
            if error:
                continue
            at = 8 + max(size, 0) + 4
            size, = struct.unpack_from(">h", a, at)
            host = a[at + 2:at + 2 + size].decode()
            port, = struct.unpack_from(">i", a, at + 2 + size)
            return host, port
        return None

    def _ask(self):
        try:
            if self._sock is None:
                at = self._coordinator()
                if at is None:
                    return None
                self._sock = socket.create_connection(at, 2)
                self._sock.settimeout(6)
            got = fetch_offsets(self._sock, self.group, self.topic,
                                self.partitions)
        except (OSError, RuntimeError, struct.error, IndexError):
            got = None
        if got is None and self._sock:
            self._sock.close()
            self._sock = None
        return got

    def _run(self):
        while not self._stop.wait(0.1):
            self.asked += 1
            got, t = self._ask(), now()
            if got is None:
                self.unanswered += 1
                continue
            for p, offset in got.items():
                if self.last.get(p) != offset:
                    self.samples.append((t, p, offset))
                    self.last[p] = offset

    def stop(self):
        self._stop.set()
        self.thread.join(10)


class Gauges:
    """The most that each bridge process said of a metric."""

    NAMES = {"outbox_bridge_connections_open_max": "connections",
             "outbox_bridge_rebalances_total": "rebalances",
             "outbox_bridge_late_results_total": "late results",
             "outbox_bridge_commit_errors_total": "commit errors"}

    def __init__(self, slots):
        self.slots = slots
        self.most = {}                 # (bridge, pid): {what: value}
        self._stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def _run(self):
        while not self._stop.wait(0.7):
            for s in self.slots:
                self.look(s)

    def look(self, slot):
        if slot.stopped or not slot.bridge.alive:
            return
        pid = slot.bridge.proc.pid
        for name, value in slot.bridge.metrics().items():
            what = self.NAMES.get(name)
            if what:
                seen = self.most.setdefault((slot.name, pid), {})
                seen[what] = max(seen.get(what, 0), value)

    def total(self, what):
        return int(sum(m.get(what, 0) for m in self.most.values()))

    def stop(self):
        self._stop.set()
        self.thread.join(10)

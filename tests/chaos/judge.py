"""The verdict: what was written against what arrived and what was buried.

Pure functions over an Evidence; test_judge.py plants what they must find.
All times are seconds of one monotonic clock.
"""
import bisect
import collections
from dataclasses import dataclass, field


@dataclass
class Written:
    """A record of the topic, as the brokers have it at the end."""
    id: str
    partition: int
    offset: int
    key: bytes
    value: bytes
    headers: list
    ts: int
    refused: int = None        # the status that the receiver always gives it


@dataclass
class Sent:
    """A request as the receiver saw it."""
    start: float
    id: str
    body: bytes                # None: it never became complete
    slot: int
    status: int = None
    done: float = None         # when the receiver began to answer


@dataclass
class Dead:
    """A record of the DLQ topic."""
    partition: int             # of the original
    offset: int
    key: bytes
    value: bytes
    headers: list              # all of them, the original ones first
    ts: int
    attempts: int
    last: float = None         # end of its last attempt
    reason: str = ""


@dataclass
class Evidence:
    written: list = field(default_factory=list)
    acked: dict = field(default_factory=dict)      # id: (partition, offset)
    failed: int = 0            # writes that were refused or not answered
    sent: list = field(default_factory=list)
    dead: list = field(default_factory=list)
    commits: list = field(default_factory=list)    # (time, partition, offset)
    ends: dict = field(default_factory=dict)       # partition: end of the log
    committed: dict = field(default_factory=dict)  # partition: at the end
    moods: list = field(default_factory=list)      # (from, to, mood)
    faults: list = field(default_factory=list)     # (time, kind), no moods
    strange: list = field(default_factory=list)    # what the receiver found
    exits: list = field(default_factory=list)
    most_open: dict = field(default_factory=dict)  # bridge: connections
    most_said: dict = field(default_factory=dict)  # process: connections
    most_all: int = 0
    bridges: int = 3           # that may run at once
    connections: int = 4
    attempts: int = 5          # retry.max_attempts
    failures: int = 20         # breaker.failures
    patience: float = 4.0      # how long an outage is felt after its end


class Case:
    """The evidence with what all checks need."""

    def __init__(self, e):
        self.e = e
        self.by_id = {w.id: w for w in e.written}
        self.at = {(w.partition, w.offset): w for w in e.written}
        self.sent = sorted(e.sent, key=lambda s: s.start)
        self.first_start, self.first_ok = {}, {}
        for s in self.sent:
            self.first_start.setdefault(s.id, s.start)
            if s.status and 200 <= s.status < 300:
                t = self.first_ok.get(s.id, s.done)
                self.first_ok[s.id] = min(t, s.done)
        self.dead = collections.defaultdict(list)
        for d in e.dead:
            w = self.at.get((d.partition, d.offset))
            if w:
                self.dead[w.id].append(d)

    def settled(self, w):
        """The earliest time at which the event can have been settled by what
        was seen; None: it never was. A dead letter counts from the end of
        its last attempt (it was acknowledged later)."""
        times = []
        if w.id in self.first_ok:
            times.append(self.first_ok[w.id])
        for d in self.dead.get(w.id, ()):
            t = d.last
            if t is None:
                t = self.first_start.get(w.id, float("-inf"))
            times.append(t)
        return min(times) if times else None


def name(w):
    return f"{w.partition}:{w.offset} ({w.id})"


def check_lost(c):
    """Every record of the log got a 2xx or is in the DLQ; every one that was
    acknowledged is in the log; what is refused for ever is in the DLQ."""
    for ident, at in c.e.acked.items():
        w = c.by_id.get(ident)
        # a write that was repeated and found to be there has no offset
        if w is None or at[1] is not None and at != (w.partition, w.offset):
            yield f"the brokers lost {at[0]}:{at[1]} ({ident})"
    for w in c.e.written:
        if w.id not in c.first_ok and w.id not in c.dead:
            yield f"lost: {name(w)}"
        elif w.refused and w.id not in c.dead:
            yield f"refused for ever, but not in the DLQ: {name(w)}"
    if c.e.failed:
        yield f"{c.e.failed} writes failed: the brokers were not there"


def check_same(c):
    """Each request carries a key that was written, and that event's body."""
    yield from c.e.strange
    for s in c.sent:
        w = c.by_id.get(s.id)
        if w is None:
            yield f"a request with the unknown key {s.id}"
        elif s.body is not None and s.body != w.value:
            yield f"another body for {name(w)}: {s.body[:40]!r}"


def check_order(c):
    """Within a key an event is first sent only after all earlier ones were
    answered with 2xx, or had the last attempt before their dead letter."""
    lanes = {}
    for w in sorted(c.e.written, key=lambda w: (w.partition, w.offset)):
        lane = (w.partition, w.key)
        before = lanes.get(lane)
        start = c.first_start.get(w.id)
        if before and start is not None and start < before[0]:
            yield (f"order: {name(w)} was sent "
                   f"{(before[0] - start) * 1000:.1f} ms before "
                   f"{name(before[1])} of the same key was done")
        t = c.settled(w)
        if t is None:
            t = float("inf")
        if before is None or t > before[0]:
            lanes[lane] = (t, w)


def check_connections(c):
    for bridge, n in c.e.most_open.items():
        if n > c.e.connections:
            yield f"{n} connections of {bridge} were open at once"
    for process, n in c.e.most_said.items():
        if n > c.e.connections:
            yield f"{process} says that it had {n} connections open"
    most = c.e.bridges * c.e.connections
    if c.e.most_all > most:
        yield f"{c.e.most_all} connections open at once, allowed {most}"


def check_letters(c):
    """A dead letter is the original: key, value, timestamp, headers in
    order; what is added is named outbox.dlq.*."""
    for d in c.e.dead:
        w = c.at.get((d.partition, d.offset))
        where = f"dead letter of {d.partition}:{d.offset}"
        if w is None:
            yield f"{where}: there is no such record"
            continue
        n = len(w.headers)
        for what, is_, was in (("key", d.key, w.key),
                               ("value", d.value, w.value),
                               ("timestamp", d.ts, w.ts),
                               ("headers", d.headers[:n], w.headers)):
            if is_ != was:
                yield f"{where}: {what} {is_!r:.60}, was {was!r:.60}"
        for added, _ in d.headers[n:]:
            if not added.startswith("outbox.dlq."):
                yield f"{where}: added header {added!r}"
        if d.attempts < 1:
            yield f"{where}: {d.attempts} attempts"


def healthy_dead(c):
    return [(w, d) for ident, letters in c.dead.items()
            for w in (c.by_id[ident],) if not w.refused for d in letters]


def check_healthy(c):
    """P5: a healthy event is dead-lettered only after all its attempts, the
    last of them in a bad mood of the receiver, and in each of those for not
    more events than close a target plus those in flight, per bridge."""
    most = c.e.bridges * (c.e.failures - 1 + c.e.connections)
    per_mood = collections.Counter()
    for w, d in healthy_dead(c):
        if d.attempts < c.e.attempts:
            yield (f"healthy {name(w)} is in the DLQ after {d.attempts} "
                   f"attempts ({d.reason})")
            continue
        moods = [m for m in c.e.moods if d.last is not None and
                 m[0] <= d.last <= m[1] + c.e.patience]
        if not moods:
            yield (f"healthy {name(w)} is in the DLQ ({d.reason}) although "
                   "the receiver was well")
        else:
            per_mood[moods[-1]] += 1
    for mood, n in per_mood.items():
        if n > most:
            yield (f"{n} healthy events are in the DLQ after {mood[2]} of "
                   f"{mood[1] - mood[0]:.1f} s, allowed {most}")


def check_commits(c):
    """Committed offsets never go back, and nothing is committed before it
    was settled."""
    # highest settling time of all offsets up to each one, per partition
    offsets, times = collections.defaultdict(list), \
        collections.defaultdict(list)
    for w in sorted(c.e.written, key=lambda w: w.offset):
        t = c.settled(w)
        t = float("inf") if t is None else t
        so_far = times[w.partition]
        so_far.append(max(t, so_far[-1] if so_far else t))
        offsets[w.partition].append(w.offset)
    last = {}
    for t, p, at in sorted(c.e.commits):
        if at < last.get(p, at):
            yield f"committed of partition {p} went back, {last[p]} to {at}"
        last[p] = at
        n = bisect.bisect_left(offsets[p], at)
        if n and times[p][n - 1] > t:
            yield (f"{at} of partition {p} was committed before all below "
                   "it was settled")


def check_drained(c):
    for p, end in sorted(c.e.ends.items()):
        if c.e.committed.get(p, 0) != end:
            yield (f"partition {p} is committed up to "
                   f"{c.e.committed.get(p)}, its end is {end}")


def check_exits(c):
    yield from c.e.exits


def again(c):
    """Requests that began after the event had been answered with 2xx."""
    return [s for s in c.sent
            if s.id in c.first_ok and s.start > c.first_ok[s.id]]


def cause(c, request, within=30.0):
    """The kind of the fault that made this request a repeat: of all up to
    its start (kills, stops, joins, brokers) the one that is nearest to the
    event's first 2xx, whose commit it took away; None: there was none."""
    first = c.first_ok[request.id]
    near = [(abs(t - first), kind) for t, kind in c.e.faults
            if first - within <= t <= request.start]
    return min(near)[1] if near else None


def check_repeats(c):
    """Nothing is sent again after its 2xx without a fault that explains
    it."""
    for s in again(c):
        if cause(c, s) is None:
            yield f"{s.id} was sent again without a fault before it"


CHECKS = {
    "nothing lost": check_lost,
    "same key, same body": check_same,
    "order within a key": check_order,
    "connections": check_connections,
    "dead letters are the originals": check_letters,
    "no healthy event dead": check_healthy,
    "commits": check_commits,
    "drained": check_drained,
    "no process ended by itself": check_exits,
    "repeats only after faults": check_repeats,
}


def judge(evidence):
    """{check: [what it found]}; all empty: passed."""
    case = Case(evidence)
    return {what: list(f(case)) for what, f in CHECKS.items()}

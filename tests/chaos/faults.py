"""What goes wrong, and when: each actor draws from a random generator of its
own, so that a seed says what is done to whom; the machine says how it ends."""
import random
import signal
import time
from dataclasses import dataclass

from .entrance import MOODS

now = time.monotonic


@dataclass
class Fault:
    t: float
    kind: str
    who: str
    end: float = None          # when it was over, for what lasts
    slot: int = None           # of the bridge that it is done to


@dataclass
class Slot:
    """A place in which one bridge process at a time runs."""
    name: str
    number: int
    bridge: object
    entrance: object
    wanted: bool = False       # should run now
    stopped: bool = False      # is frozen by us
    leaving: bool = False      # got TERM from us


class Chaos:
    """Runs the actors in the calling thread, which has to be the main one:
    processes die with the thread that started them."""

    TERM_LIMIT = 25.0          # limits.shutdown_ms and generous slack
    WHOLE_LIMIT = 60.0

    def __init__(self, seed, nodes, slots, spare, house, say):
        self.seed, self.nodes, self.slots = seed, nodes, slots
        self.spare, self.house, self.say = spare, house, say
        self.faults, self.moods, self.starts = [], [], []
        self.exits = []            # what ended though nobody ended it
        self.begun = now()

    # ---- acts
    def note(self, kind, who, slot=None):
        f = Fault(now(), kind, who, slot=slot)
        self.faults.append(f)
        self.say(f"{f.t - self.begun:6.1f} s  {kind} {who}")
        return f

    def start(self, slot):
        slot.wanted, slot.stopped, slot.leaving = True, False, False
        self.starts.append((now(), slot.number))
        slot.bridge.start(ready=0)

    def kill(self, slot):
        slot.wanted = False
        self.note("bridge kill", slot.name, slot.number)
        slot.bridge.kill()

    def leave(self, slot, kind):
        """TERM; waits for the end, which has to come with status 0."""
        slot.wanted, slot.leaving = False, True
        f = self.note(kind, slot.name)
        slot.bridge.signal(signal.SIGTERM)
        limit = now() + self.TERM_LIMIT
        while slot.bridge.alive and now() < limit:
            yield 0.05
        if slot.bridge.alive:
            self.exits.append(f"{slot.name} still runs {self.TERM_LIMIT:.0f} "
                              "s after TERM")
            slot.bridge.kill()
        elif slot.bridge.proc.returncode != 0:
            self.exits.append(f"{slot.name} ended with status "
                              f"{slot.bridge.proc.returncode} after TERM")
        f.end, slot.leaving = now(), False

    def freeze(self, slot, seconds):
        f = self.note("bridge stop", f"{slot.name} {seconds:.1f} s")
        slot.stopped = True
        slot.bridge.signal(signal.SIGSTOP)
        yield seconds
        slot.bridge.signal(signal.SIGCONT)
        slot.stopped, f.end = False, now()

    # ---- actors: they yield how long they wait; the first act of each kills
    def brokers(self, r):
        yield r.uniform(3, 6)
        hard = True
        while True:
            node = r.choice(self.nodes.nodes)
            f = self.note("broker kill" if hard else "broker term",
                          str(node.number))
            node.wanted = False
            if hard:
                node.kill()
            else:
                node.proc.terminate()
                limit = now() + 20
                while node.alive and now() < limit:
                    yield 0.05
                node.kill()
            yield r.uniform(0.5, 6)
            node.start()
            node.wanted = True
            limit = now() + self.WHOLE_LIMIT
            while not node.ready and now() < limit:
                yield 0.1
            ready = now()
            while self.nodes.last_whole < ready + 0.3:
                if now() > limit:
                    self.exits.append(f"broker {node.number} does not come "
                                      "back in sync")
                    return
                yield 0.1
            f.end = now()
            yield r.uniform(3, 9)
            hard = r.random() < 0.75

    def bridge(self, r, slot):
        yield r.uniform(2, 7)
        draw = 0.0
        while True:
            if draw < 0.45:
                self.kill(slot)
                yield r.uniform(0.1, 3)
                self.start(slot)
            elif draw < 0.70:
                yield from self.leave(slot, "bridge term")
                yield r.uniform(0.1, 3)
                self.start(slot)
            elif draw < 0.85:
                yield from self.freeze(slot, r.uniform(0.5, 2))
            else:
                yield from self.freeze(slot, r.uniform(6, 9))
            yield r.uniform(6, 14)
            draw = r.random()

    def visitor(self, r):
        yield r.uniform(6, 12)
        while True:
            self.note("join", self.spare.name)
            self.start(self.spare)
            yield r.uniform(5, 12)
            if r.random() < 0.3:
                self.kill(self.spare)
            else:
                yield from self.leave(self.spare, "leave")
            yield r.uniform(5, 12)

    def receiver(self, r):
        """Never 500 for longer than an event's ladder, and a rest behind
        each mood, so that a healthy event can live through all of them."""
        yield r.uniform(2, 4)
        while True:
            mood = r.choice(MOODS)
            outage = mood in ("refuse", "503", "hang") and r.random() < 0.2
            seconds = r.uniform(6, 10) if outage else r.uniform(0.5, 2.5)
            f = self.note(f"receiver {mood}", f"{seconds:.1f} s")
            self.house.set_mood(mood)
            yield seconds
            self.house.set_mood("fine")
            f.end = now()
            self.moods.append((f.t, f.end, mood))
            yield r.uniform(4.5, 8)

    # ---- the loop
    def look(self):
        """What ended though nobody ended it."""
        for s in self.slots + [self.spare]:
            if s.wanted and not s.bridge.alive:
                self.exits.append(f"{s.name} ended by itself with status "
                                  f"{s.bridge.proc.returncode}")
                self.say(self.exits[-1])
                self.start(s)
        for n in self.nodes.nodes:
            if n.wanted and not n.alive:
                n.wanted = False
                self.exits.append(f"broker {n.number} ended by itself")
                self.say(self.exits[-1])

    def run(self, seconds):
        def actor(name, make, *more):
            return [0.0, make(random.Random(f"{self.seed}/{name}"), *more)]
        actors = [actor("brokers", self.brokers),
                  actor("visitor", self.visitor),
                  actor("receiver", self.receiver)]
        actors += [actor(s.name, self.bridge, s) for s in self.slots]
        self.begun = now()
        while now() < self.begun + seconds:
            for a in list(actors):
                if now() >= a[0]:
                    try:
                        a[0] = now() + next(a[1])
                    except StopIteration:
                        actors.remove(a)
            self.look()
            time.sleep(0.02)

    def heal(self):
        """Ends all faults: brokers and bridges up, the visitor gone."""
        if self.house.mood != "fine":
            f = next(f for f in reversed(self.faults)
                     if f.kind.startswith("receiver"))
            self.house.set_mood("fine")
            f.end = now()
            self.moods.append((f.t, f.end, f.kind.split()[1]))
        for n in self.nodes.nodes:
            if not n.alive or not n.wanted:
                n.kill()
                n.start()
                n.wanted = True
        for s in self.slots + [self.spare]:
            if s.stopped:
                s.bridge.signal(signal.SIGCONT)
                s.stopped = False
        if self.spare.wanted:
            self.wait_left(self.spare, "leave")
        for s in self.slots:
            if s.leaving and s.bridge.wait(self.TERM_LIMIT) != 0:
                self.exits.append(f"{s.name} did not end with status 0 "
                                  "after TERM")
                s.bridge.kill()
            if not s.bridge.alive:
                self.start(s)

    def wait_left(self, slot, kind):
        for pause in self.leave(slot, kind):
            time.sleep(pause)

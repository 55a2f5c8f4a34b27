"""The receiver: one house with an entrance (a port) for each bridge, so that
it knows whose connections are open. Its mood decides the answers."""
import random
import socket
import threading
import time

from acceptance.receiver import Receiver, Reply, World

now = time.monotonic

# Besides "fine": the port is closed; that status; no answer; a reset; closed
# without an answer; late answers; some of all that for three in ten.
MOODS = ("refuse", "500", "503", "429", "hang", "reset", "silent", "slow",
         "mixed")


class Porch(World):
    """The connections of one entrance: the most at any look is kept, and a
    look sees only what is open at that moment."""

    def established(self):
        n = super().established()
        self.max_open = max(self.max_open, n)
        return n


class Entrance(Receiver):
    def __init__(self, house, port=None):
        self.house = house
        super().__init__(world=Porch(), port=port)
        self.default = house.answer

    def _accept(self):
        sock = self.sock
        while not self.stopping:
            try:
                s, _ = sock.accept()
            except OSError:
                return
            n = next(self.serial)
            with self.world.lock:
                self.world.accepted += 1
                self.world.conns[(id(self), n)] = s
            open_now = self.house.count(self)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(s, n, open_now),
                             daemon=True).start()

    def _request(self, s, n, nth, buf, idle):
        got = super()._request(s, n, nth, buf, idle)
        if got[1] is not None:
            self.house.count(self)
        return got

    def _answer(self, s, q, reply):
        # What was looked at is not kept: long runs have many requests.
        want = self.house.bodies.get(q.key)
        other = q.get("X-Idempotency-Key")
        if other is not None and other != q.key:
            self.house.strange.append(
                f"two keys on one request: {q.key} and {other}")
        if q.raw_body == want:
            q.raw_body = want
        q.raw_head, q.headers = b"", []
        return super()._answer(s, q, reply)

    def shut(self):
        self.stop()
        self.thread.join(5)

    def reopen(self):
        end = now() + 5
        while True:
            sock = socket.socket()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("127.0.0.1", self.port))
                break
            except OSError:
                sock.close()
                if now() > end:
                    raise
                time.sleep(0.05)
        sock.listen(64)
        self.sock, self.stopping = sock, False
        self.thread = threading.Thread(target=self._accept, daemon=True)
        self.thread.start()


class House:
    """All entrances. `bodies`: {idempotency key: body} of what was produced;
    `refused`: {key: status} of events that are never taken."""

    def __init__(self, seed):
        self.bodies, self.refused, self.strange = {}, {}, []
        self.mood, self.pause = "fine", 0.004
        self.entrances = []
        self.max_open = 0
        self.random = random.Random(f"{seed}/receiver")
        self.lock = threading.Lock()

    def entrance(self):
        e = Entrance(self)
        self.entrances.append(e)
        return e

    def count(self, at):
        """Counts what is open at this entrance and at all of them."""
        at.world.established()
        with self.lock:
            self.max_open = max(self.max_open, sum(
                e.world.established() for e in self.entrances))

    def set_mood(self, mood):
        was, self.mood = self.mood, mood
        if mood == "refuse":
            for e in self.entrances:
                e.shut()
        elif was == "refuse":
            for e in self.entrances:
                e.reopen()

    def answer(self, q):
        status = self.refused.get(q.key)
        mood = self.mood
        if mood == "mixed" and self.random.random() < 0.3:
            mood = self.random.choice(("500", "503", "429", "reset", "silent",
                                       "slow"))
        if mood == "500":
            return Reply(500)
        if mood == "503":
            return Reply(503)
        if mood == "429":
            return Reply(429, (("Retry-After", "1"),))
        if mood == "hang":
            return Reply(hang=True)
        if mood == "reset":
            return Reply(rst=self.random.choice(("head", "body")))
        if mood == "silent":
            return Reply(silent=True)
        if mood == "slow":
            return Reply(status or 200, delay=self.random.uniform(0.05, 0.4))
        return Reply(status or 200, delay=self.pause)

    def requests(self):
        """[(name of the entrance, Request)] of all, by time."""
        out = []
        for i, e in enumerate(self.entrances):
            with e.lock:
                out += [(i, q) for q in e.log]
        return sorted(out, key=lambda x: x[1].t_first)

    def stop(self):
        for e in self.entrances:
            e.stop()

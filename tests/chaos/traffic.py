"""What is written to the topic, all the time, and what the brokers said."""
import json
import random
import threading
import time
import uuid

from acceptance.broker import Cluster

now = time.monotonic

# How many of 1000 events are never taken, and with which answer.
REFUSED = {422: 3, 500: 1}


class Traffic:
    """A thread that writes `rate` events a second, keyed, in sequence."""

    def __init__(self, bootstrap, topic, house, seed, rate, keys):
        self.topic, self.house, self.rate, self.keys = topic, house, rate, keys
        self.random = random.Random(f"{seed}/traffic")
        self.acked = {}                # id: (partition, offset or None)
        self.failed = []
        self.written = 0
        self.producer = Cluster(bootstrap).producer(**{
            "enable.idempotence": True, "message.timeout.ms": 300000,
            "partitioner": "murmur2_random", "linger.ms": 2})
        self._stop = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.thread.start()

    def _event(self, sequence):
        key = f"order-{self.random.randrange(self.keys)}"
        sequence[key] = sequence.get(key, 0) + 1
        draw = self.random.randrange(1000)
        status = None
        for code, share in REFUSED.items():
            if draw < share:
                status = code
                break
            draw -= share
        ident = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        body = json.dumps({
            "key": key, "n": sequence[key], "refused": status,
            "text": "é" * self.random.randrange(8, 200)},
            ensure_ascii=False).encode()
        headers = [("id", ident.encode()), ("eventType", b"OrderChanged"),
                   ("bytes", self.random.randbytes(6)), ("null", None)]
        return ident, key, body, headers, status

    def _run(self):
        begun, sequence = now(), {}
        while not self._stop.is_set():
            due = (now() - begun) * self.rate
            if self.written >= due:
                self.producer.poll(0.005)
                continue
            ident, key, body, headers, status = self._event(sequence)
            # the receiver must know the event before it can arrive
            self.house.bodies[ident] = body
            if status:
                self.house.refused[ident] = status
            while True:
                try:
                    self.producer.produce(
                        self.topic, value=body, key=key.encode(),
                        headers=headers, on_delivery=self._report(ident))
                    break
                except BufferError:
                    self.producer.poll(0.1)
            self.written += 1
            self.producer.poll(0)

    def _report(self, ident):
        def done(error, message):
            if error:
                self.failed.append((ident, str(error)))
            else:
                self.acked[ident] = message.partition(), message.offset()
        return done

    def stop(self, seconds=60):
        """How many are still unanswered."""
        self._stop.set()
        self.thread.join(10)
        return self.producer.flush(seconds)

TITLE = "every codec is read; a damaged batch is never passed"
TIME = 200
import glob, struct
from acceptance.api import *

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def run(k):
    t = k.topic()
    other = k.topic("z", config={"compression.type": "zstd"}, dlq=False)
    r = k.receiver()
    for i, codec in enumerate(CODECS):
        k.produce(t, [E(10 * i + n, value=b'{"n":%d,"t":"%s"}' % (10 * i + n, b"same " * 40)) for n in range(10)],
                  cluster_kw={"compression.type": codec, "linger.ms": 200})
    k.produce(other, [E(100 + n, value=b'{"n":%d,"t":"%s"}' % (n, b"same " * 40)) for n in range(10)])
    k.started([t, other], r.url)
    k.wait_committed(t, 50)
    k.wait_committed(other, 10)
    got = [q.key for q in r.ok()]
    check(sorted(got) == sorted(ID(n) for n in list(range(50)) + list(range(100, 110))), f"{len(got)} deliveries, {len(set(got))} events; expected 60")


def crc32c(data):
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    c = 0xFFFFFFFF
    for x in data:
        c = c >> 8 ^ table[(c ^ x) & 255]
    return c ^ 0xFFFFFFFF


def damaged(k, codec, mend):
    """Offsets 0-4 are sound, 5-14 are one batch with a flipped byte, 15-19 are sound again."""
    t = k.topic()
    sound = k.topic("s", dlq=False)
    r = k.receiver()
    k.produce(t, [E(n) for n in range(5)])
    k.produce(t, [E(n, value=b'{"n":%d,"t":"%s"}' % (n, b"same " * 40)) for n in range(5, 15)], free=True,
              cluster_kw={"compression.type": codec, "linger.ms": 300})
    k.produce(t, [E(n) for n in range(15, 20)], free=True)
    file, = glob.glob(f"{k.folder.parents[1]}/broker/*/data/{t}-0/00000000000000000000.log")
    with open(file, "r+b") as f:
        data, at = f.read(), 0
        while struct.unpack_from(">q", data, at)[0] < 5:
            at += 12 + struct.unpack_from(">i", data, at + 8)[0]
        base, size = struct.unpack_from(">qi", data, at)
        last, = struct.unpack_from(">i", data, at + 23)
        check(base == 5 and last == 9, f"the batch holds offsets {base} to {base + last}: the case's own fault")
        whole = data[at:at + 12 + size]
        batch = bytearray(whole)
        # a mended checksum leaves it to the codec: so its frame's first byte, which cannot be read as anything else
        batch[61 if mend else 61 + (len(batch) - 61) // 2] ^= 0x5A
        if mend:
            struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
        f.seek(at)
        f.write(batch)
    b = k.bridge(k.conf([t, sound], r.url))
    b.start(ready=0)
    until(lambda: {q.key for q in r.ok()} >= {ID(n) for n in range(5)}, 20, "the sound events before the damaged batch are not delivered")
    named = lambda: any(t in l and re.search(r"\b(5|5-14)\b", l.split(t, 1)[1]) and "WARN" not in l.upper() for l in b.log().splitlines())
    until(lambda: (not b.alive or b.get("/readyz")[0] == 503) and named(), 20,
          lambda: f"alive {b.alive}, /readyz {b.get('/readyz')[0]}, the offset is {'' if named() else 'not '}named: expected an exit or a red /readyz, and offset 5 in the log")
    check(b.alive or b.proc.returncode != 0, "exit status 0")
    if b.alive:                         # the other partition goes on
        k.produce(sound, [E(n) for n in range(50, 55)])
        k.wait_committed(sound, 5)
    got = k.committed(t)
    check(got is not None and got <= 5, f"offset {got} is committed, the damaged batch begins at 5")
    passed = {q.key for q in r.requests()} & {ID(n) for n in range(5, 20)}
    check(not passed, f"{len(passed)} events of and behind the damaged batch were sent")
    if not b.alive:
        return
    with open(file, "r+b") as f:        # a person mends the log: it goes on by itself
        f.seek(at)
        f.write(whole)
    k.wait_committed(t, 20, 25)
    until(lambda: b.get("/readyz")[0] == 200, 5, lambda: f"not ready although the log is mended: {b.get('/readyz')[1][:200]}")
    got = sorted(q.key for q in r.ok() if q.key in {ID(n) for n in range(20)})
    check(got == [ID(n) for n in range(20)], f"{len(got)} deliveries of 20 events after the log was mended")


def run_crc(k):
    """Only the checksum tells: without it a wrong value would be delivered."""
    damaged(k, "none", False)


def run_flipped(k):
    damaged(k, "zstd", False)


def run_data(k):
    """The checksum is right, the compressed data is not."""
    damaged(k, "zstd", True)


def stuck(k, number):
    """The checksum is right, but record `number` of the batch claims to be longer than the batch: librdkafka fetches it again and
    again, and reports nothing. So the bridge has to notice it."""
    t = k.topic()
    r = k.receiver()
    k.produce(t, [E(n) for n in range(5)])
    b = k.started(t, r.url)
    k.wait_committed(t, 5)
    b.stop()
    k.produce(t, [E(n, value=b'{"n":%d,"t":"%s"}' % (n, b"same " * 40)) for n in range(5, 15)], free=True, cluster_kw={"linger.ms": 300})
    file, = glob.glob(f"{k.folder.parents[1]}/broker/*/data/{t}-0/00000000000000000000.log")
    with open(file, "r+b") as f:
        data, at = f.read(), 0
        while struct.unpack_from(">q", data, at)[0] < 5:
            at += 12 + struct.unpack_from(">i", data, at + 8)[0]
        base, size = struct.unpack_from(">qi", data, at)
        last, = struct.unpack_from(">i", data, at + 23)
        check(base == 5 and last == 9, f"the batch holds offsets {base} to {base + last}: the case's own fault")
        whole = data[at:at + 12 + size]
        batch = bytearray(whole)
        pos = 61
        for _ in range(number):
            pos += 2 + ((batch[pos] & 0x7F | batch[pos + 1] << 7) >> 1)     # lengths of two bytes, zigzag
        check(batch[pos] & 0x80 and not batch[pos + 1] & 0x80, "a length has not two bytes: the case's own fault")
        batch[pos + 1] = 0x7F
        struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
        f.seek(at)
        f.write(batch)
    b.start(ready=0)
    begin = now()
    alarm = lambda: b.metrics().get('outbox_bridge_alarm{name="partition_stuck"}') == 1
    until(alarm, 60, lambda: f"no alarm partition_stuck after 60 s; /readyz {b.get('/readyz')}")
    took = now() - begin
    stands = 5 + number
    status, why = b.get("/readyz")
    check(status == 503 and t in why and f"offset {stands}" in why, f"/readyz {status} {why[:200]}: expected 503, {t} and offset {stands}")
    got = {q.key for q in r.requests()} & {ID(n) for n in range(5, 20)}
    check(got == {ID(n) for n in range(5, stands)}, f"{len(got)} events of the damaged batch were sent, expected those before the fault: {number}")
    with open(file, "r+b") as f:        # a person mends the log: it goes on by itself
        f.seek(at)
        f.write(whole)
    k.wait_committed(t, 15, 25)
    until(lambda: b.get("/readyz")[0] == 200 and not alarm(), 15, "the alarm stays although the log is mended")
    got = sorted(q.key for q in r.ok() if q.key in {ID(n) for n in range(15)})
    check(got == [ID(n) for n in range(15)], f"{len(got)} deliveries of 15 events after the log was mended")
    k.figure = f"alarm after {took:.0f} s"


def run_stuck(k):
    stuck(k, 0)


def run_stuck_inside(k):
    stuck(k, 4)

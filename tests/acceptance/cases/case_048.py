TITLE = "a peer or a log that goes away does not kill the process"
TIME = 60
from acceptance.api import *

SIGPIPE = 13
RESETS = ("head", "body", "reply", None)
EVENTS = 400


def ignored(b):
    text = Path(f"/proc/{b.proc.pid}/status").read_text()
    mask = int(re.search(r"^SigIgn:\s+([0-9a-f]+)$", text, re.M).group(1), 16)
    return bool(mask >> (SIGPIPE - 1) & 1)


def resets(k, tls):
    t = k.topic(partitions=2)
    r = k.receiver(tls="good" if tls else None)
    for n in range(EVENTS):
        if RESETS[n % 4]:
            r.on(ID(n), Reply(rst=RESETS[n % 4]), Reply(200))
        else:
            r.on(ID(n), Reply(silent=True), Reply(200, close=True))
    b = k.started(t, r.url, delivery={"ca_file": ca_file()} if tls else {}, retry={"base_ms": 10}, breaker={"failures": 0, "after": 0})
    check(ignored(b), "SIGPIPE is not ignored (SigIgn, bit 13)")
    # large enough that some writes meet a closed connection
    k.produce(t, [E(n, value=b'{"n":%d,"f":"%s"}' % (n, b"x" * 200000 if n % 20 == 0 else b""), partition=n % 2) for n in range(EVENTS)])
    for p in range(2):
        k.wait_committed(t, EVENTS // 2, 40, p)
    check(b.alive, f"the bridge ended with {b.proc.returncode}")
    missing = sorted({ID(n) for n in range(EVENTS)} - {q.key for q in r.ok()})
    check(not missing, f"{len(missing)} of {EVENTS} events not delivered, the first is {missing[:1]}")
    check(not k.dlq(), f"{len(k.dlq())} records in the DLQ")


def run_tls(k):
    resets(k, True)


def run_plain(k):
    resets(k, False)


def run_closed_pipe(k):
    """Standard output and error go into pipes that nobody reads."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(400))
    b = k.bridge(k.conf(t, r.url))
    ends = []
    for _ in range(2):
        read_end, write_end = os.pipe()
        os.close(read_end)
        ends.append(write_end)
    b.proc = b.spawn(["run", "-c", str(b.file)], out=ends[0], err=ends[1])
    for end in ends:
        os.close(end)
    until(lambda: b.alive and b.get("/readyz")[0] == 200, 20, lambda: f"not ready with closed pipes; exit status {b.proc.poll()}")
    check(ignored(b), "SIGPIPE is not ignored (SigIgn, bit 13)")
    k.produce(t, [E(n) for n in range(1, 51)])
    k.wait_committed(t, 50)
    check(len(k.dlq()) == 1, f"{len(k.dlq())} records in the DLQ, expected 1")
    rc = b.stop()
    check(rc == 0, f"exit status {rc} at SIGTERM with closed pipes")

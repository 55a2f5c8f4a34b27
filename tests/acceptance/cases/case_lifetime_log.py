TITLE = "a log that is full, closed or stuck stops no delivery"
TIME = 75
import fcntl, subprocess
from acceptance.api import *

EVENTS = 60


def delivers(k, spawn, lost=True):
    """Every event is delivered, one dead-lettered, all committed, and it ends in time; lines that were lost are counted."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(1), Reply(400))
    r.on(ID(2), Reply(503), Reply(200))
    b = k.bridge(k.conf(t, r.url, log={"delivered": True}, limits={"shutdown_ms": 3000}))
    b.proc = spawn(b)
    until(lambda: b.alive and b.get("/readyz")[0] == 200, 20, lambda: f"not ready; exit status {b.proc.poll()}")
    k.produce(t, [E(n) for n in range(EVENTS)])
    k.wait_committed(t, EVENTS)
    check(len(r.ok()) == EVENTS - 1 and len(r.requests()) == EVENTS + 1, f"{len(r.requests())} requests, {len(r.ok())} accepted, of {EVENTS} events")
    check(len(k.dlq()) == 1, f"{len(k.dlq())} records in the DLQ, expected 1")
    if lost:
        check(b.metric("outbox_bridge_log_lost") > 0, "lost lines are not counted")
    check(b.get("/readyz")[0] == 200, f"/readyz: {b.get('/readyz')}")
    rc = b.stop(4)
    check(rc == 0, f"exit status {rc} within 4 s of SIGTERM")
    return b


def run_full_disk(k):
    with open("/dev/full", "w") as full:
        delivers(k, lambda b: b.spawn(["run", "-c", str(b.file)], out=full, err=full))


def run_stuck_pipe(k):
    """Standard error is a pipe that is full, with a reader that never reads."""
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write_end, b"x" * 4096)
    delivers(k, lambda b: b.spawn(["run", "-c", str(b.file)], err=write_end))
    os.close(read_end)
    os.close(write_end)


def run_stuck_terminal(k):
    """Standard error is a terminal that nobody reads, with room for a part of a line."""
    ours, theirs = os.openpty()
    os.set_blocking(theirs, False)
    try:
        while os.write(theirs, b"x" * 512):
            pass
    except BlockingIOError:
        pass
    os.set_blocking(theirs, True)
    os.read(ours, 100)
    delivers(k, lambda b: b.spawn(["run", "-c", str(b.file)], err=theirs))
    os.close(ours)
    os.close(theirs)


def run_closed(k):
    """Started without standard descriptors: no line lands in a socket or a file that got their numbers."""
    seen = {}

    def spawn(b):
        p = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"] + b.program + ["run", "-c", str(b.file)])
        b.starts += 1
        return p
    k_finish = k.committed

    def look(*a):
        for b in k.bridges:
            for n in (0, 1, 2):
                try:
                    seen[n] = os.readlink(f"/proc/{b.proc.pid}/fd/{n}")
                except OSError:
                    pass
        return k_finish(*a)
    k.committed = look
    delivers(k, spawn, lost=False)
    wrong = {n: to for n, to in seen.items() if to != "/dev/null"}
    check(not wrong, f"a standard descriptor is used for something else: {wrong}")

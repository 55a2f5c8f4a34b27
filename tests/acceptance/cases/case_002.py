TITLE = "nothing is committed for what was only fetched or sent"
TIME = 60
from acceptance.api import *


def run(k):
    t = k.topic()
    r = k.receiver()
    r.default = Reply(hang=True)
    b = k.started(t, r.url, delivery={"timeout_ms": 60000}, limits={"shutdown_ms": 1500})
    k.produce(t, [E(n) for n in range(1, 101)])
    until(lambda: len(r.requests()) >= 4, 10, lambda: f"{len(r.requests())} requests after 10 s, expected 4 open ones")
    end = now() + 7                     # past the 5 s of an automatic commit
    while now() < end:
        got = k.committed(t)
        check(got in (None, 0), f"offset {got} is committed while no request was answered")
        time.sleep(0.2)
    check(len(r.requests()) == 4, f"{len(r.requests())} requests, expected 4 that hang")
    rc = b.stop(15)
    check(rc == 0, f"exit status {rc} at SIGTERM, expected 0")
    got = k.committed(t)
    check(got in (None, 0), f"offset {got} is committed at the stop although no request was answered")
    check(not k.dlq(), "the stop put events into the DLQ")


def run_override(k):
    """The settings that would break it are refused by name."""
    t = k.topic()
    r = k.receiver()
    k.produce(t, E(1))
    for text in ("enable.auto.commit=true", "enable.auto.offset.store=true", "isolation.level=read_uncommitted",
                 "consumer.enable.auto.commit=true"):
        conf = k.conf(t, r.url)
        conf["kafka"]["properties"].append(text)
        b = k.bridge(conf, watch=False)
        rc, out = b.once(["run", "-c", str(b.file)], 15)
        check(rc == names.CONFIG, f"{text}: exit status {rc}, expected {names.CONFIG}")
        name = text.removeprefix("consumer.").partition("=")[0]
        check(name in out, f"{text}: the message does not name {name}: {out.strip()[-160:]}")
    check(not r.requests(), "an event was sent")

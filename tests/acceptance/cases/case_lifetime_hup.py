TITLE = "HUP checks the file, says the truth about it, and disturbs nothing"
TIME = 60
import signal
from acceptance.api import *


def lines(b, msg):
    return [l for l in b.log().splitlines() if f'msg="{msg}"' in l]


def hup(b, msg):
    """One HUP; the line that it leads to."""
    n = len(lines(b, msg))
    b.signal(signal.SIGHUP)
    until(lambda: len(lines(b, msg)) > n, 5, f"no line \"{msg}\" after HUP; last: {b.log().splitlines()[-1][:160]}")
    return lines(b, msg)[-1]


def run_files(k):
    """Good, changed and broken files: what the log says is what `check` says."""
    t = k.topic()
    r = k.receiver()
    secret = k.folder / "secret"
    secret.write_text("one")
    conf = k.conf(t, r.url)
    conf["kafka"]["properties"] = conf["kafka"]["properties"] + ["ssl.key.password=${file:%s}" % secret]
    b = k.bridge(conf)
    k.must_start(b)
    pid = b.proc.pid
    k.produce(t, [E(n) for n in range(5)])
    k.wait_committed(t, 5)
    good = lambda: b.metric("outbox_bridge_reload_ok") == 1
    check(good(), "outbox_bridge_reload_ok is not 1 before any HUP")
    check("nothing has changed" in hup(b, "configuration checked"), "an unchanged file is not called unchanged")
    secret.write_text("two")
    said = hup(b, "configuration checked")
    check("nothing has changed" not in said, "a changed secret is called unchanged")
    check("two" not in said.split("config")[-1], "the log shows a secret")
    secret.write_text("one")

    b.write(merge(conf, {"retry": {"base_ms": 200}, "kafka": {"group": "another"}}))
    said = hup(b, "configuration checked")
    check("restart" in said, f"nothing says that a restart takes it over: {said[-200:]}")
    for key in ("retry.base_ms", "kafka.group"):
        check(key in said, f"the changed key {key} is not named: {said[-200:]}")
    check("delivery.url" not in said, "a key that has not changed is named")
    check(good(), "outbox_bridge_reload_ok is not 1 after a valid file")

    for text in ("retry = { base_ms = ; };", "retry = { bass_ms = 3; };", None):
        broken = merge(conf, {"kafka": {"properties": ["sesion.timeout.ms=4000"]}})
        b.file.write_text(bridge_.config_text(conf).replace("retry = {", text + "\nretry = {", 1) if text else bridge_.config_text(broken))
        status, said = b.once(["check", "-c", str(b.file)])
        check(status == 78, f"check: exit status {status} for a broken file")
        want = [l.split("outbox-bridge: ", 1)[1] for l in said.splitlines() if l.startswith("outbox-bridge: ")]
        hup(b, "configuration refused")
        logged = lines(b, "configuration fault")[-1].replace('\\"', '"')
        for w in want[-1:]:
            check(w[:120] in logged, f"`check` says {w[:120]}, the log {logged[-220:]}")
        check(not good(), "outbox_bridge_reload_ok is not 0 after a broken file")
    b.file.unlink()
    hup(b, "configuration refused")
    check(str(b.file) in lines(b, "configuration fault")[-1], "a missing file is not named")

    k.produce(t, [E(n) for n in range(5, 10)])
    k.wait_committed(t, 10)
    b.write(conf)
    hup(b, "configuration checked")
    check(good(), "outbox_bridge_reload_ok stays 0 after the file is good again")
    check(b.proc.pid == pid and b.alive, "the bridge ended")
    check(b.stop() == 0, "exit status at SIGTERM is not 0")


def run_many(k):
    """A hundred HUPs under load: nothing is sent twice, nobody leaves the group, the log is bounded."""
    t = k.topic()
    r = k.receiver()
    b = k.bridge(k.conf(t, r.url))
    k.must_start(b)
    _, members = k.kafka.members(k.group)
    k.produce(t, [E(n) for n in range(500)])
    for n in range(100):
        b.signal(signal.SIGHUP)
        time.sleep(0.01)
    k.wait_committed(t, 500, 20)
    check(len(r.requests()) == 500, f"{len(r.requests())} requests for 500 events")
    check(k.kafka.members(k.group)[1] == members, "the group changed")
    check(b.rss() < 60e6, f"{b.rss() >> 20} MiB resident after 100 HUPs")
    got = len(lines(b, "configuration checked"))
    check(1 <= got <= 100, f"{got} lines for 100 HUPs")


def run_drain(k):
    """HUP while it ends: it ends, in time, with 0, and sends nothing new."""
    t = k.topic()
    r = k.receiver()
    r.on(ID(0), Reply(hang=True), Reply(200))
    r.on(ID(1), Reply(503), Reply(200))
    b = k.started(t, r.url, limits={"shutdown_ms": 2500}, retry={"base_ms": 20000})
    k.produce(t, [E(0), E(1)])
    until(lambda: r.requests(ID(0)) and r.requests(ID(1)), 10, "not sent")
    b.signal(signal.SIGTERM)
    for n in range(20):
        b.signal(signal.SIGHUP)
        time.sleep(0.05)
    rc = b.wait(3)
    check(rc == 0, f"exit status {rc} with HUP while it ends, expected 0")
    check(len(r.requests()) == 2, "HUP began a request while it ends")

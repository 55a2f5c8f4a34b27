TITLE = "TERM ends in time when the brokers are silent or gone, and a second one at once"
TIME = 75
import signal, subprocess
from acceptance.api import *
from acceptance.broker import Broker, die_with_parent
from acceptance.cases.case_lifetime_receiver import conf, ended, once, twice


def own_broker(k):
    """(broker, topic) with twelve events."""
    own = Broker(k.folder / "broker")
    k.kafka = Cluster(own.bootstrap)
    t = k.topic()
    k.produce(t, [E(n) for n in range(12)])
    return own, t


def killed(own):
    own.proc.kill()
    own.proc.wait()


def back(k, own):
    """The same broker on the same data."""
    own.proc = subprocess.Popen(own.proc.args, stdout=open(own.log, "a"), stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                preexec_fn=die_with_parent)
    k.kafka = Cluster(own.bootstrap)
    until(lambda: answers(k), 40, "the broker does not come back", every=0.2)


def answers(k):
    try:
        return k.kafka.admin.list_topics(timeout=1).brokers
    except Exception:
        return False


def run_lost(k):
    """Four requests are open; the broker is stopped (TCP without answers), and then killed. Nothing of them is committed."""
    own, t = own_broker(k)
    r = k.receiver()
    r.default = Reply(hang=True)
    b = k.bridge(conf(k, t, r.url))
    n = 0
    try:
        for lose, end in ((signal.SIGSTOP, twice), (signal.SIGSTOP, lambda b: once(b, signal.SIGTERM)),
                          (signal.SIGKILL, lambda b: once(b, signal.SIGTERM))):
            n += 4
            k.must_start(b)
            until(lambda: len(r.requests()) >= n, 10, "four requests are not open")
            own.proc.send_signal(lose)
            end(b)
            own.proc.send_signal(signal.SIGCONT)
        back(k, own)
        r.default = Reply()
        ended(k, t, b, 3 * 4 + 12)
        k.finish()
    finally:
        killed(own)
    k.dlqs.clear()              # all is judged while the broker was there
    k.events.clear()

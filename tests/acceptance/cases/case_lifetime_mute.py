TITLE = "TERM ends in time when the brokers fall silent before a commit"
TIME = 60
import signal
from acceptance.api import *
from acceptance.cases.case_lifetime_broker import killed, own_broker
from acceptance.cases.case_lifetime_receiver import conf, ended, once


def run(k):
    """The broker falls silent while requests are answered: the end waits for no commit, and each is sent at most once more."""
    own, t = own_broker(k)
    r = k.receiver()
    r.default = Reply(delay=0.3)
    b = k.bridge(conf(k, t, r.url))
    try:
        k.must_start(b)
        until(lambda: len(r.requests()) >= 4, 10, "four requests are not open")
        own.proc.send_signal(signal.SIGSTOP)
        until(lambda: len(r.ok()) >= 12, 5, "requests are not answered")
        once(b, signal.SIGTERM)
        own.proc.send_signal(signal.SIGCONT)
        ended(k, t, b, 2 * 12)
        k.finish()
    finally:
        killed(own)
    k.dlqs.clear()              # all is judged while the broker was there
    k.events.clear()

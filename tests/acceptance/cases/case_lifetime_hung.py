TITLE = "TERM ends in time although a call of the Kafka library never returns"
TIME = 30
import signal, subprocess
from acceptance.api import *
from acceptance.cases.case_lifetime_receiver import conf, ended, once

# stands before librdkafka's own function
HANGS = """
#include <unistd.h>
void *rd_kafka_consumer_close_queue(void *rk, void *queue)
{
	for (;;)
		pause();
}
"""


def run(k):
    """The call that leaves the group hangs for ever on the Kafka thread."""
    (k.folder / "hangs.c").write_text(HANGS)
    lib = k.folder / "hangs.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(lib), str(k.folder / "hangs.c")], check=True)
    t = k.topic()
    r = k.receiver()
    r.on(ID(0), Reply(503), Reply(200))
    b = k.bridge(conf(k, t, r.url, retry={"base_ms": 1000}))
    k.produce(t, [E(n) for n in range(12)])
    os.environ["LD_PRELOAD"] = str(lib)
    try:
        k.must_start(b)
    finally:
        del os.environ["LD_PRELOAD"]
    until(lambda: len(r.ok()) == 11, 10, "the healthy events are not delivered")
    until(lambda: k.meta.get((t, 0)), 10, "no checkpoint is committed")
    once(b, signal.SIGTERM)
    check('msg="stopped"' not in b.log(), "it stopped by itself: nothing is tested")
    ended(k, t, b, 13 + 4)

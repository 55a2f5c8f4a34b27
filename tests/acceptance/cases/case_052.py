TITLE = "a large backlog and a slow receiver: memory stays within what the configuration says"
TIME = 120
from acceptance.api import *

PARTITIONS, RECORDS, SIZE = 64, 40, 175000
BUFFER, QUEUE = 32 << 20, 8 << 20           # limits.buffer_bytes, queued.max.messages.kbytes
FETCH, MESSAGES = 1 << 20, 25000            # fetch.max.bytes: of all partitions; queued.min.messages


def run(k):
    t = k.topic(partitions=PARTITIONS)
    r = k.receiver()
    r.default = Reply(delay=1)
    body = b"x" * SIZE
    b = k.started(t, r.url)
    idle = b.rss()
    # "Memory" in bridge/README.md; idle stands for its first figure
    bound = idle + BUFFER * 85 // 100 + QUEUE + FETCH + 450 * MESSAGES + 4 * SIZE
    b.kill()
    for p in range(PARTITIONS):
        k.produce(t, [E(1000 * p + n, value=body, partition=p) for n in range(RECORDS)])
    k.must_start(b)
    begin = now()
    until(lambda: len(r.ok()) >= 40, 40, lambda: f"{len(r.ok())} deliveries in 40 s")
    peak = b.rss(peak=True)
    check(peak <= bound, f"peak {peak >> 20} MB with a backlog of {PARTITIONS * RECORDS * SIZE >> 20} MB, expected at most {bound >> 20} MB")
    open_ = b.metric("outbox_bridge_buffer_bytes")
    check(0 < open_ <= BUFFER, f"outbox_bridge_buffer_bytes is {open_:.0f}")
    # in order although it is read in portions
    order = {}
    for q in r.requests():
        order.setdefault(int(q.key[-12:]) // 1000, []).append(int(q.key[-12:]) % 1000)
    check(len(order) >= 4, f"events of {len(order)} partitions only")
    check(b.stop(20) == 0, "exit status at SIGTERM is not 0")
    check(not k.dlq(), "a record in the DLQ")
    k.kafka.delete(t)
    k.figure = f"idle {idle >> 20} MB, peak {peak >> 20} MB of {bound >> 20} MB, {len(order)} partitions in {now() - begin:.0f} s"

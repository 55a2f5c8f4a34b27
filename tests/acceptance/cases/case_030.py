TITLE = "every 2xx is a success, interim answers and old HTTP included"
TIME = 45
from acceptance.api import *

BARE = b"HTTP/1.1 %d Whatever\r\n\r\n"
ANSWERS = {
    **{n: (f"{code}", Reply(code)) for n, code in enumerate((200, 201, 202, 203, 206, 226, 299), 1)},
    # no length, connection kept: these end with the header block
    8: ("204", Reply(raw=BARE % 204)),
    9: ("205", Reply(raw=BARE % 205)),
    10: ("103 then 200", Reply(raw=BARE % 103 + b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
    11: ("102, 103, 201", Reply(raw=BARE % 102 + BARE % 103 + b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok")),
    12: ("bare HTTP/1.0", Reply(raw=b"HTTP/1.0 200 OK\r\n\r\n", http10=True)),
    13: ("no reason phrase", Reply(raw=b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n")),
}


def run(k):
    t = k.topic()
    r = k.receiver()
    for n, (_, reply) in ANSWERS.items():
        r.on(ID(n), reply)
    # long enough that an answer waited for to the end misses the deadline
    b = k.started(t, r.url, delivery={"timeout_ms": 20000})
    k.produce(t, [E(n) for n in ANSWERS])
    k.wait_committed(t, len(ANSWERS), 8)
    for n, (what, _) in ANSWERS.items():
        got = len(r.requests(ID(n)))
        check(got == 1, f"{what}: {got} requests, expected 1")
    check(not k.dlq(), f"{len(k.dlq())} records in the DLQ")
    got = b.metrics().get("outbox_bridge_delivered_total", 0)
    total = b.metric("outbox_bridge_delivered_total")
    check(total == len(ANSWERS), f"outbox_bridge_delivered_total is {got or total}, expected {len(ANSWERS)}")

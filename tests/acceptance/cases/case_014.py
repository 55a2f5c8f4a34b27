TITLE = "an outage of the schema registry holds back what needs it, and dead-letters nothing"
TIME = 90
import struct

from acceptance.api import *

TEXT = '["null","string"]'


def avro(ident, n):
    """Event n: a nullable string with this schema's id, as Confluent frames it."""
    text = f'{{"n":{n}}}'.encode()
    return b"\0" + struct.pack(">I", ident) + b"\x02" + bytes([2 * len(text)]) + text


def event(ident, n, **more):
    return E(n, value=avro(ident, n), **more)


def body(n):
    return {0: (ID(n), f'{{"n":{n}}}'.encode())}


def send(k, t, ident, n, partition):
    return k.produce(t, [event(ident, n, partition=partition)], expect=body(n))[0]


def delivered(r, n, seconds, why):
    until(lambda: r.ok(ID(n)), seconds, f"event {n} is not delivered {seconds} s after {why}")


def outage(k, status, word):
    t = k.topic(partitions=3)
    r = k.receiver()
    g = k.registry({7: TEXT})
    b = k.started(t, r.url, registry={"url": [g.url]})
    send(k, t, 7, 1, 0)
    delivered(r, 1, 10, "its schema was there")
    g.schemas[8] = TEXT
    g.status = status
    send(k, t, 7, 2, 1)                 # before the one that waits, on the same partition
    first = send(k, t, 8, 3, 1)
    send(k, t, 7, 4, 1)                 # and behind it
    until(lambda: b.get("/readyz")[0] == 503, 10, f"/readyz is still 200 with a registry that answers {status}")
    page = b.get("/readyz")[1]
    check("registry_down" in page and word in page, f"/readyz does not name registry_down and {word}: {page[:200]}")
    asked = len(g.asked)
    for n in range(10, 30):
        send(k, t, 7, n, n % 2 * 2)     # partitions 0 and 2
    for n in range(10, 30):
        delivered(r, n, 10, "its schema was known, during the outage")
    delivered(r, 2, 5, "it stood before the one that waits")
    until(lambda: len(g.asked) >= asked + 3, 20, "the registry is not asked again while it is down")
    check(not r.requests(ID(3)) and not r.requests(ID(4)), "an event was sent without its schema, or before its turn")
    check(not k.dlq(), f"{len(k.dlq())} records in the DLQ during the outage")
    check((k.committed(t, 1) or 0) <= first.offset, "the offset of an event that waits is committed")
    g.status = None
    at = now()
    delivered(r, 3, 15, "the registry was back")
    delivered(r, 4, 5, "the one before it was delivered")
    waited = now() - at
    until(lambda: b.get("/readyz")[0] == 200, 15, "the alarm does not clear by itself")
    dead = send(k, t, 9, 5, 1)
    send(k, t, 7, 6, 1)
    delivered(r, 6, 20, "the one before it had an id that is not known")
    copies = k.wait_dlq(1, 15)
    reasons = [d.text("outbox.dlq.reason") for d in copies]
    check(reasons == ["schema-not-found"], f"in the DLQ: {reasons}, expected schema-not-found once")
    check(copies[0].value == dead.value, "the dead letter's value is not the record's")
    check("content id 9" in copies[0].text("outbox.dlq.detail"), f"the detail does not name content id 9: {copies[0].text('outbox.dlq.detail')}")
    check(b.get("/readyz")[0] == 200, "an unknown id raises an alarm")
    k.wait_committed(t, dead.offset + 2, 10, 1)
    return waited


def run_server_error(k):
    k.figure = f"delivered {outage(k, 503, '503'):.1f} s after the end of the outage"


def run_unauthorized(k):
    outage(k, 401, "registry.password")


def run_too_many(k):
    outage(k, 429, "429")


def run_restart(k):
    """Stopped while it waits: the next one begins with that very event."""
    t = k.topic()
    r = k.receiver()
    g = k.registry({7: TEXT})
    b = k.started(t, r.url, registry={"url": [g.url]})
    send(k, t, 7, 1, 0)
    delivered(r, 1, 10, "its schema was there")
    g.status = 500
    send(k, t, 8, 2, 0)
    until(lambda: "registry_down" in b.get("/readyz")[1], 10, "no alarm")
    at = now()
    rc = b.stop()
    check(rc == 0, f"the bridge stops with {rc}")
    check(now() - at < 5, f"stopping took {now() - at:.1f} s, with nothing in flight")
    g.schemas[8] = TEXT
    g.status = None
    k.must_start(b)
    delivered(r, 2, 15, "the restart")
    check(len(r.requests(ID(1))) == 1, "the first event was sent again")
    check(not k.dlq(), "a record in the DLQ")


def run_several(k):
    """The first address refuses connections, the second one answers."""
    t = k.topic()
    r = k.receiver()
    gone = k.registry({})
    gone.stop()
    k.registries.remove(gone)
    g = k.registry({7: TEXT, 8: TEXT})
    b = k.started(t, r.url, registry={"url": [gone.url, g.url]})
    send(k, t, 7, 1, 0)
    send(k, t, 8, 2, 0)
    delivered(r, 1, 10, "its schema could be had at the second address")
    delivered(r, 2, 10, "its schema could be had at the second address")
    check(b.get("/readyz")[0] == 200, "an alarm although one address answers")
    check(not k.dlq(), "a record in the DLQ")

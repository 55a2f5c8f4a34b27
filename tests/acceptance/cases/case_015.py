TITLE = "the placeholder of an unavailable LOB is never sent as if it were data"
TIME = 60
from acceptance.api import *

WORD, CODED = b"__debezium_unavailable_value", b"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="


def envelope(n, payload):
    """A change event of Oracle: the row of event n."""
    row = b'{"ID":"%s","EVENT_TYPE":"T","PAYLOAD":%s}' % (ID(n).encode(), payload)
    return b'{"op":"c","source":{"connector":"oracle","schema":"APP","table":"OUTBOX","ts_ms":1},"after":' + row + b"}"


def judge(k, form, dead, alive, reason="payload-unavailable", **source):
    """dead: values that must not be sent; alive: (value, body) that must. All with an id header, but for rows of a table."""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, source={"format": form, **source})
    recs, want = [], {}
    for value, body in [(v, None) for v in dead] + alive:
        rec = E(len(recs) + 1, value=value)
        if value.startswith(b'{"op"'):
            rec.headers = []
        want[len(recs)] = ID(len(recs) + 1), value if body is None else body
        recs.append(rec)
    k.produce(t, recs, expect=want)
    k.wait_committed(t, len(recs), 20)
    copies = {int(d.text("outbox.dlq.offset")): d for d in k.dlq()}
    for n, rec in enumerate(recs):
        where = f"{form}: {short(rec.value)}"
        if n >= len(dead):
            check(n not in copies, buried(where, copies.get(n)))
            check(len(r.ok(ID(n + 1))) == 1, f"{where} was delivered {len(r.ok(ID(n + 1)))} times")
            continue
        check(not r.requests(ID(n + 1)), f"{where} was sent")
        check(n in copies, f"{where} is not in the DLQ")
        got = copies[n].text("outbox.dlq.reason"), copies[n].text("outbox.dlq.attempts")
        check(got == (reason, "0"), f"{where}: reason and attempts {got}, expected {reason} and 0")
    check(b.alive and b.get("/readyz")[0] == 200, "not ready because of such values")


def buried(where, copy):
    return f"{where} is in the DLQ: {copy.text('outbox.dlq.reason') if copy else ''}"


QUOTED = [b'"' + w + b'"' for w in (WORD, CODED)]
INSIDE = [b'{"n":1,"doc":"%s"}' % w for w in (WORD, CODED)] + [b'[[{"a":{"b":"%s"}}]]' % WORD]
HARMLESS = [b'{"t":"see __debezium_unavailable_value docs"}', b'{"__debezium_unavailable_value":1}', b'{"t":"__debezium_unavailable"}']
SAME = [(v, None) for v in HARMLESS]


def run_auto(k):
    rows = [envelope(51, QUOTED[0]), envelope(52, b'"{\\"doc\\":\\"%s\\"}"' % WORD)]
    judge(k, "auto", [WORD, CODED] + QUOTED + INSIDE + [b'{"schema":null,"payload":"%s"}' % WORD] + rows, SAME)


def run_string(k):
    judge(k, "string", [WORD, CODED] + QUOTED + INSIDE, SAME)


def run_json(k):
    judge(k, "json", QUOTED + INSIDE, SAME)


def run_oracle_null(k):
    """Without lob.enabled LogMiner writes null for a CLOB that was inserted."""
    judge(k, "envelope", [envelope(1, b"null")], [(envelope(2, b'"{}"'), b"{}")])


def run_own(k):
    """Another placeholder, as unavailable.value.placeholder of the connector sets it: the usual one is data then."""
    judge(k, "auto", [b"%lost%", b'{"doc":"%lost%"}', b"JWxvc3Ql"], [(INSIDE[0], None), (b'{"doc":"%lost"}', None)], unavailable_value="%lost%")

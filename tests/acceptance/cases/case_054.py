TITLE = "JSON in a JSON string, schema and payload: each format sends what it says, or dead-letters"
TIME = 60
import json
from acceptance.api import *

N = b'{"n":1}'


def quoted(b):
    return json.dumps(b.decode()).encode()


TWICE, THRICE = quoted(N), quoted(quoted(N))
TEXT = b'{"schema":{"type":"string","optional":true},"payload":' + TWICE + b"}"
TREE = b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"n"}],"optional":true},"payload":{"n":1}}'
HELLO, OWN = b'"hello"', b'{"schema":"sales","payload":{"n":1}}'
VALUES = (N, TWICE, TEXT, TREE, THRICE, HELLO, OWN)
NOT = "format-mismatch"
# the body of each, or why it goes to the DLQ
TABLE = {
    "string": VALUES,
    "bytes": VALUES,
    "json": (N, N, TEXT, TREE, TWICE, b"hello", OWN),
    "json_schema": (NOT, NOT, N, N, NOT, NOT, NOT),
    "auto": (N, N, N, N, THRICE, HELLO, OWN),
}


def judge(k, form):
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, source={"format": form})
    recs = [E(n + 1, value=v) for n, v in enumerate(VALUES)]
    want = TABLE[form]
    k.produce(t, recs, expect={n: (ID(n + 1), w if isinstance(w, bytes) else None) for n, w in enumerate(want)})
    k.wait_committed(t, len(recs), 20)
    dead = {d.text("id"): d.text("outbox.dlq.reason") for d in k.dlq()}
    wrong = []
    for n, w in enumerate(want):
        got = [q.raw_body for q in r.ok(ID(n + 1))] or dead.get(ID(n + 1))
        if got != ([w] if isinstance(w, bytes) else w):
            wrong.append(f"{short(VALUES[n])} gave {short(got)}, expected {short(w)}")
        check(bool(r.requests(ID(n + 1))) != (ID(n + 1) in dead), f"{form}: {short(VALUES[n])} is in the DLQ and was sent, or neither")
    check(not wrong, f"{form}: " + "; ".join(wrong))
    return b


def run_string(k):
    judge(k, "string")


def run_bytes(k):
    judge(k, "bytes")


def run_json(k):
    judge(k, "json")


def run_json_schema(k):
    judge(k, "json_schema")


def run_auto(k):
    """What looks as if a converter had wrapped it is said once, with the cure."""
    b = judge(k, "auto")
    told = [l for l in b.log().splitlines() if "values are JSON strings" in l]
    check(len(told) == 1 and "source.formats" in told[0], f"{len(told)} lines say that values are JSON strings, expected one that names source.formats")

TITLE = "Avro with a real Apicurio Registry: both id spaces, all framings, references, an unknown id"
TIME = 200                              # the first time it is fetched from Maven Central
import json, struct, urllib.request

from acceptance.api import *
from acceptance.apicurio import Apicurio

TEXT = ["null", "string"]
REFERRED = {"type": "record", "name": "Part", "namespace": "lab",
            "fields": [{"name": "payload", "type": ["null", "string"]}]}


def call(base, path, data):
    q = urllib.request.Request(base + path, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(q, timeout=10) as a:
        return json.load(a)


def register(base, subject, schema, references=()):
    """The content id."""
    return call(base, f"/apis/ccompat/v7/subjects/{subject}/versions", {"schema": json.dumps(schema), "references": list(references)})["id"]


def global_id(base, subject):
    """Apicurio's own number of the only version there."""
    for path in (f"/apis/registry/v2/groups/default/artifacts/{subject}/meta", f"/apis/registry/v3/groups/default/artifacts/{subject}/versions/1"):
        try:
            with urllib.request.urlopen(base + path, timeout=10) as a:
                return json.load(a)["globalId"]
        except OSError:
            continue
    raise Fail(f"no global id of {subject}")


def string(n):
    text = f'{{"n":{n}}}'.encode()
    return b"\x02" + bytes([2 * len(text)]) + text


def run(k):
    registry = Apicurio(k.folder)
    k.registries.append(registry)
    base = registry.base
    # the same content twice: one content id, two global ids, so that the two spaces part
    content = register(base, f"{k.tag}-a", TEXT)
    check(register(base, f"{k.tag}-b", TEXT) == content, "one content, two content ids")
    register(base, f"{k.tag}-part", REFERRED)
    whole = {"type": "record", "name": "Whole", "namespace": "lab",
             "fields": [{"name": "payload", "type": "string"}, {"name": "eventType", "type": "string"},
                        {"name": "target_url", "type": ["null", "lab.Part"]}]}
    referring = register(base, f"{k.tag}-whole", whole, [{"name": "lab.Part", "subject": f"{k.tag}-part", "version": 1}])
    first, second = global_id(base, f"{k.tag}-a"), global_id(base, f"{k.tag}-b")
    whole_global = global_id(base, f"{k.tag}-whole")
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url, registry={"url": [base + "/apis/ccompat/v7"]})
    record = lambda n: bytes([2 * len(f'{{"n":{n}}}')]) + f'{{"n":{n}}}'.encode() + b"\x02T\x00"
    headers = lambda n: E(n).headers
    eight = lambda i: struct.pack(">Q", i)
    events = [
        E(1, value=b"\0" + struct.pack(">I", content) + string(1)),
        E(2, value=b"\0" + eight(first) + string(2)),
        E(3, value=b"\0" + eight(second) + string(3)),
        E(4, value=string(4), headers=headers(4) + [("apicurio.value.globalId", eight(second)), ("apicurio.value.encoding", b"BINARY")]),
        E(5, value=string(5), headers=headers(5) + [("apicurio.value.contentId", eight(content)), ("apicurio.value.encoding", b"BINARY")]),
        E(6, value=b"\0" + struct.pack(">I", referring) + record(6)),
        E(7, value=b"\0" + eight(whole_global) + record(7)),
    ]
    k.produce(t, events, expect={n: (ID(n + 1), f'{{"n":{n + 1}}}'.encode()) for n in range(len(events))})
    dead = k.produce(t, E(8, value=b"\0" + struct.pack(">I", 99999999) + string(8)))[0]
    k.wait_committed(t, len(events) + 1, 40)
    copies = k.dlq()
    check([d.text("outbox.dlq.reason") for d in copies] == ["schema-not-found"],
          f"in the DLQ: {[(d.text('id'), d.text('outbox.dlq.reason'), d.text('outbox.dlq.detail')) for d in copies]}")
    check(copies[0].value == dead.value, "the dead letter's value is not the record's")
    for n in range(1, len(events) + 1):
        check(len(r.ok(ID(n))) == 1, f"event {n}: {len(r.ok(ID(n)))} deliveries")
    check(b.get("/readyz")[0] == 200, "an alarm at the end")
    k.figure = f"content ids {content} and {referring}, global ids {first}, {second} and {whole_global}"

TITLE = "explain says what run does, with one record, and does none of it"
TIME = 90
import base64, pty
from acceptance.api import *

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
COMPACTED = {"cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.0", "min.compaction.lag.ms": "0",
             "max.compaction.lag.ms": "100"}


def explained(b, *words):
    """What `explain --json` says of one record."""
    rc, out = b.once(["explain", "-c", str(b.file), "--json", *words])
    check(rc == names.OK, f"explain {' '.join(words)}: exit status {rc}: {out[:300]}")
    check(out.count("\n") == 1, f"{out.count(chr(10))} lines for one record")
    return json.loads(out)


def refused(b, status, words, *parts):
    """It ends with that status, and says these things."""
    rc, out = b.once(["explain", "-c", str(b.file), *words])
    check(rc == status, f"explain {' '.join(words)}: exit status {rc}, expected {status}: {out[:300]}")
    for part in parts:
        check(part in out, f"explain {' '.join(words)} does not say {part!r}: {out[:300]}")


def untouched(k, t, r, group=None):
    check(not r.requests(), f"{len(r.requests())} requests were sent")
    check(k.committed(t) is group, f"{k.committed(t)} is committed")
    check(not k.dlq(), f"{len(k.dlq())} records in the DLQ")
    check(not k.kafka.members(k.group)[1], "the group has members")


def run_same(k):
    """The request that it shows is, header for header, the one that is sent afterwards."""
    t = k.topic()
    r = k.receiver()
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    text = '{"city":"Łódź","n":1.50}'.encode()
    k.produce(t, [E(1), E(2, value=text, headers=[("id", ID(2).encode()), ("traceparent", parent.encode()), ("max_retries", b"3")]),
                  E(3, value=b"\x80\x00\xff"),
                  E(4, headers=[("id", ID(4).encode()), ("target_url", (r.url + "/own?a=b").encode())]),
                  E(5, value=b"\x80", headers=[("id", "Łódź".encode())])],
              expect={4: (None, b"\x80")})
    host = r.url.split("/")[2]
    b = k.bridge(k.conf(t, r.url + "/in", delivery={"event_urls": [f"http://{host}"]}), watch=False)
    said = [explained(b, f"{t}:0:{n}") for n in range(5)]
    untouched(k, t, r)
    k.must_start(b)
    k.wait_committed(t, 5)
    for n, x in enumerate(said):
        check(x["outcome"] == "deliver" and x["offset"] == n and x["topic"] == t, f"offset {n}: {x['outcome']} of {x['offset']}")
        body = base64.b64decode(x["body"])
        sent = [q for q in r.requests() if q.raw_body == body]
        check(len(sent) == 1, f"offset {n}: {len(sent)} requests with the body that explain shows")
        q, shown = sent[0], x["request"]
        check(shown["method"] == q.method, f"offset {n}: method {shown['method']}, {q.method} was sent")
        check(shown["url"] == f"http://{host}{q.path}", f"offset {n}: URL {shown['url']}, {q.path} was asked")
        got = [[a, v] for a, v in q.headers]
        check(shown["headers"] == got, f"offset {n}: headers {shown['headers']}, sent were {got}")
    check(said[1]["max_attempts"] == 3 and said[0]["max_attempts"] == 5, "not the record's max_retries, or not retry.max_attempts")
    check(said[3]["target_url"] == r.url + "/own?a=b" and said[0]["target_url"] is None, "target_url is not the event's own")
    k.figure = f"{len(said)} requests, header for header"


def run_range(k):
    """What is not there: beyond the ends, a topic, a partition; and nothing is made or committed by asking."""
    t = k.topic(partitions=2)
    r = k.receiver()
    k.produce(t, [E(n) for n in range(10)], free=True)
    k.kafka.delete_records(t, {0: 4})
    b = k.bridge(k.conf(t, r.url), watch=False)
    check(explained(b, f"{t}:0:4")["event_id"] == ID(4), "offset 4 is not event 4")
    check(explained(b, f"{t}:0:9")["event_id"] == ID(9), "offset 9 is not event 9")
    refused(b, names.UNAVAILABLE, [f"{t}:0:3"], "3", "4 to 9", "retention")
    refused(b, names.UNAVAILABLE, [f"{t}:0:10"], "10", "4 to 9")
    refused(b, names.UNAVAILABLE, [f"{t}:0:9223372036854775807"], "4 to 9")
    refused(b, names.UNAVAILABLE, [f"{t}:1:0"], "holds no record")
    refused(b, names.UNAVAILABLE, [f"{t}:2:0"], "no partition 2", "0 to 1")
    refused(b, names.UNAVAILABLE, [f"{t}.none:0:0"], f"{t}.none does not exist")
    check(f"{t}.none" not in k.kafka.admin.list_topics(timeout=5).topics, "asking made the topic")
    untouched(k, t, r)
    b.write(merge(b.conf, {"kafka": {"brokers": "127.0.0.1:1", "start_timeout_ms": 2000}}))
    refused(b, names.UNAVAILABLE, [f"{t}:0:4"], "no Kafka broker answers", "127.0.0.1:1")


def run_batches(k):
    """A record in the midst of a compressed batch, and one larger than a fetch."""
    large = {"max.message.bytes": str(4 << 20)}
    t = k.topic(config=large, dlq_config=large)
    r = k.receiver()
    k.produce(t, [E(n) for n in range(50)], cluster_kw={"compression.type": "zstd", "linger.ms": 200}, free=True)
    value = b'{"pad":"' + b"x" * (3 << 20) + b'"}'
    k.produce(t, [E(50, value=value), E(51)], free=True)
    b = k.bridge(k.conf(t, r.url), watch=False)
    for n in (0, 25, 49, 51):
        check(explained(b, f"{t}:0:{n}")["event_id"] == ID(n), f"offset {n} is not event {n}")
    x = explained(b, f"{t}:0:50")
    check(base64.b64decode(x["body"]) == value and x["body_bytes"] == len(value), f"a body of {x['body_bytes']} bytes, expected {len(value)}")
    rc, out = b.once(["explain", "-c", str(b.file), f"{t}:0:50"])
    check(rc == names.OK and len(out) < 10000 and f"Content-Length: {len(value)}" in out, f"a large body: {len(out)} characters, exit status {rc}")
    untouched(k, t, r)


def run_gaps(k):
    """Offsets without a record: compacted away, a transaction's marker, aborted; and one that is still open."""
    t = k.topic("c", config=COMPACTED)
    r = k.receiver()
    same = [E(n, key=b"same") for n in range(3)]
    k.produce(t, same, free=True)
    b = k.bridge(k.conf(t, r.url), watch=False)

    def compacted():
        """The newest record begins another segment, so that the older ones can be cleaned."""
        k.produce(t, [E(9, key=b"other")], free=True)
        return not any(x.offset < 2 for x in k.kafka.read(t))
    until(compacted, 40, "the broker does not compact", every=0.5)
    refused(b, names.UNAVAILABLE, [f"{t}:0:0"], "no record at offset 0", "compacted", "the next one is 2")
    check(explained(b, f"{t}:0:2")["event_id"] == ID(2), "offset 2 is not event 2")

    u = k.topic("t")
    p = k.kafka.producer(**{"transactional.id": k.tag})
    p.init_transactions(10)
    for n, end in ((0, p.commit_transaction), (1, p.abort_transaction), (2, None)):
        p.begin_transaction()
        p.produce(u, key=b"k", value=b"{}", headers=[("id", ID(n).encode())], partition=0)
        p.flush(10)
        if end:
            end(10)
    # 0 committed, 1 its marker, 2 aborted, 3 its marker, 4 open
    check(explained(b, f"{u}:0:0")["event_id"] == ID(0), "offset 0 is not event 0")
    refused(b, names.UNAVAILABLE, [f"{u}:0:4"], "still open")
    p.commit_transaction(10)
    check(explained(b, f"{u}:0:4")["event_id"] == ID(2), "offset 4 is not event 2")
    refused(b, names.UNAVAILABLE, [f"{u}:0:1"], "no record at offset 1", "the next one is 4")
    refused(b, names.UNAVAILABLE, [f"{u}:0:2"], "no record at offset 2", "the next one is 4")
    refused(b, names.UNAVAILABLE, [f"{u}:0:5"], "no record at offset 5", "nor behind it", "0 to 5")
    untouched(k, t, r)


def run_beside(k):
    """Beside a bridge that runs: its group, and what it commits, stay as they are."""
    t = k.topic()
    r = k.receiver()
    b = k.started(t, r.url)
    k.produce(t, [E(n) for n in range(5)])
    k.wait_committed(t, 5)
    before, members = len(r.requests()), k.kafka.members(k.group)
    for n in range(5):
        explained(b, f"{t}:0:{n}")
    check(k.kafka.members(k.group) == members, "the group's members changed")
    k.produce(t, [E(5)])
    k.wait_committed(t, 6)
    check(len(r.requests()) == before + 1, f"{len(r.requests()) - before} requests, expected the one of the new event")
    check("rebalance" not in b.log().lower(), "the group was balanced anew")


def run_words(k):
    """The command line, faults of configuration and files, several records, standard input."""
    t = k.tag + ".t"
    b = k.bridge(k.conf(t, "http://127.0.0.1:1/in?sig=S1G", retry={"max_attempts": 7}), watch=False)
    k.secrets = ["S1G", "T0KEN"]
    for words in (["explain"], ["explain", "-c"], ["explain", f"{t}:0:0"], ["explain", "-c", str(b.file)],
                  *(["explain", "-c", str(b.file), w] for w in ("t", "t:0", "t:0:x", "t:-1:0", "t:0:-1", ":0:0", "t:0:", "--other",
                                                               "t:2147483648:0", "t:0:9223372036854775808")),
                  ["explain", "-c", str(b.file), "t:0:0", "t:0:1"], ["explain", "-c", str(b.file), "t:0:0", "--file", "f"],
                  ["explain", "-c", str(b.file), "--file"], ["explain", "-c", str(b.file), "--file", "/nonexistent.json"]):
        rc, out = b.once(words)
        check(rc == names.USAGE and out, f"{' '.join(words)}: exit status {rc}, expected {names.USAGE}")
    bad = k.folder / "bad.conf"
    bad.write_text("kafka = { broker = \"x\"; };\n")
    rc, out = b.once(["explain", "-c", str(bad), "t:0:0"])
    check(rc == names.CONFIG and f"{bad}:1" in out, f"a bad configuration: exit status {rc}: {out[:200]}")

    lines = (FIXTURES / "d_headers_string.jsonl").read_text().splitlines()
    file = k.folder / "several.jsonl"
    file.write_text("\n".join(lines) + "\n")
    rc, out = b.once(["explain", "-c", str(b.file), "--json", "--file", str(file)])
    got = [json.loads(x) for x in out.splitlines()]
    check(rc == names.OK and len(got) == len(lines), f"exit status {rc}, {len(got)} objects for {len(lines)} records")
    check([x["offset"] for x in got] == [json.loads(x)["offset"] for x in lines], "not in the order of the file")
    p = subprocess_run(b, ["explain", "-c", str(b.file), "--json", "--file", "-"], lines[0].encode())
    check(p.returncode == names.OK and json.loads(p.stdout) == got[0], f"standard input: exit status {p.returncode}: {p.stdout[:200]}")
    p = subprocess_run(b, ["explain", "-c", str(b.file), "--json", "--file", "-"], lines[0].encode() + b"\n{\n")
    check(p.returncode == names.USAGE and b"(stdin):2:" in p.stderr and json.loads(p.stdout) == got[0],
          f"a broken second line: exit status {p.returncode}, {p.stderr[:200]}")
    rc, out = b.once(["explain", "-c", str(b.file), "--file", str(file)])
    check("\x1b" not in out, "colours without a terminal")
    check("S1G" not in out and "/in?***" in out, "the query of delivery.url is not masked")


def subprocess_run(b, args, data, **env):
    import subprocess
    return subprocess.run(b.program + args, input=data, capture_output=True, timeout=30, env={**os.environ, **env})


def on_terminal(b, args, width, **env):
    """What it writes to a terminal of that width."""
    import fcntl, struct, subprocess, termios
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    p = subprocess.Popen(b.program + args, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.STDOUT,
                         env={**{n: v for n, v in os.environ.items() if n != "NO_COLOR"}, "TERM": "xterm", **env})
    os.close(slave)
    out = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:                 # how a terminal says that nobody writes any more
            break
        if not data:
            break
        out += data
    os.close(master)
    check(p.wait(30) == 0, f"exit status {p.returncode} on a terminal")
    return out.decode().replace("\r\n", "\n")


def run_terminal(k):
    """Colours on a terminal only, and not with NO_COLOR; prose as wide as it."""
    t = k.tag + ".t"
    b = k.bridge(k.conf(t, "http://127.0.0.1:1/in"), watch=False)
    file = k.folder / "dead.json"
    file.write_text(json.dumps({"topic": t, "partition": 0, "offset": 3, "value": base64.b64encode(b"Struct{a=1}").decode(),
                                "headers": [["id", base64.b64encode(b"42").decode()]]}, indent=2))
    args = ["explain", "-c", str(b.file), "--file", str(file)]
    text = on_terminal(b, args, 70)
    check("\x1b[" in text, "no colours on a terminal")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    check("\x1b" not in plain, "something else than colours is sent to the terminal")
    check(on_terminal(b, args, 70, NO_COLOR="1") == plain, "NO_COLOR=1: not the same text without colours")
    check("\x1b" not in on_terminal(b, args, 70, TERM="dumb"), "colours on a dumb terminal")
    for width in (60, 70, 100):
        text = on_terminal(b, args, width, NO_COLOR="1")
        wide = max(len(x) for x in text.splitlines())
        check(width - 25 < wide <= width, f"lines of up to {wide} columns on a terminal of {width}")
    check("DEAD LETTER  java-text" in plain and "what to do" in plain, "a dead letter without what to do about it")


def run_avro(k):
    """With a registry; with one that is down; without one."""
    t = k.tag + ".t"
    ids = {int(f.stem): f.read_text() for f in (FIXTURES / "avro").glob("[0-9]*.avsc")}
    g = k.registry(ids)
    b = k.bridge(k.conf(t, "http://127.0.0.1:1/in", registry={"url": [g.url]}, source={"avro_payload": "json"},
                        delivery={"event_url": "ignore"}), watch=False)
    want = {}
    for line in (FIXTURES / "avro" / "expected.tsv").read_text().splitlines():
        c = line.split("\t")
        if c[0] == "." and c[3] == "json" and c[1] in ("c4_text.order.jsonl", "c4_bytes.order.jsonl"):
            want[(c[1], int(c[2]))] = c
    check(len(want) > 4, "the fixtures are not there")
    for name in sorted({f for f, _ in want}):
        rc, out = b.once(["explain", "-c", str(b.file), "--json", "--file", str(FIXTURES / "avro" / name)])
        check(rc == names.OK, f"{name}: exit status {rc}: {out[:300]}")
        for n, line in enumerate(out.splitlines(), 1):
            x, c = json.loads(line), want[(name, n)]
            check(x["outcome"] == c[4].replace("dead", "dlq"), f"{name} {n}: {x['outcome']} {x['reason']}, expected {c[4]} {c[5]}")
            check((x["reason"] or "-") == c[5], f"{name} {n}: reason {x['reason']}, expected {c[5]}")
            check((x["body"] or "-") == c[6], f"{name} {n}: body {x['body']}, expected {c[6]}")
            check(c[4] != "deliver" or x["format"] == "avro", f"{name} {n}: format {x['format']}")
    file = str(FIXTURES / "avro" / "c4_text.order.jsonl")
    for status in (404, 503):
        g.status = status
        rc, out = b.once(["explain", "-c", str(b.file), "--json", "--file", file])
        x = json.loads(out.splitlines()[0])
        expect = ("dlq", "schema-not-found") if status == 404 else ("hold", "registry_down")
        check((x["outcome"], x["reason"]) == expect, f"a registry that answers {status}: {x['outcome']} {x['reason']}, expected {expect}")
        check(x["detail"] and x["advice"], f"a registry that answers {status}: nothing said")
    b.write(k.conf(t, "http://127.0.0.1:1/in"))
    rc, out = b.once(["explain", "-c", str(b.file), "--json", "--file", str(FIXTURES / "avro" / "c4_raw.public.webhook_outbox.jsonl")])
    x = json.loads(out.splitlines()[0])
    check((x["outcome"], x["reason"]) == ("dlq", "unrecognised"), f"without a registry: {x['outcome']} {x['reason']}")
    check("registry.url" in x["detail"], f"without a registry: registry.url is not named: {x['detail']}")

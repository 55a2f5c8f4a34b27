"""What decoding costs: each spelling of an event, of a small and a large payload, on one core; and its share of a whole delivery.

The records are captured ones (tests/fixtures) with a payload of the wanted size in them; GoldenGate's is made by its documentation."""
import base64, json, subprocess
from pathlib import Path

from .stand import Bridge, event_head, produce, until

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
SIZES = (512, 102400)
KEYS = 1000
NAMES = {512: "512 B", 102400: "100 KB"}
EVENTS = {512: 60000, 102400: 2000}      # of a whole delivery
GOLDENGATE = {
    "topic": "APP.WEBHOOK_OUTBOX", "key": b"1001", "headers": [],
    "value": b'{"table":"APP.WEBHOOK_OUTBOX","op_type":"I","op_ts":"2026-01-01 00:00:00.000000","current_ts":"2026-01-01T00:00:01.250000",'
             b'"pos":"00000000010000004338","after":{"ID":1001,"EVENT_TYPE":"order.placed","IDEMPOTENCY_KEY":"ord-1-placed",'
             b'"TARGET_URL":"https://hooks.example.test/orders","PAYLOAD":"{}","STATUS":"PENDING","RETRY_COUNT":0,"MAX_RETRIES":5,'
             b'"NEXT_RETRY_AT":null,"LAST_ERROR":null,"CREATED_AT":"2026-01-01 00:00:00.123456000","UPDATED_AT":"2026-01-01 00:00:00.123456000"}}'}


def payload(n, keys, size):
    """A JSON text of so many bytes as an application may write it: what the receiver wants to know; order lines, some text beyond ASCII."""
    text, line = event_head(n, keys) + '"lines": [', 0
    length = len(text)
    while length < size - 130:
        line += 1
        more = f'{{"sku": "A-{n + line:07d}", "name": "Čajová sada", "quantity": {line % 9 + 1}, "price": {line % 90}.50}}'
        more = ("" if line == 1 else ", ") + more
        text, length = text + more, length + len(more.encode())
    text += '], "note": "'
    return text + "x" * (size - len(text.encode()) - 2) + '"}'


def quoted(text):
    return json.dumps(text, ensure_ascii=False).encode()


def framed(text):
    """Avro's string: its length, zigzag and in groups of seven bits, and its bytes."""
    data, n, head = text.encode(), len(text.encode()) * 2, b""
    while n > 127:
        head, n = head + bytes([n & 127 | 128]), n >> 7
    return head + bytes([n]) + data


# spelling: source.format, file and line of the captured record, its payload, how a payload is written there
SPELLINGS = {
    "routed, string, auto": ("auto", "a_router_string", 1, '{"orderId": 1, "snapshot": true}', str.encode),
    "routed, string, as configured": ("string", "a_router_string", 1, '{"orderId": 1, "snapshot": true}', str.encode),
    "routed, json": ("auto", "b_router_json_noschema", 1, '{"orderId": 1, "snapshot": true}', quoted),
    "routed, json_schema": ("auto", "c_router_json_schema", 1, '{"orderId": 1, "snapshot": true}', quoted),
    "raw envelope": ("auto", "h_raw_noschema_no_tombstone", 1, '{"orderId": 2}', quoted),
    "raw envelope with its schema": ("auto", "h_raw_schema_precise", 1, '{"orderId": 2}', quoted),
    "flattened row": ("auto", "i_unwrap_drop", 1, '{"orderId": 2}', quoted),
    "CloudEvents, structured": ("cloudevents", "k_ce_router_headers", 0, '{"total":12.5,"orderId":1}', str.encode),
    "CloudEvents of a change": ("auto", "k_ce_raw_noschema", 1, '{"orderId": 2}', quoted),
    "GoldenGate": ("auto", None, 0, "{}", quoted),
    "Avro, text payload": ("auto", "avro/c4_text.order", 0, '{"orderId":1,"note":"héllo ✓ 😀"}', framed),
    "Avro, raw envelope": ("auto", "avro/c4_raw.public.webhook_outbox", 0, '{"orderId":1}', framed),
}


PLAIN = "routed, string, as configured"
# of these the whole delivery is measured; with the value of source.format
DELIVERED = {PLAIN: "string", "raw envelope": "envelope"}
OWN_URL = b'"https://hooks.example.test/orders"'


def captured(file, line):
    r = json.loads((FIXTURES / f"{file}.jsonl").read_text().splitlines()[line])
    part = lambda text: base64.b64decode(text or "")
    return {"topic": r["topic"], "key": part(r["key"]), "value": part(r["value"]), "headers": [(k, part(v)) for k, v in r["headers"]]}


def value_maker(spelling):
    """The captured record, and a function that gives its value with another payload."""
    _, file, line, old, write = SPELLINGS[spelling]
    r = captured(file, line) if file else GOLDENGATE
    if r["value"].count(write(old)) != 1:
        raise RuntimeError(f"{spelling}: the payload does not stand in the record once")
    return r, lambda text: r["value"].replace(write(old), write(text))


def records(spelling, size):
    """The file that decode.c reads."""
    r, value_with = value_maker(spelling)
    out = []
    for n in range(64 if size < 10000 else 16):
        text = payload(n, KEYS, size)
        parts = [r["topic"].encode(), r["key"], value_with(text), str(len(r["headers"])).encode()]
        for name, content in r["headers"]:
            parts += [name.encode(), content]
        out += parts + [text.encode()]
    return b"".join(b"%d\n%s\0" % (len(p), p) for p in out)


def measure(b, spelling, size, seconds):
    file = b.work / "records"
    file.write_bytes(records(spelling, size))
    done = subprocess.run([str(b.build / "tests/bench/bench-decode"), str(file), str(seconds), SPELLINGS[spelling][0], str(FIXTURES / "avro")],
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{spelling}, {size} bytes: {done.stderr.strip()}")
    return json.loads(done.stdout)


def whole_delivery(b, spelling, size):
    """(CPU ns of the bridge for an event, all threads; events/s) of a backlog at 0 ms."""
    topic, count = f"bench.decode.{DELIVERED[spelling]}.{size}", EVENTS[size]
    if topic not in b.filled:
        b.filled.add(topic)
        b.kafka.create(topic, 8)
        _, value_with = value_maker(spelling)
        # no URL of its own: the receiver's is configured
        produce(b, topic, count, make=lambda n, keys: value_with(payload(n, keys, size)).replace(OWN_URL, b"null"))
    b.receiver.reset()
    s = Bridge(b, b.receiver).start(topic, more={"source": {"format": DELIVERED[spelling]}})
    s.wait_requests()
    cpu, before = s.cpu_s(), b.receiver.stats()
    if until(lambda: b.receiver.stats()["unique"] >= count, 60, every=0.05) is None:
        raise RuntimeError(f"{count} events of {size} bytes are not delivered after 60 s; the log: {s.log}")
    cpu, after = s.cpu_s() - cpu, b.receiver.stats()
    b.saw("decode", after)
    s.kill()
    count = after["unique"] - before["unique"]
    return cpu / count * 1e9, count / ((after["last_us"] - before["now_us"]) / 1e6)


def decode(b):
    """Each spelling alone; then what a whole delivery costs, of two of them."""
    seconds = 0.5 if b.o.quick else 1.5
    for _ in range(b.o.runs):
        for size in SIZES:
            for spelling in SPELLINGS:
                got = measure(b, spelling, size, seconds)
                b.add(f"decode {spelling} {size}", got["ns"])
                b.add(f"allocations {spelling} {size}", got["allocations"] / got["records"])
            for spelling in DELIVERED:
                ns, rate = whole_delivery(b, spelling, size)
                b.add(f"delivery ns {spelling} {size}", ns)
                b.add(f"delivery rate {spelling} {size}", rate)
                b.say(f"decode, {NAMES[size]}, {spelling}: {b.got[f'decode {spelling} {size}'][-1] / 1000:.2f} µs of {ns / 1000:.0f}, {rate:.0f}/s")


def share(b, spelling, size):
    """Of the CPU of a delivery: as measured, or that of a routed string with this decoding in place of its own."""
    ns = b.median(f"decode {spelling} {size}")
    whole = b.median(f"delivery ns {spelling} {size}") or b.median(f"delivery ns {PLAIN} {size}") - b.median(f"decode {PLAIN} {size}") + ns
    return ns / whole


def rows(b, t):
    """The goals: decoding never limits delivery, and does not allocate."""
    if f"delivery ns {PLAIN} 512" not in b.got:
        return
    for size in SIZES:
        rate = b.median(f"delivery rate {PLAIN} {size}")
        slowest = 1e9 / max(b.median(f"decode {s} {size}") for s in SPELLINGS)
        t.row(f"events/s that one core decodes, {NAMES[size]}, slowest spelling", slowest, f"≥ delivered ({rate:,.0f})", lambda: slowest >= rate, conns="decode")
    plain = [b.median(f"allocations {s} {size}") for s in SPELLINGS for size in SIZES if not s.startswith("Avro, raw")]
    t.row("allocations while decoding, all but Avro envelopes", max(plain), "0", lambda: max(plain) == 0)


def print_table(b):
    if f"delivery ns {PLAIN} 512" not in b.got:
        return
    print("\n| decoding, one core | " + " | ".join(f"{NAMES[s]}: events/s | MB/s | µs | share of a delivery | allocations" for s in SIZES) + " |")
    print("| --- |" + " ---: |" * (5 * len(SIZES)))
    for spelling in SPELLINGS:
        cells = []
        for size in SIZES:
            ns = b.median(f"decode {spelling} {size}")
            cells += [f"{1e9 / ns:,.0f}", f"{size * 1e3 / ns:,.0f}", f"{ns / 1000:,.2f}", f"{share(b, spelling, size) * 100:.0f} %",
                      f"{b.median(f'allocations {spelling} {size}'):.4g}"]
        print(f"| {spelling} | " + " | ".join(cells) + " |")
    for spelling in DELIVERED:
        cells = []
        for size in SIZES:
            ns, rate = b.median(f"delivery ns {spelling} {size}"), b.median(f"delivery rate {spelling} {size}")
            cells += [f"{rate:,.0f}", f"{rate * size / 1e6:,.0f}", f"{ns / 1000:,.1f}", "", ""]
        print(f"| *whole delivery:* {spelling} | " + " | ".join(cells) + " |")

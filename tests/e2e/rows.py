"""Outbox rows that are hard to carry unchanged."""
import json
import random
import uuid
from collections import Counter

TABLE = """
create table outbox (
  id uuid primary key,
  aggregatetype text not null,
  aggregateid text not null,
  type text not null,
  payload text not null
);
-- so that a deleted row has its aggregate, and with it its place in the order
alter table outbox replica identity full;
"""
AGGREGATES = 50
AWKWARD = (
    "Ł€😀 \u00e9 e\u0301", 'quote " and \\ backslash', "line\nbreak\ttab\r",
    "</script>&amp;", "\\u0000 as text", "\u2028 \ufeff", "1e400", "",
)


class Row:
    def __init__(self, rng, aggregate, n):
        self.id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.aggregate = f"order-{aggregate:02d}"
        self.type = rng.choice(("OrderCreated", "OrderPaid", "OrderShipped"))
        self.text = payload(rng, n)
        self.body = self.text.encode()

    def insert(self):
        return ("insert into outbox values "
                f"('{self.id}', 'order', '{self.aggregate}', '{self.type}', "
                f"$body${self.text}$body$);\n")


def payload(rng, n):
    """JSON text whose every byte counts: spelling of numbers, white space."""
    value = {"n": n, "text": rng.choice(AWKWARD), "list": [None, [], {}, ""],
             "big": 12345678901234567890, "nested": {"true": True}}
    if n % 97 == 0:
        value["filler"] = "ě" * 20000
    text = json.dumps(value, ensure_ascii=n % 2 == 0,
                      indent=None if n % 3 else 2)
    # spellings that no generator writes, but applications do
    return text.replace('"nested"', '"price": 12.50, "e": 1E+2 , "nested"', 1)


def change(rng, batch, counts):
    """SQL that marks some of the rows of a transaction as done and deletes
    some, as applications do; and counts them."""
    sql = []
    for row in batch:
        what = rng.choice(("update", "delete", "", "", ""))
        if what == "update":
            sql.append("update outbox set type = 'Done', payload = 'changed' "
                       f"where id = '{row.id}';\n")
        elif what == "delete":
            sql.append(f"delete from outbox where id = '{row.id}';\n")
        counts[what] += 1
    return sql


def thousand(seed, first, counts=None):
    """(rows in order of insertion, the SQL). A tenth of the transactions is
    rolled back: their rows must never be seen. With `counts` (a Counter) some
    rows are updated or deleted later in their transaction."""
    rng = random.Random(seed)
    rows, sql, n = [], [], first
    while len(rows) < 1000:
        size = min(rng.randint(1, 20), 1000 - len(rows))
        batch = [Row(rng, rng.randrange(AGGREGATES), n + i)
                 for i in range(size)]
        keep = rng.random() >= 0.1
        changes = [] if counts is None else change(
            rng, batch, counts if keep else Counter())
        sql += ["begin;\n", *(r.insert() for r in batch), *changes,
                "commit;\n" if keep else "rollback;\n"]
        if keep:
            rows += batch
            n += size
    return rows, "".join(sql)

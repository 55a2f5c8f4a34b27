#!/usr/bin/env python3
"""world_mutations.py [--cc COMPILER] FOLDER: does the simulated world bite?

Breaks the engine of the checkout FOLDER, or the model of what stands around
it (sim_world --plant), in one small way after the other, and requires that
the checker of the simulated world notices: no unit test helps. Prints one
line for each mutation. Exit status 1 when one survives, does not compile or
fits no line any more, or when the world fails without any.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import Broken, call, mutate

SEEDS = "1-3000"
RUN_SECONDS = 60
JOBS = 2
# With assert(): a broken invariant that the engine finds is found.
FLAGS = ("-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w")

# As in mutations.py.
MUTATIONS = (
    # what may be committed
    ("the watermark is what was read", "ledger.c",
     "return l->first != NULL ? l->first->offset : l->next;",
     "return l->next;"),
    ("the watermark is one too high", "ledger.c",
     "return l->first != NULL ? l->first->offset : l->next;",
     "return l->first != NULL ? l->first->offset + 1 : l->next;"),
    ("the watermark is the newest open one", "ledger.c",
     "return l->first != NULL ? l->first->offset : l->next;",
     "return l->last != NULL ? l->last->offset : l->next;"),
    ("a pass is ignored", "ledger.c", "if (next > l->next)", "if (false)"),
    ("what is settled stays in the sum of bytes", "ledger.c",
     "l->open_bytes -= ref->bytes;", ""),
    # the checkpoint
    ("settled runs are one longer", "checkpoint.c",
     "br_varint_put(pair + len, (uint64_t)(end - open_end));",
     "br_varint_put(pair + len, (uint64_t)(end - open_end + 1));"),
    ("open runs are one shorter", "checkpoint_reader.c",
     "at += (int64_t)open;", "at += (int64_t)open - 1;"),
    ("runs end one too late", "checkpoint_reader.c",
     "at, at + (int64_t)settled};", "at, at + (int64_t)settled + 1};"),
    ("nothing is settled", "checkpoint_reader.c",
     "return c->run_at < c->runs && c->run[c->run_at].from <= offset;",
     "return false;"),
    ("all up to the last run is settled", "checkpoint_reader.c",
     "return c->run_at < c->runs && c->run[c->run_at].from <= offset;",
     "return c->run_at < c->runs;"),
    ("attempts are not written", "checkpoint.c",
     "len += br_varint_put(out + len, r->attempts);",
     "len += br_varint_put(out + len, 1);"),
    ("attempts are of the next event", "checkpoint.c",
     "len = br_varint_put(out, (uint64_t)(r->offset - b->next));",
     "len = br_varint_put(out, (uint64_t)(r->offset - b->next + 1));"),
    ("due times are lost", "checkpoint.c",
     "int64_t due_s = due_within_s(r->due_unix_s);",
     "int64_t due_s = r->attempts != 0 ? 0 : due_within_s(r->due_unix_s);"),
    ("due times count from the first one", "checkpoint.c",
     "b->due_s = due_s;", ""),
    ("due times are cut to now", "checkpoint_reader.c",
     "? now->unix_s + now->wait_max_s : due_s;", "? now->unix_s : "
     "now->unix_s;"),
    ("what waits is not written down", "scheduler_view.c",
     "*due_ms = running ? 0 : ref->due_ms;", "*due_ms = 0;"),
    ("an attempt under way is written down", "scheduler_view.c",
     "*attempts = ref->attempts - running;",
     "*attempts = ref->attempts + 1;"),
    # lanes
    ("a lane begins with its newest", "lane.c",
     "lane->last->next = ref; else",
     "{ ref->next = lane->first; lane->first = ref; return; } else"),
    ("one put later overtakes", "scheduler.c",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);"
     " else if (lane->state == BR_LANE_DELAYED) { br_lane_pop(lane);"
     " br_lane_push(lane, ref); }"),
    ("lanes of one hash bucket are one", "lane.c",
     "if (lane->hash == hash && lane->part == part &&",
     "if ((lane->hash ^ hash) % 2 == 0 && false &&"),
    ("a dead one does not hold its lane", "scheduler.c",
     "br_dead_reason(&s->rules.verdict, o);"
     " lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);"
     " settle(s, ref, BR_SETTLED_DEAD);",
     "br_dead_reason(&s->rules.verdict, o);"
     " settle(s, ref, BR_SETTLED_DEAD);"
     " if (ref->next != NULL) { br_lane_pop(lane); br_lane_push(lane, ref);"
     " lane_serve(s, lane, now_ms); }"
     " else lane_move(s, lane, BR_LANE_DEAD, 0, now_ms);"),
    ("a burial does not let the lane go on", "scheduler.c",
     "leave(s, ref); lane_serve(s, lane, now_ms);",
     "leave(s, ref); if (lane->first == NULL)"
     " lane_serve(s, lane, now_ms);"),
    ("an undecodable one overtakes its lane", "scheduler.c",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);",
     "if (lane->first == ref) lane_serve(s, lane, now_ms);"
     " else if (ref->event->reason != NULL)"
     " settle(s, ref, BR_SETTLED_DEAD);"),
    ("an undecodable one is sent", "scheduler.c",
     "if (ref->event->reason != NULL) {",
     "if (ref->event->target == NULL) ref->event->target = \"\";"
     " if (false) {"),
    ("a wait ends at once", "scheduler.c",
     "lane_move(s, lane, BR_LANE_DELAYED, ref->due_ms, now_ms);"
     " }",
     "lane_move(s, lane, BR_LANE_DELAYED, now_ms, now_ms); }"),
    ("a restart does not wait", "scheduler.c",
     "if (ref->due_ms > now_ms)", "if (false)"),
    # giving up partitions
    ("closing forgets what it drops", "scheduler.c",
     "settle(s, lane_pop(s, lane), BR_SETTLED_DROPPED);",
     "(void)lane_pop(s, lane);"),
    ("closing says delivered of what it drops", "scheduler.c",
     "settle(s, lane_pop(s, lane), BR_SETTLED_DROPPED);",
     "settle(s, lane_pop(s, lane), BR_SETTLED_DELIVERED);"),
    ("closing drops what is in flight", "scheduler.c",
     "bool held = lane->state == BR_LANE_RUNNING || lane->state",
     "bool held = lane->state"),
    ("a closed partition's events are tried again", "scheduler.c",
     "if (ref->part->closed) { (void)lane_pop",
     "if (false) { (void)lane_pop"),
    ("a failed one of a closed partition is delivered", "scheduler.c",
     "d->dropped = true; settle(s, ref, BR_SETTLED_DROPPED);",
     "d->dropped = true; settle(s, ref, BR_SETTLED_DELIVERED);"),
    # attempts and verdicts
    ("attempts are not counted", "scheduler.c",
     "ref->attempts++;", ""),
    ("one attempt too many", "scheduler.c",
     "ref->attempts >= ref->event->max_attempts",
     "ref->attempts > ref->event->max_attempts"),
    ("one attempt too few is no end", "scheduler.c",
     "d.exhausted = d.verdict == BR_AGAIN && d.counted &&",
     "d.exhausted = false &&"),
    ("an exhausted one is delivered", "scheduler.c",
     "if (d.verdict != BR_DELIVERED) {",
     "if (d.verdict != BR_DELIVERED && !d.exhausted) {"),
    ("500 is as good as 200", "verdict.c",
     "if (status >= 200 && status <= 299)",
     "if (status >= 200 && status <= 500 && status != 429)"),
    ("no doubling", "retry.c", "cap : step * 2;", "cap : step;"),
    ("Retry-After is ignored", "scheduler.c",
     "asked = (uint64_t)o->retry_after_ms;", "asked = 0;"),
    # targets
    ("an outage is about events", "health.c",
     "return h->failed >= rules->failures;", "return false;"),
    ("closes far too late", "health.c",
     "return h->failed >= rules->failures;",
     "return h->failed >= rules->failures && h->dead++ > 30;"),
    ("a probe counts", "health.c",
     "return rules->give_up_ms != 0 &&", "return true ||"),
    ("a probed target opens by any answer", "health.c",
     "if (probe) plan_probe(h, rules, sign, now_ms);",
     "if (probe) { open_target(h); return true; }"),
    ("a closed target is never probed", "target.c",
     "set_timer(t, &target->wake, waits && wanted, h->probe_at_ms);", ""),
    ("a probe that fails is the last one", "health.c",
     "if (probe) h->probing = false;",
     "if (probe && sign == BR_SIGN_SUCCESS) h->probing = false;"),
    ("a hold is not made", "scheduler.c",
     "br_stream_hold(stream, now_ms + wait_ms);", ";"),
    ("two probes into a hold", "target.c",
     "(!s->hold_probing && now_ms >= s->held_until_ms)",
     "now_ms >= s->held_until_ms"),
    ("two probes at once", "health.c",
     "return !h->probing && now_ms >= h->probe_at_ms;",
     "return now_ms >= h->probe_at_ms;"),
    ("a probe at once", "health.c",
     "h->probe_at_ms = now_ms + rules->probe_ms;",
     "h->probe_at_ms = now_ms;"),
    ("a held stream has no timer", "target.c",
     "set_timer(t, &s->wake, oldest != NULL && held && !s->hold_probing,",
     "set_timer(t, &s->wake, false,"),
    ("the last worker is anybody's", "scheduler.c",
     "if (s->rules.workers - s->in_flight == 1)", "if (false)"),
    # windows and wake-ups
    ("a window of none", "health.c",
     "h->window = h->window > 1 ? h->window / 2 : 1;",
     "h->window = h->window / 2;"),
    ("who is due now sleeps on", "scheduler.c",
     "n->key <= now_ms", "n->key < now_ms"),
    ("nobody says when to come again", "scheduler.c",
     "*wake_ms = n->key;", "(void)n;"),
    ("what runs is not counted", "scheduler.c",
     "stream->target->in_flight++; s->in_flight++;",
     "stream->target->in_flight++;"),
    ("a free worker is not seen", "scheduler.c",
     "stream->ready.count < room ? stream->ready.count : room;", "0;"),
    ("timers in the wrong order", "heap.c",
     "h->node[(at - 1) / 2]->key > n->key",
     "h->node[(at - 1) / 2]->key < n->key",
     "h->node[child + 1]->key < h->node[child]->key",
     "h->node[child + 1]->key > h->node[child]->key",
     "if (h->node[child]->key >= n->key)",
     "if (h->node[child]->key <= n->key)"),
    ("an element that left is still there", "heap.c",
     "n->index = BR_HEAP_OUT;", ""),
)


class Bench:
    """The engine and the world, compiled once, in a folder for the rest."""

    def __init__(self, compiler, top, folder):
        self.compiler = compiler
        self.core = top / "bridge/core"
        self.folder = folder
        self.include = f"-I{top / 'include'}"
        self.archive = folder / "libcore.a"
        world = top / "tests/simulation"
        self.world = [self.compile(path, folder / f"{path.stem}.o")
                      for path in (*sorted(world.glob("world*.c")),
                                   world / "sim_world.c")]
        call("ar", "rcs", self.archive,
             *[self.compile(path, folder / f"core_{path.stem}.o")
               for path in sorted(self.core.glob("*.c"))])
        self.plain = self.link("plain")

    def compile(self, source, target):
        call(self.compiler, *FLAGS, self.include, f"-I{self.core}", "-c",
             source, "-o", target)
        return target

    def link(self, name, *objects):
        # What comes before the archive wins over its member.
        program = self.folder / name
        call(self.compiler, *self.world, *objects, self.archive, "-o",
             program)
        return program

    def run(self, program, *more):
        """What the checker says; None: it finds nothing."""
        try:
            done = subprocess.run(
                [str(program), "--no-shrink", "--seeds", SEEDS, *more],
                check=False, timeout=RUN_SECONDS, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True, cwd=self.folder)
        except subprocess.TimeoutExpired:
            return "no end"
        if done.returncode == 0:
            return None
        # A death that no handler caught leaves no line.
        line = (done.stdout.splitlines() or ["died"])[0]
        return re.sub(r"^(seed \d+: [^:]*).*", r"\1", line)

    def killer(self, number, file, edits):
        source = self.folder / f"mutant_{number}.c"
        source.write_text(mutate((self.core / file).read_text(), edits))
        mutant = self.compile(source, source.with_suffix(".o"))
        return self.run(self.link(f"mutant_{number}", mutant))

    def judge(self, number):
        name, file, *edits = MUTATIONS[number]
        try:
            by = self.killer(number, file, edits)
        except Broken as why:
            return False, f"{file:20} {name}: DOES NOT FIT: {why}"
        return by is not None, f"{file:20} {name}: {by or 'SURVIVED'}"

    def judge_plant(self, name):
        by = self.run(self.plain, "--plant", name)
        return by is not None, f"{'planted':20} {name}: {by or 'SURVIVED'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cc", default="cc")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    begin = time.monotonic()
    results = []
    with tempfile.TemporaryDirectory(prefix="mutations.") as folder:
        bench = Bench(arguments.cc, arguments.folder.resolve(), Path(folder))
        failed = bench.run(bench.plain)
        if failed is not None:
            print(f"without a mutation: {failed}")
            return 1
        plants = call(bench.plain, "--plant", "list").split()
        with ThreadPoolExecutor(JOBS) as pool:
            for judge, cases in ((bench.judge, range(len(MUTATIONS))),
                                 (bench.judge_plant, plants)):
                for killed, line in pool.map(judge, cases):
                    results.append(killed)
                    print(line, flush=True)
    print(f"{sum(results)} of {len(results)} killed,"
          f" {time.monotonic() - begin:.0f} s")
    return 0 if all(results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Broken as error:
        sys.exit(str(error))

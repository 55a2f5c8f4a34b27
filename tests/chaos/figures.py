"""What a run is told in: counts, causes of repeats, times to recover."""
import collections
import statistics

from .judge import again, cause, healthy_dead


def spread(values):
    if not values:
        return "none"
    return f"{statistics.median(values):.1f} / {max(values):.1f} s " \
           f"({len(values)})"


def recovery(case, faults):
    """Seconds from each kill of a bridge to the first request, by whichever
    bridge, of a partition that it was the last to send from."""
    partition = {w.id: w.partition for w in case.e.written}
    out = []
    for f in faults:
        if f.kind != "bridge kill":
            continue
        last = {partition.get(s.id): s.slot for s in case.sent
                if f.t - 2 <= s.start <= f.t}
        had = {p for p, slot in last.items() if slot == f.slot}
        after = next((s.start for s in case.sent if s.start > f.t and
                      partition.get(s.id) in had), None)
        if after is not None:
            out.append(after - f.t)
    return out


def starts(case, began):
    """Seconds from each start of a bridge to its own first request."""
    out = []
    for i, (t, slot) in enumerate(began):
        limit = min([u for u, s in began[i + 1:] if s == slot],
                    default=float("inf"))
        after = next((s.start for s in case.sent
                      if s.slot == slot and t < s.start < limit), None)
        if after is not None:
            out.append(after - t)
    return out


def repeats(case):
    """{kind of the fault: requests after the event's 2xx}"""
    return collections.Counter(
        cause(case, s) or "no fault" for s in again(case))


def tell(case, found, chaos, gauges, house, more):
    """The lines of the report."""
    e = case.e
    kinds = collections.Counter(f.kind for f in chaos.faults
                                if f.kind != "end")
    by = repeats(case)
    letters = sum(len(d) for d in case.dead.values())
    yield f"seconds: {more['seconds']:.0f} of chaos, then drained in " \
          f"{more['drained']:.1f} s"
    yield f"events: {len(e.written)} in the log, {len(e.acked)} " \
          f"acknowledged; requests: {len(e.sent)}, " \
          f"2xx: {sum(1 for s in e.sent if s.status == 200)}"
    yield f"faults: {sum(kinds.values())}: " + ", ".join(
        f"{k} {n}" for k, n in sorted(kinds.items()))
    yield f"rebalances: {more['generations']} generations of the group; " \
          f"{gauges.total('rebalances')} assignments and revocations, " \
          f"{gauges.total('late results')} late results, " \
          f"{gauges.total('commit errors')} commit errors"
    yield f"repeats after a 2xx: {sum(by.values())}; by the nearest fault: " + \
          (", ".join(f"{k} {n} in {kinds[k]}" for k, n in sorted(by.items()))
           or "none")
    yield f"connections: most open {max(e.most_open.values(), default=0)} " \
          f"of one bridge, {e.most_all} of all, " \
          f"{sum(x.world.accepted for x in house.entrances)} accepted"
    yield f"dead letters: {letters} of {len(case.dead)} events, " \
          f"{sum(1 for w in e.written if w.refused)} refused for ever, " \
          f"{len({w.id for w, _ in healthy_dead(case)})} healthy"
    yield f"commits: {len(e.commits)} seen"
    yield "from a kill of a bridge to the next request of its partitions: " \
          "median / most " + spread(recovery(case, chaos.faults))
    yield "from a start of a bridge to its first request: median / most " + \
          spread(starts(case, chaos.starts))
    yield f"lost {len(found['nothing lost'])}, out of order " \
          f"{len(found['order within a key'])}"

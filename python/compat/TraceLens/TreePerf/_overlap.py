"""Which GPU events ran at the same time as others, on other streams."""

from ..Trace2Tree._kinds import busy_ns, span_ns

_LEAST_NS = 1000  # what two events must share


def partners_of(events):
    """UID -> UIDs of the events that ran beside it, by their starts."""
    spans = {}
    for event in events:
        start, end = span_ns(event)
        stream = (event.get("args") or {}).get("stream")
        spans[event["UID"]] = (start, end, stream)
    partners = {uid: [] for uid in spans}
    order = sorted((uid for uid, span in spans.items() if span[1] > span[0]),
                   key=lambda uid: (spans[uid][0], uid))  # fmt: skip
    active = []
    for uid in order:
        start, end, stream = spans[uid]
        active = [other for other in active if spans[other][1] > start]
        for other in active:
            _, other_end, other_stream = spans[other]
            if stream is not None and stream == other_stream:
                continue
            if min(end, other_end) - start >= _LEAST_NS:
                partners[uid].append(other)
                partners[other].append(uid)
        active.append(uid)
    for uid, others in partners.items():
        others.sort(key=lambda other: (spans[other][0], other))
    return partners


def mark_partners(events):
    """Leaves `overlapping_uids` on the events: a set of UIDs."""
    for event in events:
        event.setdefault("overlapping_uids", set())
    found = partners_of(events)
    for event in events:
        event["overlapping_uids"] = set(found[event["UID"]])


def overlap_fields(tree, kernels):
    """(names, details, share) of what ran beside the kernels of an op; None each when nothing did."""
    spans = {kernel["UID"]: span_ns(kernel) for kernel in kernels}
    busy = busy_ns(spans.values())
    by_name, shared_ns = {}, 0
    for kernel in kernels:
        start, end = spans[kernel["UID"]]
        beside = []
        others = [tree.get_UID2event(uid) for uid in kernel.get("overlapping_uids", ())]
        for other in sorted(others, key=lambda each: (each["ts"], each["UID"])):
            other_start, other_end = span_ns(other)
            common = (max(start, other_start), min(end, other_end))
            beside.append(common)
            share = round(max(0, common[1] - common[0]) / busy, 2) if busy else 0
            by_name.setdefault(other["name"], []).append((other, share))
        shared_ns += busy_ns(beside)
    if not by_name:
        return None, None, None
    details = [
        {
            "name": name,
            "dur": round(sum(other["dur"] for other, _ in uses) / len(uses), 2),
            "stream": (uses[0][0].get("args") or {}).get("stream"),
            "overlap_pct": round(sum(share for _, share in uses) / len(uses), 2),
        }
        for name, uses in by_name.items()
    ]
    return list(by_name), details, round(shared_ns / busy, 2) if busy else 0

"""What serving engines write around every step: how many requests prefill, how many decode, their tokens.

    IterationAnnotation("step[DECODE bs=64]").generation_requests      # 64

Of a group of requests (context: prefilling, c_; generation: decoding, g_): sq = query tokens, sk = tokens in
the cache, sqsq and sqsk = the sums of the products over the requests.
"""

import re

PHASE_PREFILL_ONLY = "prefill_only"
PHASE_PREFILLDECODE = "prefilldecode"
PHASE_DECODE_ONLY = "decode_only"

STATISTICS = ("c_sq", "c_sk", "c_sqsq", "c_sqsk", "g_sq", "g_sk", "g_sqsq", "g_sqsk")

_GROUP = r"(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)"
_SGLANG = r"step\[(?:EXTEND|DECODE|MIXED|DRAFT|VERIFY)\b"
_ROLES = {"DRAFT": "draft", "VERIFY": "verify"}

PATTERNS = {
    "vllm_detailed": re.compile(rf"execute_\d+_context_{_GROUP}_generation_{_GROUP}"),
    "vllm_native": re.compile(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)"),
    "sglang_detailed": re.compile(_SGLANG + r"[^\]]*sqsq=\d+[^\]]*\]"),
    "sglang_native": re.compile(_SGLANG + r".*\]"),
    "atom_detailed": re.compile(r"(prefill|decode)\[.*sqsq=\d+.*\]"),
    "atom_native": re.compile(r"(prefill|decode)\[(.*)\]"),
    "diffusion_native": re.compile(r"execute_diffusion_(\d+)_(\d+x\d+)"),
}
_SGLANG_NATIVE = re.compile(r"step\[(\w+)\s+bs=(\d+)(?:\s+toks=(\d+))?\]")
_PAIR = re.compile(r"(\w+)=(\d+)")
_ATOM_PAIR = re.compile(r"(\w+)=(\[[^\]]*\](?:\.\.\.\+\d+)?|\S+)")
_CAPTURE = re.compile(r"capture_(\d+)_(.*)")
_CAPTURE_ROLE = re.compile(r"(?:target_)?(draft|verify)_(.*)")

DETAILED_KINDS = ("vllm_detailed", "atom_detailed", "sglang_detailed")
NATIVE_KINDS = ("vllm_native", "sglang_native", "atom_native", "diffusion_native")
ITERATION_PATTERNS = [PATTERNS[kind] for kind in DETAILED_KINDS]
BACKUP_ITERATION_PATTERNS = [PATTERNS[kind] for kind in NATIVE_KINDS]


class IterationAnnotation:
    """The numbers in the name of a step; `matched` says whether the name has a known form."""

    def __init__(self, name):
        self.name = name
        self.kind = None
        self.meta = {}
        self.resolution = None
        self.has_sqsk = False
        self.batch_size = 1
        self.context_requests = self.context_sum = 0
        self.generation_requests = self.generation_sum = 0
        for statistic in STATISTICS:
            setattr(self, statistic, 0)
        for kind, pattern in PATTERNS.items():
            match = pattern.match(name or "")
            if match and getattr(self, "_read_" + kind)(match):
                self.kind = kind
                break

    @property
    def matched(self):
        return self.kind is not None

    @property
    def num_requests(self):
        return self.context_requests + self.generation_requests

    def chunk_stats(self):
        """The eight sums that attention models need; NotImplementedError where the step has none."""
        if not self.has_sqsk:
            raise NotImplementedError(f"no token sums in {self.name!r}")
        return {statistic: getattr(self, statistic) for statistic in STATISTICS}

    def iter_details(self):
        """The step in numbers; a name of no known form counts as one decoding request."""
        names = ("batch_size", "num_requests", "context_requests", "context_sum", "generation_requests",
                 "generation_sum")
        if not self.matched:
            return dict(zip(names, (1, 1, 0, 0, 1, 1)))
        return {name: getattr(self, name) for name in names}

    def full_details(self):
        names = ("name", "context_requests", "generation_requests", *STATISTICS, "num_requests", "batch_size",
                 "has_sqsk")
        return {name: getattr(self, name) for name in names}

    def _read_vllm_detailed(self, match):
        numbers = list(map(int, match.groups()))
        self.context_requests, self.c_sq, self.c_sk, self.c_sqsq, self.c_sqsk = numbers[:5]
        self.generation_requests, self.g_sq, self.g_sk, self.g_sqsq, self.g_sqsk = numbers[5:]
        self.context_sum, self.generation_sum = self.c_sq, self.g_sq
        self.batch_size = self.c_sq + self.g_sq
        self.has_sqsk = True
        return True

    def _read_vllm_native(self, match):
        self.context_requests, self.context_sum, self.generation_requests, self.generation_sum = map(
            int, match.groups())
        self.c_sq, self.g_sq = self.context_sum, self.generation_sum
        self.batch_size = self.context_sum + self.generation_sum
        return True

    def _read_sglang_detailed(self, match):
        body = self.name[self.name.index("[") + 1:self.name.rindex("]")]
        mode = body.split()[0]
        values = {key: int(value) for key, value in _PAIR.findall(body)}
        requests = values.get("bs", 0)
        for statistic in STATISTICS:
            setattr(self, statistic, values.get(statistic, 0))
        if mode == "MIXED":
            self.context_requests, self.generation_requests = values.get("c", 0), values.get("g", 0)
        elif mode == "DECODE":
            self.generation_requests = requests
        else:
            self.context_requests = requests
        self.context_sum, self.generation_sum = self.c_sq, self.g_sq
        self.batch_size = self.c_sq + self.g_sq or values.get("toks", 0) or requests
        self._take_role(mode, requests)
        self.has_sqsk = True
        return True

    def _read_sglang_native(self, match):
        found = _SGLANG_NATIVE.match(self.name)
        if not found:
            return False
        mode, requests, tokens = found.group(1), int(found.group(2)), int(found.group(3) or 0)
        if mode == "DECODE":
            self.generation_requests = self.generation_sum = self.g_sq = requests
        else:
            self.context_requests = requests
            self.context_sum = self.c_sq = tokens or (requests if mode in _ROLES else 0)
        self.batch_size = self.c_sq + self.g_sq or requests
        self._take_role(mode, requests)
        return True

    def _take_role(self, mode, requests):
        """Speculative decoding: the graphs of drafts and checks are captured by requests, not tokens."""
        if mode in _ROLES:
            self.meta["capture_role"] = _ROLES[mode]
            self.batch_size = requests

    def _read_atom_detailed(self, match):
        return self._read_atom_native(PATTERNS["atom_native"].match(self.name))

    def _read_atom_native(self, match):
        phase, body = match.groups()
        values = dict(_ATOM_PAIR.findall(body))
        requests, tokens = _first_int(values.get("bs", "")), _int(values.get("tok"))
        sums = (tokens, *(_int(values.get(key)) for key in ("sk", "sqsq", "sqsk")))
        if phase == "prefill":
            self.context_requests, self.context_sum = requests, tokens
            self.c_sq, self.c_sk, self.c_sqsq, self.c_sqsk = sums
            if "ctx" in values:
                self.meta["ctx"] = values["ctx"]
        else:
            self.generation_requests, self.generation_sum = requests, tokens
            self.g_sq, self.g_sk, self.g_sqsq, self.g_sqsk = sums
            self.meta.update((key, _int(values[key])) for key in ("p", "d", "spec") if key in values)
        if "tbo" in values:
            self.meta["tbo"] = values["tbo"] == "1"
        self.batch_size = tokens
        self.has_sqsk = "sqsq" in values and "sqsk" in values
        return True

    def _read_diffusion_native(self, match):
        self.batch_size, self.resolution = int(match.group(1)), match.group(2)
        return True


class CaptureAnnotation:
    """`capture_<batch size>_<mode>`, around the recording of a graph."""

    def __init__(self, name):
        self.name = name
        self.kind = self.batch_size = self.mode = self.role = None
        match = _CAPTURE.match(name or "")
        if match:
            self.kind, self.batch_size, self.mode = "capture", int(match.group(1)), match.group(2)
            role = _CAPTURE_ROLE.match(self.mode)
            if role:
                self.role, self.mode = role.groups()

    @property
    def matched(self):
        return self.kind is not None


def _int(text):
    try:
        return int(text)
    except (TypeError, ValueError):
        return 0


def _first_int(text):
    found = re.search(r"\d+", text)
    return int(found.group()) if found else 0


def find_events_by_patterns(events, patterns):
    """User annotations whose name starts with one of the patterns, by start."""
    found = [event for event in events if event.get("cat") == "user_annotation"
             and any(pattern.match(event.get("name") or "") for pattern in patterns)]
    return sorted(found, key=lambda event: event["ts"])


def find_known_annotations(events):
    """The annotations of steps; the short forms only where no detailed one exists."""
    return (find_events_by_patterns(events, ITERATION_PATTERNS)
            or find_events_by_patterns(events, BACKUP_ITERATION_PATTERNS))


def iteration_details(roots, full=False):
    annotations = [IterationAnnotation(root["name"]) for root in roots]
    return [note.full_details() if full else note.iter_details() for note in annotations]


def has_context(detail):
    return detail.get("context_requests", 0) > 0


def has_generation(detail):
    return detail.get("generation_requests", 0) > 0


def is_prefill_only(detail):
    return has_context(detail) and not has_generation(detail)


def is_mixed(detail):
    return has_context(detail) and has_generation(detail)


def is_decode_only(detail):
    return has_generation(detail) and not has_context(detail)


def classify_phase(detail):
    """One of the three phases; None for an idle step."""
    if has_context(detail):
        return PHASE_PREFILLDECODE if has_generation(detail) else PHASE_PREFILL_ONLY
    return PHASE_DECODE_ONLY if has_generation(detail) else None


def average_detail(details, key):
    return sum(detail.get(key, 0) for detail in details) / len(details) if details else 0.0


def find_phase_from_window(details):
    """How many steps of each phase, and what they held on average."""
    phases = [classify_phase(detail) for detail in details]
    return {
        "num_prefill": phases.count(PHASE_PREFILL_ONLY),
        "num_prefilldecode": phases.count(PHASE_PREFILLDECODE),
        "num_decode": phases.count(PHASE_DECODE_ONLY),
        "avg_bs": int(average_detail(details, "batch_size")),
        "avg_conc": int(average_detail(details, "num_requests")),
    }

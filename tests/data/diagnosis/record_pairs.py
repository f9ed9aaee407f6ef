"""record_pairs.py OUT [NAME...]: records pairs of runs on a GPU.

NAME.bad has one deliberate performance problem, NAME.mended is the same work without it. Two profiled steps
each; truth.json has the time of a step without a profiler.
"""
import gc
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DEV = "cuda"
PAIRS = {}


def pair(name, rules):
    def keep(make):
        PAIRS[name] = (make, rules)
        return make
    return keep


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def attend(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, s, d))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gpt(nn.Module):
    def __init__(self, d=768, layers=6, heads=12, vocab=32000, after_layer=None):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)
        self.after_layer = after_layer

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
            if self.after_layer:
                x = self.after_layer(x)
        return self.head(self.norm(x))


def trainer(model, batch, amp=True, optimizer=None, loss=None, before=None, after=None):
    model = model.to(DEV)
    opt = optimizer(model) if optimizer else torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    loss = loss or (lambda out, x: F.cross_entropy(out[:, :-1].flatten(0, 1), x[:, 1:].flatten()))

    def step():
        x = before() if before else batch
        with torch.autocast(DEV, torch.bfloat16, enabled=amp):
            value = loss(model(x), x)
        value.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        if after:
            after(model, value)
    return step


def tokens(b, s, vocab=32000):
    return torch.randint(0, vocab, (b, s), device=DEV)


@pair("vocab_padding", ["GEMM-2"])
def _(mended):
    vocab = 50304 if mended else 50257
    return trainer(Gpt(vocab=vocab, layers=4), tokens(16, 512, 50257))


@pair("empty_cache", ["MEM-3"])
def _(mended):
    return trainer(Gpt(), tokens(16, 512), after=None if mended else lambda *_: torch.cuda.empty_cache())


@pair("layer_timers", ["SYNC-3", "SYNC-1"])
def _(mended):
    def wait(x):
        torch.cuda.synchronize()
        return x
    return trainer(Gpt(layers=12, after_layer=None if mended else wait), tokens(8, 512))


@pair("activations_to_host", ["DATA-5", "SYNC-1"])
def _(mended):
    kept = []

    def keep(x):
        kept.append(x.detach().float().mean(-1) if mended else x.detach().cpu())
        if len(kept) > 12:
            kept.clear()
        return x
    return trainer(Gpt(layers=6, after_layer=keep), tokens(16, 512))


@pair("boolean_masks", ["SYNC-2"])
def _(mended):
    def mask(x):
        m = x.abs() > 6
        if mended:
            return torch.where(m, x * 0.5, x)
        x = x.clone()
        x[m] = x[m] * 0.5
        return x
    return trainer(Gpt(layers=8, after_layer=mask), tokens(8, 512))


class ConvNet(nn.Module):
    def __init__(self, width=128, depth=10):
        super().__init__()
        layers, c = [], 3
        for i in range(depth):
            layers += [nn.Conv2d(c, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
            c = width
        self.body, self.head = nn.Sequential(*layers), nn.Linear(width, 100)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


def images(b, size):
    return torch.randn(b, 3, size, size, device=DEV)


@pair("fp32_conv", ["CONV-3", "CONV-1"])
def _(mended):
    torch.backends.cudnn.allow_tf32 = mended
    labels = torch.randint(0, 100, (32,), device=DEV)
    return trainer(ConvNet(), images(32, 64), amp=False, loss=lambda out, x: F.cross_entropy(out, labels))


@pair("small_uploads", ["DATA-4", "DATA-2", "SYNC-1"])
def _(mended):
    values = [0.1 * i for i in range(200)]
    ready = [torch.tensor(v, device=DEV) for v in values]

    def after(model, value):
        total = torch.zeros((), device=DEV)
        for i, v in enumerate(values):
            total = total + (ready[i] if mended else torch.tensor(v, device=DEV))
    return trainer(Gpt(layers=4), tokens(8, 512), after=after)


@pair("cpu_tensors", ["HOST-6"])
def _(mended):
    source = torch.randint(0, 32000, (4_000_000,))
    on_gpu = source.to(DEV)

    def batch():
        if mended:
            return on_gpu[torch.randperm(4_000_000, device=DEV)[:8 * 512]].view(8, 512)
        return source.sort().values[:8 * 512].view(8, 512).to(DEV)
    return trainer(Gpt(layers=4), None, before=batch)


@pair("eager_decode", ["GRAPH-1", "HOST-1", "SERVE-4"])
def _(mended):
    model = Gpt(d=1024, layers=12, heads=16).to(DEV).half().eval()
    x = tokens(4, 16)

    @torch.no_grad()
    def step():
        return model(x).argmax(-1)
    if not mended:
        return step
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


@pair("float_logits", ["SOFT-1", "CAST-1", "FUSE-1"])
def _(mended):
    def loss(out, x):
        out, target = out[:, :-1].flatten(0, 1), x[:, 1:].flatten()
        if mended:
            return F.cross_entropy(out, target)
        p = torch.exp(out.float()) / torch.exp(out.float()).sum(-1, keepdim=True)
        return -torch.log(p.gather(1, target[:, None]) + 1e-9).mean()
    return trainer(Gpt(layers=4, vocab=50304), tokens(16, 512, 50304), loss=loss)


class Experts(nn.Module):
    def __init__(self, batched, d=512, n=32):
        super().__init__()
        self.batched = batched
        self.w1 = nn.Parameter(torch.randn(n, d, 2 * d) * 0.02)
        self.w2 = nn.Parameter(torch.randn(n, 2 * d, d) * 0.02)
        self.proj = nn.Linear(d, d)

    def forward(self, x):  # n groups of tokens, group i for expert i
        x = self.proj(x)
        if self.batched:
            return torch.bmm(F.gelu(torch.bmm(x, self.w1)), self.w2)
        return torch.stack([F.gelu(x[i] @ self.w1[i]) @ self.w2[i] for i in range(x.shape[0])])


@pair("expert_loop", ["MOE-2", "GEMM-6", "HOST-1"])
def _(mended):
    model = nn.Sequential(*[Experts(mended) for _ in range(6)])
    return trainer(model, torch.randn(32, 128, 512, device=DEV), loss=lambda out, x: out.float().square().mean())


@pair("loop_sgd", ["OPT-1"])
def _(mended):
    return trainer(Gpt(layers=12, d=512, heads=8), tokens(4, 256), optimizer=lambda m: torch.optim.SGD(
        m.parameters(), lr=1e-3, momentum=0.9, foreach=False, fused=mended))


class Rotary(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused
        angle = torch.randn(1, 1, 2048, 64, device=DEV)
        self.cos, self.sin = torch.cos(angle).half(), torch.sin(angle).half()
        self.fast = torch.compile(self.turn) if fused else self.turn

    def turn(self, x):
        a, b = x.chunk(2, -1)
        return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def forward(self, x):
        return self.fast(x)


class RotaryLayer(nn.Module):
    def __init__(self, fused, d=2048):
        super().__init__()
        self.rotary, self.qkv, self.out = Rotary(fused), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(x).view(b, s, 3, d // 128, 128).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.rotary(q), self.rotary(k), v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(b, s, d))


@pair("rotary_chain", ["FUSE-1"])
def _(mended):
    model = nn.Sequential(*[RotaryLayer(mended) for _ in range(6)]).to(DEV).half()
    x = torch.randn(4, 2048, 2048, device=DEV, dtype=torch.half)

    @torch.no_grad()
    def step():
        return model(x)
    return step


class SlowSet(torch.utils.data.Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, i):
        end = time.perf_counter() + 0.0015
        while time.perf_counter() < end:
            pass
        return torch.randint(0, 32000, (512,))


@pair("few_workers", ["DATA-1"])
def _(mended):
    loader = iter(torch.utils.data.DataLoader(SlowSet(), batch_size=16, num_workers=10 if mended else 1,
                                              pin_memory=True, prefetch_factor=4))
    return trainer(Gpt(layers=6), None, before=lambda: next(loader).to(DEV, non_blocking=True))


@pair("python_work", ["HOST-1", "HOST-6", "HOST-3"])
def _(mended):
    def batch():
        if not mended:
            words = {}
            for i in range(60000):
                words[i % 977] = words.get(i % 977, 0) + 1
        return ready
    ready = tokens(8, 512)
    return trainer(Gpt(layers=4), None, before=batch)


@pair("head_loop", ["GEMM-6", "HOST-1"])
def _(mended):
    class Heads(nn.Module):
        def __init__(self, d=1024, n=16):
            super().__init__()
            self.one = nn.Linear(d, d) if mended else None
            self.many = None if mended else nn.ModuleList(nn.Linear(d, d // n) for _ in range(n))

        def forward(self, x):
            return x + torch.tanh(self.one(x) if self.one else torch.cat([h(x) for h in self.many], -1))
    model = nn.Sequential(*[Heads() for _ in range(8)])
    return trainer(model, torch.randn(8, 512, 1024, device=DEV), loss=lambda out, x: out.float().square().mean())


@pair("fp64_mlp", ["GEMM-5"])
def _(mended):
    torch.backends.cuda.matmul.allow_tf32 = True
    dt = torch.float32 if mended else torch.float64
    model = nn.Sequential(*[nn.Sequential(nn.Linear(2048, 2048), nn.GELU()) for _ in range(8)]).to(dt)
    x = torch.randn(4096, 2048, device=DEV, dtype=dt)
    return trainer(model, x, amp=False, loss=lambda out, x: out.square().mean())


@pair("rnn_cells", ["GRAPH-1", "HOST-1", "GEMM-6", "HOST-3"])
def _(mended):
    class R(nn.Module):
        def __init__(self):
            super().__init__()
            self.r = nn.GRU(512, 512, batch_first=True) if mended else nn.GRUCell(512, 512)
        def forward(self, x):
            if mended:
                return self.r(x)[0]
            h = x.new_zeros(x.shape[0], 512)
            out = []
            for t in range(x.shape[1]):
                h = self.r(x[:, t], h)
                out.append(h)
            return torch.stack(out, 1)
    return trainer(R(), torch.randn(64, 96, 512, device=DEV), amp=False, loss=lambda out, x: out.square().mean())


@pair("kv_cat", ["LAY-1", "ELEM-1", "ATTN-4"])
def _(mended):
    L, B, H, S, D = 16, 64, 16, 2048, 128
    ks = [torch.randn(B, H, S, D, device=DEV, dtype=torch.half) for _ in range(L)]
    vs = [torch.randn(B, H, S, D, device=DEV, dtype=torch.half) for _ in range(L)]
    lin = [nn.Linear(H * D, 3 * H * D, bias=False).to(DEV).half() for _ in range(L)]
    out = [nn.Linear(H * D, H * D, bias=False).to(DEV).half() for _ in range(L)]
    at = torch.tensor([S - 1], device=DEV)
    @torch.no_grad()
    def step():
        x = torch.randn(B, 1, H * D, device=DEV, dtype=torch.half)
        for i in range(L):
            q, k, v = lin[i](x).view(B, 1, 3, H, D).permute(2, 0, 3, 1, 4)
            if mended:
                ks[i].index_copy_(2, at, k)
                vs[i].index_copy_(2, at, v)
                kk, vv = ks[i], vs[i]
            else:
                kk = torch.cat((ks[i][:, :, 1:], k), 2)
                vv = torch.cat((vs[i][:, :, 1:], v), 2)
                ks[i], vs[i] = kk, vv
            x = x + out[i](F.scaled_dot_product_attention(q, kk, vv).transpose(1, 2).reshape(B, 1, H * D))
        return x
    return step


@pair("sdpa_mask", ["ATTN-2", "ATTN-1"])
def _(mended):
    mask = torch.ones(2048, 2048, dtype=torch.bool, device=DEV).tril()
    class B2(Block):
        def attend(self, x):
            b, s, d = x.shape
            q, k, v = self.qkv(x).view(b, s, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, **({"is_causal": True} if mended else {"attn_mask": mask}))
            return self.out(y.transpose(1, 2).reshape(b, s, d))
    g = Gpt(layers=0, d=1024)
    g.blocks = nn.ModuleList(B2(1024, 16) for _ in range(6))
    return trainer(g, tokens(8, 2048))


class HandRms(nn.Module):
    def __init__(self, d, fused):
        super().__init__()
        self.w = nn.Parameter(torch.ones(d))
        self.fused = fused
    def forward(self, x):
        if self.fused:
            return F.rms_norm(x, (x.shape[-1],), self.w.to(x.dtype))
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return y.to(x.dtype) * self.w.to(x.dtype)

@pair("hand_rms", ["FUSE-1", "NORM-1", "CAST-1"])
def _(mended):
    g = Gpt(layers=6, d=2048, heads=16).to(torch.bfloat16)
    for b in g.blocks:
        b.ln1, b.ln2 = HandRms(2048, mended), HandRms(2048, mended)
    return trainer(g, tokens(8, 1024), amp=False)


@pair("gc_collect", ["HOST-6", "HOST-3", "HOST-1"])
def _(mended):
    junk = [[i] for i in range(200000)]
    return trainer(Gpt(layers=6), tokens(8, 512), after=None if mended else lambda *_: gc.collect())


@pair("dropout_chain", ["FUSE-1"])
def _(mended):
    def chain(x, r, b):
        return F.gelu(F.dropout(x + b, 0.1) * 1.1 + r) * torch.sigmoid(x)
    f = torch.compile(chain) if mended else chain
    class C(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(2048, 2048)
            self.b = nn.Parameter(torch.zeros(2048))
        def forward(self, x):
            return f(self.l(x), x, self.b)
    model = nn.Sequential(*[C() for _ in range(6)]).to(torch.bfloat16)
    x = torch.randn(16384, 2048, device=DEV, dtype=torch.bfloat16)
    return trainer(model, x, amp=False, loss=lambda out, x: out.float().square().mean())


@pair("float_images", ["DATA-3", "DATA-2"])
def _(mended):
    host = torch.randint(0, 255, (128, 3, 384, 384), dtype=torch.uint8)
    host = host.pin_memory() if mended else host.float().pin_memory()
    class N(nn.Module):
        def __init__(self):
            super().__init__()
            self.c = nn.Sequential(nn.Conv2d(3, 32, 7, 4), nn.ReLU(), nn.Conv2d(32, 64, 3, 2))
            self.h = nn.Linear(64, 10)
        def forward(self, x):
            return self.h(self.c(x.float() / 255).mean((2, 3)))
    y = torch.randint(0, 10, (128,), device=DEV)
    return trainer(N(), None, loss=lambda out, x: F.cross_entropy(out, y),
                   before=lambda: host.to(DEV, non_blocking=True))


@pair("convnext_permute", ["CONV-1", "CONV-2", "LAY-1"])
def _(mended):
    class L(nn.Module):
        def __init__(self, c=192):
            super().__init__()
            self.d = nn.Conv2d(c, c, 7, padding=3, groups=c)
            self.n = nn.LayerNorm(c)
            self.a = nn.Linear(c, 4 * c)
            self.b = nn.Linear(4 * c, c)
        def forward(self, x):
            y = self.d(x).permute(0, 2, 3, 1)
            if not mended:
                y = y.contiguous()
            y = self.b(F.gelu(self.a(self.n(y)))).permute(0, 3, 1, 2)
            return x + (y if mended else y.contiguous())
    model = nn.Sequential(*[L() for _ in range(8)])
    x = torch.randn(32, 192, 56, 56, device=DEV)
    if mended:
        model = model.to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    return trainer(model, x, loss=lambda out, x: out.float().square().mean())


@pair("ema_loop", ["OPT-1", "HOST-3", "HOST-1"])
def _(mended):
    ema = []
    def after(model, value):
        ps = [p.detach() for p in model.parameters()]
        if not ema:
            ema.extend(p.clone() for p in ps)
        if mended:
            torch._foreach_lerp_(ema, ps, 0.01)
        else:
            for e, p in zip(ema, ps):
                e.mul_(0.99).add_(p, alpha=0.01)
    return trainer(Gpt(layers=16, d=512, heads=8), tokens(4, 256), after=after)


@pair("clip_loop", ["OPT-1", "HOST-3", "HOST-1"])
def _(mended):
    model = Gpt(layers=16, d=512, heads=8).to(DEV)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    x = tokens(4, 256)
    def step():
        with torch.autocast(DEV, torch.bfloat16):
            v = F.cross_entropy(model(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten())
        v.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=mended)
        opt.step()
        opt.zero_grad(set_to_none=True)
    return step


def measure(step, n=20):
    runs = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(n):
            step()
        torch.cuda.synchronize()
        runs.append((time.perf_counter() - begin) * 1e3 / n)
    return statistics.median(runs)


def record(step, path):
    from torch.profiler import ProfilerActivity, profile, schedule
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 with_stack=True, with_modules=True, profile_memory=True,
                 schedule=schedule(wait=1, warmup=3, active=2)) as prof:
        for _ in range(6):
            step()
            prof.step()
        torch.cuda.synchronize()
    prof.export_chrome_trace(path + ".json")
    with open(path + ".json", "rb") as f, gzip.open(path + ".json.gz", "wb", 9) as g:
        shutil.copyfileobj(f, g)
    os.remove(path + ".json")


def run_side(name, side, out):
    make, _ = PAIRS[name]
    torch.manual_seed(0)
    step = make(side == "mended")
    for _ in range(8):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    ms = measure(step)
    torch.cuda.reset_peak_memory_stats()
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    peak, reserved = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    record(step, os.path.join(out, f"{name}.{side}"))
    return {f"{side}_step_ms": ms, f"{side}_peak_allocated": peak, f"{side}_peak_reserved": reserved}


def main():
    out = sys.argv[1]
    names = sys.argv[2:] or list(PAIRS)
    if len(names) == 2 and names[1] in ("bad", "mended"):  # child: a fresh process per side
        print("RESULT " + json.dumps(run_side(names[0], names[1], out)))
        return
    truth = {}
    for name in names:
        row = {"torch": torch.__version__, "device": torch.cuda.get_device_name(), "rules": PAIRS[name][1]}
        for side in ("bad", "mended"):
            p = subprocess.run([sys.executable, __file__, out, name, side], capture_output=True, text=True)
            lines = [l for l in p.stdout.splitlines() if l.startswith("RESULT ")]
            if not lines:
                print(name, side, "failed", p.stderr[-800:])
                break
            row.update(json.loads(lines[0][7:]))
        else:
            row["saving_ms"] = row["bad_step_ms"] - row["mended_step_ms"]
            row["saving_share"] = row["saving_ms"] / row["bad_step_ms"]
            truth[name] = row
            print(f"{name:22} {row['bad_step_ms']:8.2f} -> {row['mended_step_ms']:8.2f} ms "
                  f"{100 * row['saving_share']:5.1f} %", flush=True)
        with open(os.path.join(out, "truth.json"), "w") as f:
            json.dump(truth, f, indent=1)


main()

#!/usr/bin/env python3
"""record_pair.py: the traces of tests/data/h200_pair_*: one workload recorded twice, and a third
time with flash attention switched off.
    python3 record_pair.py OUT_FOLDER      # needs PyTorch and a GPU
"""
import gzip
import pathlib
import re
import sys

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, schedule

STEPS = 8
BATCH, LENGTH, WIDTH, HEADS, LAYERS = 8, 1024, 1024, 16, 2


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = (
            part.view(BATCH, LENGTH, HEADS, -1).transpose(1, 2)
            for part in self.qkv(self.norm1(x)).chunk(3, dim=-1)
        )
        heads = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(heads.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


def train(backend: SDPBackend, path: pathlib.Path) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(*(Block() for _ in range(LAYERS))).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x = torch.randn(BATCH, LENGTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    with sdpa_kernel(backend), profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
        schedule=schedule(wait=4, warmup=4, active=STEPS),
        record_shapes=True,
    ) as profiler:
        for _ in range(8 + STEPS):
            model(x).float().square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            torch.cuda.synchronize()
            profiler.step()
    profiler.export_chrome_trace(str(path))
    # The recording machine's folders are nobody's business.
    text = re.sub(r'"traceName": "[^"]*"', '"traceName": "trace.json"', path.read_text())
    path.unlink()
    with gzip.GzipFile(str(path) + ".gz", "wb", compresslevel=9, mtime=0) as out:
        out.write(text.encode())


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    train(SDPBackend.FLASH_ATTENTION, folder / "warm_up.json")
    train(SDPBackend.FLASH_ATTENTION, folder / "h200_pair_base.json")
    train(SDPBackend.FLASH_ATTENTION, folder / "h200_pair_again.json")
    train(SDPBackend.MATH, folder / "h200_pair_math.json")


if __name__ == "__main__":
    main()

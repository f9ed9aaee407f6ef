"""Records one decode step of a small decoder three times on a CUDA GPU: eagerly, while it is captured
into a CUDA graph, and as replays of that graph.

    python3 record_graph_decode.py OUTPUT_FOLDER

Plain PyTorch, no serving framework. The three files hold the same step: what a report makes of the
replays and the capture together must agree with what it makes of the eager run.
"""

import gzip
import re
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function

LAYERS, WIDTH, HEADS, BATCH, CONTEXT, VOCABULARY = 4, 2048, 16, 16, 1024, 32000
STEPS = 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        shape = (BATCH, HEADS, CONTEXT, WIDTH // HEADS)
        self.register_buffer("keys", torch.randn(shape) * 0.1)
        self.register_buffer("values", torch.randn(shape) * 0.1)

    def forward(self, x, position):
        q, k, v = self.qkv(x).view(BATCH, 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        y = F.scaled_dot_product_attention(q, self.keys, self.values)
        return self.out(y.transpose(1, 2).reshape(BATCH, 1, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention = Attention()
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x, position):
        x = x + self.attention(self.norm1(x), position)
        return x + self.down(F.silu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, tokens, position):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, position)
        return self.head(self.norm(x)).argmax(-1)


def record(path, work, with_stack):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 with_stack=with_stack) as profiler:
        work()
        torch.cuda.synchronize()
    plain = path.with_suffix("")
    profiler.export_chrome_trace(str(plain))
    text = re.sub(r'("traceName": ")[^"]*/', r"\1", plain.read_text())  # no folder of this machine
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    plain.unlink()


@torch.no_grad()
def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    model = Decoder().to("cuda", torch.bfloat16).eval()
    tokens = torch.randint(0, VOCABULARY, (BATCH, 1), device="cuda")
    position = torch.tensor([CONTEXT - 1], device="cuda")

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(tokens, position)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()

    def eager():
        for step in range(STEPS):
            with record_function(f"decode step {step}"):
                tokens.copy_(model(tokens, position))

    graph = torch.cuda.CUDAGraph()

    def capture():
        with torch.cuda.graph(graph):
            tokens.copy_(model(tokens, position))

    def replay():
        for step in range(STEPS):
            with record_function(f"decode step {step}"):
                graph.replay()

    record(folder / "h200_eager.json.gz", eager, False)
    record(folder / "h200_capture.json.gz", capture, True)
    record(folder / "h200_replay.json.gz", replay, False)


main()

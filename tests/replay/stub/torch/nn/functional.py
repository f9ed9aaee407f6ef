"""Attention, noted in `calls`."""

import torch


def scaled_dot_product_attention(query, **keywords):
    torch.calls.append(("sdpa", [query], keywords))

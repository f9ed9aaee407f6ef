# ---------------------------------------------------------------- integers whose values matter
# An index out of range ends the process, and zeros everywhere would always hit the cache. So integer
# arguments with a meaning get values within it: (op, argument) -> function of the arguments by name.

def count_of(value):
    """Elements of a tensor, made or still to be made."""
    return math.prod(value.shape)


def first_of(args, *names):
    """The first of these arguments that was given."""
    return next((args[name] for name in names if args.get(name) is not None), None)


def size_along_dim(args):
    tensor = args["self"]
    return tensor.shape[args["dim"]] if tensor.dim() else 1


def classes(args):
    return args["self"].shape[1 if args["self"].dim() > 1 else 0]


def rows_of_weight(args):
    return args["weight"].shape[0]


def pooled_positions(args):
    tensor = args["self"]
    return math.prod(tensor.shape[-(3 if "3d" in args["op"] else 2):])


def experts(args):
    """Of a mixture: what says it, else the weights' first size, else the router's last one."""
    number = first_of(args, "num_experts", "global_num_experts", "n_routed_experts", "E")
    if isinstance(number, int) and number > 0:
        return number
    weights = first_of(args, "w1", "w13", "w13_weight", "w", "B", "b_q_weight", "expert_weights", "w2")
    if weights is not None and len(weights.shape) == 3:
        return weights.shape[0]
    router = first_of(args, "router_logits", "gating_output", "router_scores", "logits")
    return router.shape[-1] if router is not None else 1


def cache_pages(args):
    """(pages, tokens in a page) of the cache of keys; (0, 1) without one."""
    cache = first_of(args, "key_cache", "k_cache", "kv_cache", "k_buffer", "kv_buffer", "kv_c_and_k_pe_cache")
    if cache is None or not cache.shape:
        return 0, 1
    shape = list(cache.shape)
    if len(shape) > 4 and shape[0] == 2:  # keys and values in one
        shape = shape[1:]
    size = first_of(args, "block_size", "page_size")
    if not isinstance(size, int) or size < 1:
        size = shape[1] if len(shape) > 3 else 1
    return shape[0], size


def longest_sequence(args):
    """In tokens: what was said, but no more than the cache's pages hold."""
    pages, size = cache_pages(args)
    table = first_of(args, "block_table", "block_tables", "page_table")
    limits = [table.shape[-1] * size] if table is not None and table.shape else []
    limits += [pages * size] if pages else []
    said = first_of(args, "max_seqlen_k", "max_seq_len", "max_context_len", "max_seqlen", "max_kv_len")
    if isinstance(said, int) and said > 0:
        limits.append(said)
    return min(limits, default=1)


def rows_for_offsets(name, args):
    """What cumulative offsets of this name divide: pages, keys or queries, else rows of the first matrix."""
    pages = first_of(args, "kv_indices", "paged_kv_indices")
    if pages is not None and "kv" in name:
        return count_of(pages)
    for ending, keys in (("_k", ("key", "k")), ("_q", ("query", "q"))):
        tensor = first_of(args, *keys)
        if name.endswith(ending) and torch.is_tensor(tensor) and tensor.shape:
            return tensor.shape[0]
    return rows_split_by_offsets(args)


def blocks_of_experts(args):
    """Positions of tokens sorted by expert: each once, then the number that stands for none."""
    ids = first_of(args, "topk_ids")
    return count_of(ids) if ids is not None else rows_split_by_offsets(args)


# What engines for inference call their integers, whatever the op: (name, how to fill it, from what).
#   all: the same everywhere; cycle: 0, 1, 2, ... over and over; upto: the same, but it stays at the end;
#   spread: rising evenly
MEANINGS = [(re.compile(pattern + "$"), how, limit) for pattern, how, limit in (
    (r"topk_ids|topk_indices|topk_idx|selected_experts", "cycle", experts),
    (r"expert_ids|sorted_expert_ids|m_indices", "spread", experts),
    (r"sorted_(token_)?ids", "upto", blocks_of_experts),
    (r"num_tokens_post_pad(ded)?|num_valid_ids", "all",
     lambda args: count_of(first_of(args, "sorted_token_ids", "sorted_ids"))),
    (r"(decode_|prefill_)?(seq_?lens?|context_lens?)(_tensor|_k)?|cache_seqlens|kv_lens?|seqused_k", "all",
     longest_sequence),
    (r"block_tables?|page_table|(paged_)?kv_indices|kv_page_indices|page_indices", "cycle",
     lambda args: cache_pages(args)[0]),
    (r"slot_mapping|out_cache_loc|cache_loc|loc", "cycle", lambda args: math.prod(cache_pages(args))),
    (r"(paged_)?kv_last_page_lens?", "all", lambda args: cache_pages(args)[1]),
    (r"positions|position_ids", "cycle", lambda args: args["cos_sin_cache"].shape[0]),
    (r"input_ids", "cycle", rows_of_weight),
)]
# The same for single ops of PyTorch.
VALUES = {
    ("_assert_async", "self"): ("all", lambda args: 1),  # else it ends the process
    ("ctc_loss", "input_lengths"): ("all", lambda args: args["log_probs"].shape[0]),
    ("ctc_loss", "target_lengths"): ("all", lambda args: args["targets"].shape[-1]),
    ("_ctc_loss", "input_lengths"): ("all", lambda args: args["log_probs"].shape[0]),
    ("_ctc_loss", "target_lengths"): ("all", lambda args: args["targets"].shape[-1]),
    ("_pack_padded_sequence", "lengths"): ("all", lambda args: args["input"].shape[
        1 if args.get("batch_first") else 0]),
    ("repeat_interleave", "repeats"): ("all", lambda args: max(
        (args.get("output_size") or 0) // max(count_of(args["repeats"]), 1), 1)),
    **{(op, "other"): ("all", lambda args: 1) for op in ("div", "floor_divide", "remainder", "fmod")},
}


LIMITS = {
    ("embedding", "indices"): rows_of_weight,
    ("_embedding_bag", "indices"): rows_of_weight,
    ("_embedding_bag_forward_only", "indices"): rows_of_weight,
    ("embedding_bag", "indices"): rows_of_weight,
    ("embedding_dense_backward", "indices"): lambda args: args["num_weights"],
    ("embedding_backward", "indices"): lambda args: args["num_weights"],
    ("nll_loss", "target"): classes,
    ("nll_loss_nd", "target"): classes,
    ("nll_loss_forward", "target"): classes,
    ("nll_loss_backward", "target"): classes,
    ("nll_loss2d_forward", "target"): classes,
    ("nll_loss2d_backward", "target"): classes,
    ("cross_entropy_loss", "target"): classes,
    ("one_hot", "self"): lambda args: args["num_classes"],
    ("max_pool2d_with_indices_backward", "indices"): pooled_positions,
    ("max_pool3d_with_indices_backward", "indices"): pooled_positions,
    ("adaptive_max_pool2d_backward", "indices"): pooled_positions,
    ("adaptive_max_pool3d_backward", "indices"): pooled_positions,
    ("max_unpool2d", "indices"): lambda args: math.prod(args["output_size"]),
    ("ctc_loss", "targets"): lambda args: args["log_probs"].shape[-1],
    ("_ctc_loss", "targets"): lambda args: args["log_probs"].shape[-1],
    ("take", "index"): lambda args: args["self"].numel(),
    ("put", "index"): lambda args: args["self"].numel(),
}
# The same for every op of a family.
ALONG_DIM = re.compile(r"^(index_(select|add|copy|fill|reduce)|gather|scatter|take_along_dim|_index_)")
CUMULATIVE = re.compile(r"^(cu_?seq|cum_seq|cu_?len|offsets?$|offs$|indptr|.*_indptr$)")
PROBABILITIES = {("multinomial", "self"), ("bernoulli", "p"), ("binary_cross_entropy", "self"),
                 ("binary_cross_entropy", "target"), ("binary_cross_entropy_backward", "self"),
                 ("binary_cross_entropy_backward", "target"), ("bernoulli", "self")}
# Arguments that are mostly Python numbers turned into tensors without dimensions, which stay on the host.
PLAIN_NUMBERS = {"other", "exponent", "value", "min", "max", "end", "weight"}
# Written before they are read, so that nothing needs to be in them.
NOT_READ = {("fill", "self"), ("zero", "self"), ("copy", "self")}
# Zero, or the op has nothing to do.
ZERO = {"found_inf"}
# On the host, whatever the device.
ON_HOST = {("_pack_padded_sequence", "lengths")}


def base_name(op):
    """aten::index_add_ -> index_add"""
    name = op.rpartition("::")[2]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def rows_split_by_offsets(args):
    """The length that cumulative offsets of ragged inputs divide: rows of the first matrix."""
    for value in args.values():
        if torch.is_tensor(value) and value.dim() >= 2 and value.dtype.is_floating_point:
            return value.shape[0]
    for name in ("indices", "input", "self"):
        if torch.is_tensor(args.get(name)):
            return args[name].numel()
    return 0

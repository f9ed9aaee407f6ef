// rope.cpp: rotary position embedding: every pair of values is turned by an angle.
// FLOPs = 3 per element (two multiplications, one addition); bytes = read and written once.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

Work rotation(const Arguments& in, double elements, const std::string& type,
              std::vector<Param> params) {
  in.forward_only();
  params.push_back({"num_elements", count(elements)});
  return in.work(3 * elements, 2 * elements * in.bytes_or(type, 2), Unit::kVector, type,
                 std::move(params));
}

// x[length, batch, heads, head size]
Work fused_rope(const Arguments& in) {
  const Shape x = in.shape(0, 4);
  return rotation(in, x.elements(), in.type_or(0, ""),
                  {{"seq_len", count(x.at(0))},
                   {"batch", count(x.at(1))},
                   {"heads", count(x.at(2))},
                   {"head_dim", count(x.at(3))}});
}

// out x, out y, x, y, cosines, sines, positions
Work two_tensors(const Arguments& in) {
  const Shape x = in.shape(2), y = in.shape(3);
  return rotation(in, x.elements() + y.elements(), in.type_or(0, ""),
                  {{"x_shape", x.tuple()}, {"y_shape", y.tuple()}});
}

// positions, q[tokens, heads*size], k[tokens, heads*size], head size, cache[positions, rotated]
Work query_and_key(const Arguments& in) {
  const Shape q = in.shape(1), k = in.shape(2);
  const bool has_head = in.text_or_empty(3).find_first_not_of(' ') != std::string::npos;
  const double head = has_head ? static_cast<double>(in.integer(3)) : q.last();
  if (head <= 0) fail("head size is not positive");
  const auto cache = in.tensor_if(4);
  const double rotated = cache && cache->rank() >= 2 ? cache->at(1) : head;
  const double heads = std::floor(q.at(1) / head) + std::floor(k.at(1) / head);
  return rotation(in, q.at(0) * heads * rotated, in.type_or(1, ""), {});
}

// q_nope[T, QH, L], q_pe[T, QH, R], k_nope, k_pe, cache, out: turn the R-sized parts, join them to
// the L-sized ones, and store keys in the cache.
Work rope_and_cache(const Arguments& in, double key_heads, bool has_out) {
  in.forward_only();
  const Shape q = in.shape(0, 3);
  const double tokens = q.at(0), query_heads = q.at(1), latent = q.at(2),
               turned = in.shape(1).at(2);
  const std::string &type = in.type(0), cache_type = in.type_or(4, type);
  const std::string out_type = has_out ? in.type_or(5, type) : type;
  const auto size = in.bytes(type);
  std::optional<double> bytes;
  if (size)
    bytes = tokens * (latent + turned) *
            ((query_heads + key_heads) * *size + query_heads * in.bytes_or(out_type, *size) +
             key_heads * in.bytes_or(cache_type, *size));
  std::vector<Param> params{{"T", count(tokens)},     {"QH", count(query_heads)},
                            {"KH", count(key_heads)}, {"D_lora", count(latent)},
                            {"D_pe", count(turned)},  {"dtype_in", type},
                            {"dtype_kv", cache_type}};
  if (has_out) params.push_back({"dtype_out", out_type});
  return in.work(3 * tokens * (query_heads + key_heads) * turned, bytes, Unit::kVector, type,
                 std::move(params));
}
Work cat_and_cache(const Arguments& in) { return rope_and_cache(in, in.shape(2).at(1), false); }
Work concat_and_cache(const Arguments& in) { return rope_and_cache(in, 1, true); }

constexpr ModelledOp op(std::string_view name, std::string_view model, std::string_view sheet,
                        Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "RoPE_fwd", .sheet = sheet}, run};
}

constexpr ModelledOp kOps[] = {
    op("FusedRoPEFunc", "fused_rope_fwd", "RoPE", fused_rope),
    op("aiter::rope_cached_positions_2c_fwd_impl", "aiter_rope_cached_positions_2c_fwd_impl",
       "RoPE", two_tensors),
    op("sgl_kernel::rotary_embedding", "sgl_kernel_rotary_embedding", "RoPE", query_and_key),
    {{.name = "_C::rotary_embedding",
      .model = "sgl_kernel_rotary_embedding",
      .category = "RoPE_fwd",
      .sheet = "RoPE",
      .edition = Edition::kExtended},
     query_and_key},
    op("aiter::fused_qk_rope_concat_and_cache_mla", "fused_qk_rope_concat_and_cache_mla",
       "FusedRoPE", concat_and_cache),
    op("aiter::fused_qk_rope_cat_and_cache_mla", "aiter_fused_qk_rope_cat_and_cache_mla",
       "FusedRoPE", cat_and_cache),
};

}  // namespace

constinit const Family kRope = modelled<kOps>();

}  // namespace tracelens::perf

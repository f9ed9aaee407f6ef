// moe_comm.cpp: sending tokens to the experts and back: no arithmetic, every token moved once.
#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

// tokens[count, hidden size]; backward moves the same bytes. Shapes may be missing.
Work token_exchange(const Arguments& in) {
  const auto tokens = in.has_dims() ? in.tensor_if(0) : std::nullopt;
  const auto size_at = [&](std::size_t dim) {
    return tokens && tokens->rank() > dim ? std::optional{tokens->at(dim)} : std::nullopt;
  };
  const auto rows = size_at(0), hidden = size_at(1), size = in.bytes(in.type_or(0, ""));
  const auto printed = [](std::optional<double> value) { return value ? count(*value) : Value{}; };
  std::optional<double> bytes;
  if (rows && hidden && size) bytes = *rows * *hidden * *size;
  return {
      .flops = 0,
      .bytes = bytes,
      .compute_spec = {},
      .params = {
          {"num_tokens", printed(rows)}, {"hidden_dim", printed(hidden)}, {"bpe", printed(size)}}};
}

constexpr ModelledOp op(std::string_view name, std::string_view model) {
  return {{.name = name,
           .model = model,
           .category = "MoE_comm_fwd",
           .backward_category = "MoE_comm_bwd",
           .sheet = "MoE_comm"},
          token_exchange};
}

constexpr ModelledOp kOps[] = {op("MoEDispatch", "moe_dispatch"), op("MoECombine", "moe_combine")};

}  // namespace

constinit const Family kMoeComm = modelled<kOps>();

}  // namespace tracelens::perf

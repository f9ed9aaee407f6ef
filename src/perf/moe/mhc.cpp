// mhc.cpp: manifold hyper-connections: M tokens carry n streams of C values, mixed before and after
// every layer by small matrices computed from the streams (h rows over K = n*C inputs).
#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

struct Sizes {
  double m = 0, n = 0, c = 0;  // tokens, streams, width
  double h = 0, k = 0, s = 0;  // rows of the mixing product, its depth, its split
};

Work finish(const Arguments& in, Unit unit, std::size_t type_slot, double flops, double activations,
            double fixed_bytes, std::vector<Param> params) {
  in.forward_only();
  const std::string type = in.type_or(type_slot, "c10::BFloat16");
  params.push_back({"dtype_in", type});
  std::optional<double> bytes = in.bytes(type);
  if (bytes) bytes = activations * *bytes + fixed_bytes;
  return in.work(flops, bytes, unit, type, std::move(params));
}

double mix_flops(const Sizes& s) { return 2 * s.m * s.n * s.c * (s.n + 1); }
// One 32-bit weight per stream and an n x n matrix per token.
double mix_bytes(const Sizes& s) { return 4 * s.m * s.n + 4 * s.m * s.n * s.n; }
double product_bytes(const Sizes& s) { return 4 * s.h * s.k + 4 * s.s * s.m * s.h + 4 * s.s * s.m; }

std::vector<Param> product_params(const Sizes& s) {
  return {{"M", count(s.m)},   {"n", count(s.n)}, {"C", count(s.c)},
          {"hc3", count(s.h)}, {"K", count(s.k)}, {"split_k", count(s.s)}};
}

Work post(const Arguments& in) {
  const Shape x = in.shape(1, 2);
  const Sizes s{.m = x.at(0), .n = in.shape(0).at(1), .c = x.at(1)};
  return finish(in, Unit::kVector, 1, mix_flops(s), s.m * s.c + 2 * s.m * s.n * s.c, mix_bytes(s),
                {{"M", count(s.m)}, {"n", count(s.n)}, {"C", count(s.c)}, {"hc3", Value{}}});
}

Work pre_gemm(const Arguments& in) {
  const Shape x = in.shape(2, 3), w = in.shape(3, 2);
  const Sizes s{
      .m = x.at(0), .n = x.at(1), .c = x.at(2), .h = w.at(0), .k = w.at(1), .s = in.shape(0).at(0)};
  return finish(in, Unit::kMatrix, 2, 2 * s.m * s.h * s.k, s.m * s.n * s.c, product_bytes(s),
                product_params(s));
}

Work pre_norm(const Arguments& in) {
  const Shape x = in.shape(2, 2);
  const Sizes s{.m = x.at(0),
                .n = in.shape(0).at(1),
                .c = x.at(1),
                .h = in.shape(6).at(0),
                .s = in.shape(3).at(0)};
  return finish(in, Unit::kVector, 7, 2 * s.m * s.c * s.n + 5 * s.m * s.c,
                s.m * s.n * s.c + s.c + s.m * s.c, 4 * s.s * s.m * s.h + mix_bytes(s),
                {{"M", count(s.m)},
                 {"n", count(s.n)},
                 {"C", count(s.c)},
                 {"hc3", count(s.h)},
                 {"split_k", count(s.s)}});
}

Work post_and_pre(const Arguments& in) {
  const Shape x = in.shape(3, 2), w = in.shape(7, 2);
  const Sizes s{.m = x.at(0),
                .n = in.shape(2).at(1),
                .c = x.at(1),
                .h = w.at(0),
                .k = w.at(1),
                .s = in.shape(0).at(0)};
  return finish(in, Unit::kMatrix, 3, mix_flops(s) + 2 * s.m * s.h * s.k,
                s.m * s.c + 3 * s.m * s.n * s.c, mix_bytes(s) + product_bytes(s),
                product_params(s));
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "mHC", .sheet = "mHC"}, run};
}

constexpr ModelledOp kOps[] = {
    op("aiter::mhc_post", "mhc_post", post),
    op("aiter::mhc_pre_gemm_sqrsum", "mhc_pre_gemm_sqrsum", pre_gemm),
    op("aiter::mhc_pre_big_fuse_rmsnorm", "mhc_pre_big_fuse_rmsnorm", pre_norm),
    op("aiter::mhc_fused_post_pre_gemm_sqrsum", "mhc_fused_post_pre_gemm_sqrsum", post_and_pre),
};

}  // namespace

constinit const Family kMhc = modelled<kOps>();

}  // namespace tracelens::perf

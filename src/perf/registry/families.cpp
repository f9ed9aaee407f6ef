// families.cpp: every model family. A new family is a file, a name in core/family_list.hpp and a
// line here.
#include "perf/registry/families.hpp"

#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

constexpr const Family* kFamilies[] = {
    &kGemm,
    &kQuantizedGemm,
    &kServingGemm,
    &kAttention,
    &kPackedAttention,
    &kEvoformerAttention,
    &kConvolution,
    &kInferenceAttention,
    &kBinaryElementwise,
    &kGroupedGemm,
    &kMoeComm,
    &kSsm,
    &kRope,
    &kCrossEntropy,
    &kUnaryElementwise,
    &kMoe,
    &kRmsNorm,
    &kQuantization,
    &kMxfp4Quantization,
    &kCustomCollective,
    &kMhc,
    &kNormalization,
    &kReduce,
    &kTensorOps,
    &kRnn,
    &kCategoryOnly,
};

}  // namespace

std::span<const Family* const> families() { return kFamilies; }

}  // namespace tracelens::perf

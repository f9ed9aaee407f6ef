// families.cpp: every model family. A new family is a file, a name in families.hpp and a line here.
#include "perf/families.hpp"

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

// families.hpp: the list of model families; each is defined in the file of the same name.
#pragma once

#include <span>

#include "perf/family.hpp"

namespace tracelens::perf {

extern const Family kGemm, kQuantizedGemm, kServingGemm, kAttention, kPackedAttention,
    kEvoformerAttention, kConvolution, kInferenceAttention, kBinaryElementwise, kGroupedGemm,
    kMoeComm, kSsm, kRope, kCrossEntropy, kUnaryElementwise, kMoe, kRmsNorm, kQuantization,
    kMxfp4Quantization, kCustomCollective, kMhc, kNormalization, kReduce, kTensorOps, kRnn,
    kCategoryOnly;

// Every family, in an order that keeps the ops of one sheet together.
[[nodiscard]] std::span<const Family* const> families();

}  // namespace tracelens::perf

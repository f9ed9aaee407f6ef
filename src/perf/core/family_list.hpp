// family_list.hpp: the names of all model families; each is defined in the file of the same name.
#pragma once

#include "perf/core/family.hpp"

namespace tracelens::perf {

extern const Family kGemm, kQuantizedGemm, kServingGemm, kAttention, kPackedAttention,
    kEvoformerAttention, kConvolution, kInferenceAttention, kBinaryElementwise, kGroupedGemm,
    kMoeComm, kSsm, kRope, kCrossEntropy, kUnaryElementwise, kMoe, kRmsNorm, kQuantization,
    kMxfp4Quantization, kCustomCollective, kMhc, kNormalization, kReduce, kTensorOps, kRnn,
    kCategoryOnly;

}  // namespace tracelens::perf

#include "diagnosis/rules/list.hpp"

namespace tracelens {

// Each is defined in the file of its id: kData1 in data_1.cpp.
extern const Rule kAttn1, kCast1, kComp1, kComp2, kConv2, kConv3, kData1, kData2, kData3, kData4,
    kData5, kFuse1, kGemm1, kGemm2, kGemm5, kGemm6, kGraph1, kGraph2, kHost1, kHost2, kHost3,
    kHost4, kHost5, kHost6, kLay1, kMem3, kMoe2, kOpt1, kOpt2, kRecomp1, kSoft1, kSync1, kSync2,
    kSync3;

namespace {

// Kernels: recomputation, communication, optimizer, experts, attention, convolutions, GEMMs, chains,
// norms, softmax, casts, layouts, elementwise, gathers, reductions, compiled kernels, the rest.
// What only changes the host or waits does not depend on the place, but reads are before waits.
constexpr const Rule* kRules[] = {
    &kRecomp1,  //
    &kOpt1,     //
    &kOpt2,     //
    &kMoe2,     //
    &kAttn1,    //
    &kConv2,    //
    &kConv3,    //
    &kGemm2,    //
    &kGemm5,    //
    &kGemm6,    //
    &kHost3,    //
    &kGemm1,    //
    &kFuse1,    //
    &kSoft1,    //
    &kCast1,    //
    &kLay1,     //
    &kData1,    //
    &kData2,    //
    &kData4,    //
    &kData5,    //
    &kData3,    //
    &kSync2,    //
    &kSync3,    //
    &kSync1,    //
    &kMem3,     //
    &kComp1,    //
    &kComp2,    //
    &kHost4,    //
    &kHost6,    //
    &kGraph1,   //
    &kGraph2,   //
    &kHost2,    //
    &kHost5,    //
    &kHost1,    //
};

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

}  // namespace tracelens

#include "diagnosis/rules/list.hpp"

namespace tracelens {

// Each is defined in the file of its id: kData1 in data_1.cpp.
extern const Rule kAttn1, kAttn2, kAttn3, kAttn4, kCast1, kComp1, kConv1, kConv2, kConv3, kData1,
    kData2, kData3, kData4, kData5, kElem1, kEmb1, kFuse1, kFuse2, kGemm1, kGemm2, kGemm3, kGemm4,
    kGemm5, kGemm6, kGemm7, kGraph1, kHost1, kHost6, kLay1, kMem3, kMoe2, kNorm1, kOpt1, kRecomp1,
    kRed1, kRocm1, kRocm2, kSoft1, kSync1, kSync2, kSync3, kTri1, kUnm1, kVar1;

namespace {

// Kernels: recomputation, communication, optimizer, experts, attention, convolutions, GEMMs, chains,
// norms, softmax, casts, layouts, elementwise, gathers, reductions, compiled kernels, the rest.
// What only changes the host or waits does not depend on the place, but reads are before waits.
constexpr const Rule* kRules[] = {
    &kRecomp1,  //
    &kOpt1,     //
    &kMoe2,     //
    &kAttn1,    //
    &kAttn3,    //
    &kAttn2,    //
    &kAttn4,    //
    &kConv2,    //
    &kConv3,    //
    &kConv1,    //
    &kGemm2,    //
    &kGemm3,    //
    &kGemm4,    //
    &kGemm5,    //
    &kGemm6,    //
    &kGemm7,    //
    &kGemm1,    //
    &kFuse1,    //
    &kFuse2,    //
    &kNorm1,    //
    &kSoft1,    //
    &kCast1,    //
    &kLay1,     //
    &kElem1,    //
    &kEmb1,     //
    &kRed1,     //
    &kTri1,     //
    &kRocm1,    //
    &kRocm2,    //
    &kUnm1,     //
    &kVar1,     //
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
    &kHost6,    //
    &kGraph1,   //
    &kHost1,    //
};

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

}  // namespace tracelens

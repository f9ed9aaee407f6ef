#include "diagnosis/rules/list.hpp"

namespace tracelens {

// Each is defined in the file of its id: kData1 in data_1.cpp.
extern const Rule kAttn1, kAttn2, kAttn3, kAttn4, kCast1, kCmp1, kCmp2, kCmp3, kCmp4, kCmp5, kComm1,
    kComm2, kComm3, kComm4, kComm5, kComm6, kComm7, kComp1, kComp2, kConv1, kConv2, kConv3, kData1,
    kData2, kData3, kData4, kData5, kElem1, kEmb1, kFuse1, kFuse2, kGemm1, kGemm2, kGemm3, kGemm4,
    kGemm5, kGemm6, kGemm7, kGraph1, kGraph2, kHost1, kHost2, kHost3, kHost4, kHost5, kHost6, kJax1,
    kJax2, kJax3, kLay1, kMem1, kMem2, kMem3, kMem4, kMoe1, kMoe2, kMoe3, kNorm1, kOpt1, kOpt2,
    kRecomp1, kRed1, kRocm1, kRocm2, kServe1, kServe2, kServe3, kServe4, kSoft1, kSync1, kSync2,
    kSync3, kTri1, kUnm1, kVar1;

namespace {

// Kernels: recomputation, communication, optimizer, experts, attention, convolutions, GEMMs, chains,
// norms, softmax, casts, layouts, elementwise, gathers, reductions, compiled kernels, the rest.
// What only changes the host or waits does not depend on the place, but reads are before waits.
constexpr const Rule* kRules[] = {
    &kRecomp1,  //
    &kComm4,    //
    &kComm2,    //
    &kComm1,    //
    &kComm3,    //
    &kComm5,    //
    &kComm6,    //
    &kComm7,    //
    &kOpt1,     //
    &kOpt2,     //
    &kMoe1,     //
    &kMoe3,     //
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
    &kHost3,    //
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
    &kJax2,     //
    &kJax3,     //
    &kJax1,     //
    &kData1,    //
    &kData2,    //
    &kData4,    //
    &kData5,    //
    &kData3,    //
    &kSync2,    //
    &kSync3,    //
    &kSync1,    //
    &kMem1,     //
    &kMem2,     //
    &kMem3,     //
    &kMem4,     //
    &kComp1,    //
    &kComp2,    //
    &kHost4,    //
    &kHost6,    //
    &kServe1,   //
    &kServe2,   //
    &kServe3,   //
    &kServe4,   //
    &kGraph1,   //
    &kGraph2,   //
    &kHost2,    //
    &kHost5,    //
    &kHost1,    //
    // Against another run: they may tell of what others have taken.
    &kCmp1,  //
    &kCmp2,  //
    &kCmp4,  //
    &kCmp3,  //
    &kCmp5,  //
};

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

}  // namespace tracelens

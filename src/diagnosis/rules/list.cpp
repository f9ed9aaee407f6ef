#include "diagnosis/rules/list.hpp"

namespace tracelens {

// Each is defined in the file of its id: kData1 in data_1.cpp.
extern const Rule kCmp1, kCmp2, kCmp3, kCmp4, kCmp5, kComm1, kComm2, kComm3, kComm4, kComm5, kComm6,
    kComm7, kJax1, kJax2, kJax3, kMem1, kMem2, kMem4, kMoe1, kMoe3, kServe1, kServe2, kServe3,
    kServe4;
extern const Rule kComp1, kData1, kData2, kData3, kData4, kData5, kGemm5, kGraph1, kHost1, kHost6,
    kMem3, kOpt1, kRecomp1, kSync1, kSync2, kSync3;

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
    &kMoe1,     //
    &kMoe3,     //
    &kGemm5,    //
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
    &kHost6,    //
    &kServe1,   //
    &kServe2,   //
    &kServe3,   //
    &kServe4,   //
    &kGraph1,   //
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

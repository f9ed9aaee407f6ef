#include "diagnosis/rules/list.hpp"

namespace tracelens {

// Each is defined in the file of its id: kData1 in data_1.cpp.
extern const Rule kComp1, kComp2, kData1, kData2, kData3, kData4, kData5, kGemm5, kGraph1, kGraph2,
    kHost1, kHost2, kHost3, kHost4, kHost5, kHost6, kMem1, kMem2, kMem3, kMem4, kOpt1, kOpt2,
    kRecomp1, kSync1, kSync2, kSync3;

namespace {

// Kernels: recomputation, communication, optimizer, experts, attention, convolutions, GEMMs, chains,
// norms, softmax, casts, layouts, elementwise, gathers, reductions, compiled kernels, the rest.
// What only changes the host or waits does not depend on the place, but reads are before waits.
constexpr const Rule* kRules[] = {
    &kRecomp1,  //
    &kOpt1,     //
    &kOpt2,     //
    &kHost3,    //
    &kGemm5,    //
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
    &kMem1,     //
    &kMem2,     //
    &kMem4,     //
    &kHost1,    //
};

}  // namespace

std::span<const Rule* const> all_rules() { return kRules; }

}  // namespace tracelens

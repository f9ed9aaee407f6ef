// verdict.hpp: a whole run in a sentence: what costs most, or why nothing is worth changing.
#pragma once

#include <string>
#include <tracelens/diagnose.hpp>

#include "diagnosis/kit/context.hpp"

namespace tracelens {

// Of a diagnosis that has its findings.
[[nodiscard]] std::string verdict_on(const DiagnosisContext& context, const Diagnosis& diagnosis);

}  // namespace tracelens

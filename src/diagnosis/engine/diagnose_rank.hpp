// diagnose_rank.hpp: the diagnosis of a trace that is one rank of a job.
#pragma once

#include <tracelens/diagnose.hpp>

#include "diagnosis/kit/job.hpp"

namespace tracelens {

// As diagnose(), with the rules that ask about other ranks. `job` null: there are none.
[[nodiscard]] Diagnosis diagnose_rank(const Trace& trace, const DiagnoseOptions& options,
                                      const JobFacts* job);

}  // namespace tracelens

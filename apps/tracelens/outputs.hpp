// outputs.hpp: what verbs that write have in common. A result never replaces what it is made from,
// nor another result of the same run.
//   refuse_overwriting({output_, gate_results_}, {before_, after_, models_});
#pragma once

#include <string>
#include <tracelens/collectives.hpp>
#include <vector>

#include "flags.hpp"

namespace tracelens::app {

// Throws Error when an output is one of the inputs or another output, whatever links and names lead
// to it. Call it before anything is read or written. Paths that were not given are empty; "-" is
// standard output or input. A folder that is read stands for the CSV files and profiles in it, one
// that is written for its CSV files. Pipes and devices are never the same.
//
// Captures are inputs as well. They cannot be standard input; and when they are a folder, an output
// in it that the next run would take for a capture is refused. So is a pipe that is to be read more
// than once, by whatever name: there is nothing left the second time.
void refuse_overwriting(const std::vector<std::string>& outputs, std::vector<std::string> inputs,
                        const std::vector<std::string>& captures = {});

// Throws Error unless a trace as Chrome JSON can have this name, which tells whether it is packed.
void check_trace_output(const std::string& output);

// --csv-raw, for verbs that write tables.
void add_csv_raw(Flags& flags, bool& csv_raw);

// The inputs of a run of many ranks.
[[nodiscard]] std::vector<std::string> paths_of(const std::vector<RankFile>& files);

}  // namespace tracelens::app

// tracelens.hpp: every public header of TraceLens; docs/sdk.md shows how they go together.
//   #include <tracelens/tracelens.hpp>
//   const tracelens::Trace trace = tracelens::read_trace("rank0.json.gz");
//   tracelens::write_report(tracelens::make_report(trace), "report.xlsx");
// Whatever cannot be done ends in an Error (error.hpp), whose text is a sentence for a person.
#pragma once

#include <tracelens/arrow.hpp>
#include <tracelens/check.hpp>
#include <tracelens/collective_rows.hpp>
#include <tracelens/collectives.hpp>
#include <tracelens/column.hpp>
#include <tracelens/compare.hpp>
#include <tracelens/convert.hpp>
#include <tracelens/critical_path.hpp>
#include <tracelens/diagnose.hpp>
#include <tracelens/edition.hpp>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/finding.hpp>
#include <tracelens/fuse.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/graph_stitching.hpp>
#include <tracelens/info.hpp>
#include <tracelens/intervals.hpp>
#include <tracelens/json.hpp>
#include <tracelens/machine.hpp>
#include <tracelens/mcp.hpp>
#include <tracelens/merged_traces.hpp>
#include <tracelens/model.hpp>
#include <tracelens/model_tables.hpp>
#include <tracelens/near_names.hpp>
#include <tracelens/node.hpp>
#include <tracelens/overview.hpp>
#include <tracelens/page.hpp>
#include <tracelens/printed_text.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/query.hpp>
#include <tracelens/rank_reader.hpp>
#include <tracelens/raw_events.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/reader.hpp>
#include <tracelens/redact.hpp>
#include <tracelens/replay.hpp>
#include <tracelens/report.hpp>
#include <tracelens/rocm.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/rows.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/split.hpp>
#include <tracelens/table.hpp>
#include <tracelens/table_text.hpp>
#include <tracelens/tables.hpp>
#include <tracelens/timeline.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/trace_builder.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/tree_text.hpp>
#include <tracelens/value.hpp>
#include <tracelens/version.hpp>

#include "readers/kit/dump.hpp"

#include <fmt/format.h>

#include <iterator>
#include <tracelens/error.hpp>

#include "trace/json_value.hpp"

namespace tracelens {
std::string dump(const Trace& trace) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const EventId event : trace.all_events()) {
    const std::uint32_t row = event.row;
    fmt::format_to(out, "{} {} '{}' '{}' [{} {}] {} {} {}", row,
                   static_cast<int>(trace.phase(event)), trace.category_text(event),
                   trace.name(event), canonical_text(trace.track(event).pid),
                   canonical_text(trace.track(event).tid), trace.ts_ns()[row], trace.dur_ns()[row],
                   trace.correlations()[row]);
    for (const auto* column : {&trace.external_ids(), &trace.sequence_numbers(),
                               &trace.forward_threads(), &trace.streams(), &trace.devices()})
      fmt::format_to(out, " {}", column->at(event).value_or(kAbsent));
    if (const auto change = trace.memory_changes().at(event))
      fmt::format_to(out, " memory {} {} {} {} {} {} {}", change->address, change->bytes,
                     change->allocated, change->reserved, change->order, change->device_type,
                     change->device);
    if (const auto stack = trace.call_stacks().at(event))
      fmt::format_to(out, " stack {}", trace.text(*stack));
    if (const auto json = trace.detail_texts().at(event))
      fmt::format_to(out, " details {} {}", trace.text(*json),
                     canonical_text(trace.details(event)));
    if (const SignatureId id = trace.signatures()[row]; id.valid()) {
      const Signature& signature = trace.signature(id);
      fmt::format_to(out, " signature {}", trace.text(signature.name));
      for (const Value* part :
           {&signature.dims, &signature.types, &signature.strides, &signature.concrete})
        fmt::format_to(out, " {}", canonical_text(*part));
    }
    text += '\n';
    for (const std::string_view what : {"thread_name", "process_name", "process_labels"})
      if (const auto label = trace.label(trace.track(event), what))
        fmt::format_to(out, "  {} {}\n", what, canonical_text(*label));
  }
  for (const MetadataEntry& entry : trace.metadata())
    fmt::format_to(out, "metadata {} {}\n", entry.key, canonical_text(entry.value));
  for (const auto& warning : trace.warnings().entries())
    fmt::format_to(out, "warning {} x{} at {}\n", warning.what, warning.count, warning.first_byte);
  fmt::format_to(out, "{} bytes, cut {}\n", trace.source().text_bytes, trace.source().cut_short);
  return text;
}

std::string dump_read(std::string_view bytes, const ReadOptions& options) {
  try {
    return dump(read_trace_bytes("input", bytes, options));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tracelens

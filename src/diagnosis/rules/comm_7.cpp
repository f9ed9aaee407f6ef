// COMM-7: a way to use several GPUs that newer ones have replaced. For information.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace comm_7 {

// A backend that moves tensors of GPUs through the host; empty: none such.
std::string slow_backend(const Trace& trace) {
  const Value* const job = trace.metadata("distributedInfo");
  if (job == nullptr) return {};
  const Value *const backend = job->find("backend"), *const size = job->find("world_size");
  if (backend == nullptr || !backend->is_text() || size == nullptr || !size->is_int() ||
      size->as_int() < 2 || backend->as_text().empty())
    return {};
  const std::string& name = backend->as_text();
  const bool is_fast = name.find("nccl") != name.npos || name.find("rccl") != name.npos ||
                       name.find("hccl") != name.npos || name.find("xccl") != name.npos ||
                       name.find("ucc") != name.npos || name.find("mpi") != name.npos;
  return is_fast ? std::string{} : name;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers&) {
  std::int64_t count = 0, ns = 0;
  for (const EventId event : c.trace.recorded_events()) {
    if (c.trace.category(event) != Category::kUserAnnotation ||
        !c.trace.name(event).starts_with("DataParallel.forward") ||
        c.trace.dur_ns()[event.row] == kAbsent)
      continue;
    ++count;
    ns += c.dur_ns(event);
  }
  const std::string backend = slow_backend(c.trace);
  if (count == 0 && backend.empty()) return std::nullopt;
  Draft draft;
  if (count > 0) {
    draft.verdict = draft.tell(
        "nn.DataParallel drives all GPUs from one process, {} in this trace: it copies the "
        "model in every step.",
        counted(derived("", "calls of DataParallel.forward", static_cast<double>(count), ""),
                "time", "times"));
    draft.where = {
        {.kind = "range", .name = "DataParallel.forward", .time_ns = ns, .count = count}};
    draft.tries = {"DistributedDataParallel, one process per GPU", "FSDP for large models"};
  } else {
    draft.verdict = fmt::format(
        "The process groups use the backend {}, which moves the tensors of GPUs through the host.",
        backend);
    draft.evidence.push_back(derived(
        "", "ranks of the job",
        static_cast<double>(c.trace.metadata("distributedInfo")->find("world_size")->as_int()),
        ""));
    draft.tries = {"init_process_group('nccl'), which is RCCL on AMD GPUs"};
  }
  draft.formula = "none: for information";
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace comm_7

extern const Rule kComm7;
constinit const Rule kComm7 = {.id = "COMM-7",
                               .title = "Obsolete way to use several GPUs",
                               .numbers = {},
                               .find = comm_7::find};

}  // namespace tracelens

#include "readers/xplane/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "io/ascii.hpp"
#include "readers/xplane/line_work.hpp"

namespace tracelens::xplane {
namespace {

// A graph of more kernels than this is aligned in parts.
constexpr std::size_t kMostWaiting = std::size_t{1} << 16;

std::optional<std::int64_t> size_in(std::string_view details) {
  const std::size_t at = details.find("size:");
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t size = 0;
  const char* const end = details.data() + details.size();
  const auto result = std::from_chars(details.data() + at + 5, end, size);
  return result.ec == std::errc{} ? std::optional{size} : std::nullopt;
}

// For events that bring no details of their kind.
Category category_by_name(std::string_view text) {
  const std::string name = io::lower_case(text);
  if (name.starts_with("memcpy") || name.starts_with("copy")) return Category::kGpuMemcpy;
  return name.starts_with("memset") ? Category::kGpuMemset : Category::kKernel;
}

}  // namespace

void DeviceReader::read() {
  for (const Line& line : plane_.lines()) {
    if (line.events == 0 || line.name == "Async XLA Ops" || line.name == "_counters_") continue;
    const Track track{Value{process_.pid}, Value{line.tid()}};
    track_ = builder_.intern(track);
    add_labels(process_.name, line, track, builder_);
    line.name.starts_with("Stream") ? read_stream(line) : read_other(line);
  }
  if (damaged_ > 0) builder_.warnings().add("damaged event", 0, damaged_);
}

StringId DeviceReader::name_of(std::int64_t metadata_id) {
  const auto [entry, is_new] = names_.try_emplace(metadata_id);
  if (is_new) entry->second = builder_.intern(plane_.kind(metadata_id).name);
  return entry->second;
}

// Lines that a profile viewer added: spans of modules, ops and scopes. The ops are found anew.
void DeviceReader::read_other(const Line& line) {
  LineEvents events{line, pages_};
  for (Event event; events.next(event);)
    if (const auto span = span_of(line, event))
      builder_.append({.phase = Phase::kComplete,
                       .category = Category::kGpuUserAnnotation,
                       .name = name_of(event.metadata_id),
                       .track = track_,
                       .signature = {},
                       .ts_ns = span->start_ns,
                       .dur_ns = span->dur_ns,
                       .correlation = kAbsent});
  damaged_ += events.damaged();
}

DeviceReader::Facts DeviceReader::facts_of(const Line& line, const Event& event) const {
  Facts facts{.metadata_id = event.metadata_id, .span = span_of(line, event)};
  const auto learn = [&](const Stat& stat) {
    switch (plane_.key(stat)) {
      case Key::kCorrelationId:
        facts.correlation = stat.integer().value_or(kAbsent);
        break;
      case Key::kKernelDetails:
        facts.category = Category::kKernel;
        break;
      case Key::kMemcpyDetails:
        facts.category = Category::kGpuMemcpy;
        facts.details = plane_.text(stat);
        break;
      case Key::kMemsetDetails:
        facts.category = Category::kGpuMemset;
        facts.details = plane_.text(stat);
        break;
      case Key::kHloOp:
        facts.hlo_op = plane_.text(stat);
        break;
      case Key::kHloModule:
        facts.module = plane_.text(stat);
        break;
      case Key::kProgramId:
        facts.program = stat.integer();
        break;
      default:
        break;
    }
  };
  std::ranges::for_each(plane_.kind(event.metadata_id).stats, learn);
  std::ranges::for_each(event.stats, learn);  // the event's own values win
  return facts;
}

DeviceReader::Kernel DeviceReader::kernel_of(const Facts& event) {
  Kernel kernel;
  kernel.hlo_op = event.hlo_op;
  kernel.details = event.details;
  kernel.row = {.phase = Phase::kComplete,
                .category = event.category,
                .name = name_of(event.metadata_id),
                .track = track_,
                .signature = {},
                .ts_ns = event.span->start_ns,
                .dur_ns = event.span->dur_ns,
                .correlation = event.correlation};
  if (event.category == Category::kNone)
    kernel.row.category = category_by_name(builder_.text(kernel.row.name));
  if (!event.hlo_op.empty() && !event.module.empty()) {
    kernel.program = &modules_.find(event.program, event.module);
    kernel.program->use();
  }
  return kernel;
}

void DeviceReader::read_stream(const Line& line) {
  damaged_ += for_each_event<Facts>(
      line, pages_, threads_,
      [&](const Event& event, Facts& facts) {
        facts = facts_of(line, event);
        return facts.span.has_value();
      },
      [&](const Facts& facts) { add(kernel_of(facts)); });
  flush();
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  close_op(kNever);
  close_run(kNever);
}

// The profiler sometimes loses the annotation of a kernel in the middle of a module's run. If all
// kernels of its name belong to one op, and that op is not behind us yet, it is that op's.
bool DeviceReader::adopt(const Kernel& kernel) {
  if (kernel.program != nullptr || program_ == nullptr || !waiting_.empty() ||
      kernel.row.category != Category::kKernel)
    return false;
  const HloOp* const op = program_->op_of_kernel(kernel.row.name);
  if (op == nullptr || op->position == hlo::kNone || op->position < position_) return false;
  Kernel adopted = kernel;
  adopted.program = program_;
  place(adopted, *op, op != op_);
  return true;
}

void DeviceReader::add(const Kernel& kernel) {
  if (adopt(kernel)) return;
  const HloOp* const op = kernel.program == nullptr ? nullptr : kernel.program->op(kernel.hlo_op);
  const bool waits = kernel.program != nullptr && op == nullptr;
  if (!waiting_.empty()) {
    const Kernel& first = waiting_.front();
    const bool is_same_graph = waits && kernel.program == first.program &&
                               kernel.hlo_op == first.hlo_op &&
                               kernel.row.correlation == first.row.correlation;
    // A copy that no module launched may run between the kernels of a graph: it waits with them.
    if (!is_same_graph && kernel.program != nullptr) flush();
  }
  if (waits || !waiting_.empty()) {
    waiting_.push_back(kernel);
    if (waiting_.size() >= kMostWaiting) flush();
  } else if (op != nullptr) {
    const bool is_again = op == op_ && op->is_in_loop && kernel.row.name == first_kernel_ &&
                          kernel.row.correlation != last_correlation_;
    kernel.program->saw(kernel.row.name, *op);
    place(kernel, *op, op != op_ || is_again);
  } else {
    append(kernel, {});
  }
}

void DeviceReader::flush() {
  if (waiting_.empty()) return;
  std::vector<std::string_view> names;
  for (const Kernel& kernel : waiting_)
    if (kernel.program != nullptr) names.push_back(builder_.text(kernel.row.name));
  const Kernel& first = waiting_.front();
  const std::vector<Program::Launch> launches = first.program->align(first.hlo_op, names);
  std::size_t next = 0;
  for (const Kernel& kernel : waiting_) {
    if (kernel.program == nullptr) {
      append(kernel, {});
      continue;
    }
    const Program::Launch& launch = launches[next++];
    place(kernel, *launch.op, launch.is_first || launch.op != op_);
  }
  waiting_.clear();
}

bool DeviceReader::starts_run(const Kernel& kernel, const HloOp& op, std::uint32_t run) const {
  if (kernel.program != program_) return true;
  if (run_ != 0) return run != 0 && run != run_;  // the host tells runs apart
  if (op.position != hlo::kNone && op.position < position_) return true;
  // The host says nothing and the order cannot: a module of one op that starts over.
  return kernel.program->is_single_op() && kernel.row.name == first_kernel_ &&
         kernel.row.correlation != last_correlation_;
}

// The kernels of a graph have one launch.
std::uint32_t DeviceReader::run_of(const Kernel& kernel) {
  if (kernel.program != told_.program || kernel.row.correlation != told_.correlation)
    told_ = {kernel.program, kernel.row.correlation,
             hints_.run_of(kernel.program->name(), kernel.row.correlation)};
  return told_.run;
}

void DeviceReader::place(const Kernel& kernel, const HloOp& op, bool starts_op) {
  const std::int64_t start = kernel.row.ts_ns;
  const std::uint32_t run = run_of(kernel);
  const bool is_new_run = starts_run(kernel, op, run);
  const auto open = [&](StringId name, SignatureId signature) {
    const EventId row = builder_.append({.phase = Phase::kComplete,
                                         .category = Category::kCpuOp,
                                         .name = name,
                                         .track = track_,
                                         .signature = signature,
                                         .ts_ns = start,
                                         .dur_ns = 0,
                                         .correlation = kAbsent});
    return OpenSpan{row, start, start};
  };
  if (is_new_run) {
    close_op(start);
    close_run(start);
    open_run_ = open(builder_.intern(kernel.program->name()), {});
    program_ = kernel.program;
    position_ = 0;
  }
  if (is_new_run || starts_op) {
    close_op(start);
    open_op_ = open(op.label, op.signature);
    op_ = &op;
    first_kernel_ = kernel.row.name;
  }
  if (is_new_run || run != 0) run_ = run;
  if (op.position != hlo::kNone) position_ = op.position;
  last_correlation_ = kernel.row.correlation;
  append(kernel, op.signature);
  const std::int64_t end = start + kernel.row.dur_ns;
  open_op_.end_ns = std::max(open_op_.end_ns, end);
  open_run_.end_ns = std::max(open_run_.end_ns, end);
}

void DeviceReader::append(const Kernel& kernel, SignatureId signature) {
  EventRow row = kernel.row;
  row.signature = signature;
  const EventId event = builder_.append(row);
  if (const auto size = size_in(kernel.details))
    builder_.set_details(event, builder_.intern(fmt::format("{{\"bytes\": {}}}", *size)));
}

void DeviceReader::close_op(std::int64_t next_ns) {
  if (open_op_.row.valid())
    builder_.set_dur_ns(open_op_.row, std::min(open_op_.end_ns, next_ns) - open_op_.start_ns);
  open_op_ = {};
  op_ = nullptr;
}

void DeviceReader::close_run(std::int64_t next_ns) {
  if (open_run_.row.valid())
    builder_.set_dur_ns(open_run_.row, std::min(open_run_.end_ns, next_ns) - open_run_.start_ns);
  open_run_ = {};
  program_ = nullptr;
}

}  // namespace tracelens::xplane

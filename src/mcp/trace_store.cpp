#include "mcp/trace_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <tracelens/error.hpp>
#include <tracelens/pseudo_ops.hpp>
#include <tracelens/tables.hpp>
#include <tracelens/trace_builder.hpp>
#include <utility>

#include "io/memory.hpp"
#include "io/stream.hpp"
#include "mcp/clean_text.hpp"
#include "mcp/tool_result.hpp"
#include "readers/database/database.hpp"

namespace tracelens::mcp {
namespace {

constexpr QueryLimits kQueryLimits{
    .seconds = 10, .memory_bytes = std::size_t{256} << 20, .select_only = true};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The options by which desks of one trace differ.
std::string key_of(const ReportOptions& options) {
  return fmt::format("{}/{}{}{}", options.gpu, options.recompute, options.include_unlinked,
                     options.link_by_correlation);
}

std::size_t bytes_of(const Table& table) {
  std::size_t bytes = 0;
  for (const Table::Column& column : table.columns()) {
    bytes += column.size() * 16;
    for (const std::string& text : column.texts()) bytes += text.capacity();
    bytes += column.nested().size() * 256;
  }
  return bytes;
}

}  // namespace

std::size_t approximate_bytes(const Trace& trace) {
  std::size_t bytes = trace.size() * 40;
  for (const auto* const column : {&trace.external_ids(), &trace.sequence_numbers(),
                                   &trace.forward_threads(), &trace.streams(), &trace.devices()})
    bytes += column->rows().size() * 12;
  bytes += (trace.call_stacks().rows().size() + trace.detail_texts().rows().size()) * 8;
  bytes += trace.memory_changes().rows().size() * sizeof(MemoryChange);
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    bytes += trace.text(StringId{id}).size() + sizeof(std::string_view);
  return bytes + trace.signature_table().size() * 1024;
}

std::string sentence_about(const std::exception& error, const OpenFile& file) {
  std::string text = error.what();
  replace_all(text, file.held_path(), file.shown());
  replace_all(text, file.path(), file.shown());
  return clean_sentence(text);
}

// --- TraceDesk ---

const Trace& TraceDesk::trace() const {
  if (trace_ == nullptr)
    throw ToolError{
        "this file is a finished report: only tables, table and query work on it; name the trace"};
  return *trace_;
}

QuerySession& TraceDesk::session() {
  if (!session_) {
    session_.emplace(kQueryLimits);
    if (trace_ == nullptr)
      session_->add_database(database_);
    else
      session_->add(trace_, options_);
    session_->provide(report_tables_);
  }
  return *session_;
}

const Table& TraceDesk::columns(const std::string& table) {
  const auto found = columns_.find(table);
  if (found != columns_.end()) return found->second;
  return columns_.emplace(table, session().columns(table)).first->second;
}

const Report& TraceDesk::report() {
  if (!report_) {
    report_ = make_report(trace(), options_);
    if (!report_->tables.empty()) first_table_ = report_->tables.front().name();
    for (Table& table : std::exchange(report_->tables, {}))
      if (made(table.name()) == nullptr)
        report_tables_.push_back(std::make_shared<const Table>(std::move(table)));
    if (session_) session_->provide(report_tables_);
  }
  return *report_;
}

const Tree& TraceDesk::tree() {
  if (!tree_)
    tree_ = build_tree(
        trace(), {.python_frames = true, .link_by_correlation = options_.link_by_correlation});
  return *tree_;
}

const TraceCheck& TraceDesk::check() {
  if (!check_) check_ = check_trace(trace(), tree());
  return *check_;
}

const Diagnosis& TraceDesk::diagnosis() {
  if (!diagnosis_) diagnosis_ = diagnose(trace(), {.gpu = {.name = options_.gpu, .file = {}}});
  return *diagnosis_;
}

std::optional<std::int64_t> TraceDesk::string_id(std::string_view text) {
  if (trace_ == nullptr) return std::nullopt;
  if (string_ids_.empty())
    for (std::uint32_t id = 0; id < trace_->string_count(); ++id)
      string_ids_.emplace(trace_->text(StringId{id}), id);
  const auto found = string_ids_.find(text);
  return found == string_ids_.end() ? std::nullopt : std::optional<std::int64_t>{found->second};
}

std::shared_ptr<const Table> TraceDesk::first_table() {
  (void)report();
  return made(first_table_);
}

std::shared_ptr<const Table> TraceDesk::made(std::string_view name) const {
  const auto found = std::ranges::find(
      report_tables_, name, [](const auto& table) { return std::string_view{table->name()}; });
  return found == report_tables_.end() ? nullptr : *found;
}

std::shared_ptr<const Table> TraceDesk::table(const std::string& name) {
  if (auto found = made(name)) return found;
  if (trace_ == nullptr) return nullptr;
  auto made = make_table(*trace_, name, options_);
  if (!made) return nullptr;
  report_tables_.push_back(std::make_shared<const Table>(*std::move(made)));
  if (session_) session_->provide({&report_tables_.back(), 1});
  return report_tables_.back();
}

std::size_t TraceDesk::bytes() const {
  std::size_t bytes = 0;
  for (const auto& table : report_tables_) bytes += bytes_of(*table);
  const std::size_t events = trace_ == nullptr ? 0 : trace_->size();
  if (tree_) bytes += events * 40;
  if (session_) bytes += events * 64;
  return bytes + string_ids_.size() * 48;
}

// --- TraceStore ---

struct TraceStore::Slot {
  std::string identity;
  TimedMutex mutex;  // guards what follows but `bytes`
  std::shared_ptr<const Trace> trace;
  std::string database;
  std::map<std::string, std::unique_ptr<TraceDesk>> desks;
  std::size_t bytes = 0;  // guarded by the store
};

TraceStore::Lease::~Lease() {
  if (slot_ == nullptr) return;
  std::size_t bytes = slot_->trace == nullptr ? 0 : approximate_bytes(*slot_->trace);
  for (const auto& [key, desk] : slot_->desks) bytes += desk->bytes();
  lock_.unlock();
  const Slot* const used = slot_.get();
  slot_.reset();
  store_->trim(used, bytes);
}

void TraceStore::trim(const Slot* used, std::size_t bytes) {
  std::list<std::shared_ptr<Slot>> dropped;
  {
    const std::lock_guard lock{mutex_};
    std::size_t sum = 0;
    for (const auto& slot : slots_) {
      if (slot.get() == used) slot->bytes = bytes;
      sum += slot->bytes;
    }
    for (auto at = slots_.end(); at != slots_.begin() && sum > limits_.bytes;) {
      --at;
      if (at->use_count() > 1) continue;  // a call works with it
      sum -= (*at)->bytes;
      dropped.push_back(std::move(*at));
      at = slots_.erase(at);
    }
    // What could not be read is not worth a place.
    slots_.remove_if([](const std::shared_ptr<Slot>& slot) {
      return slot.use_count() == 1 && slot->trace == nullptr && slot->database.empty();
    });
  }
  if (dropped.empty()) return;
  dropped.clear();
  io::return_freed_memory();
}

Trace TraceStore::read_path(const std::string& path, const CallControl& control,
                            ReadOptions options) const {
  std::error_code error;
  // Such a list names other files, wherever they are.
  if (!std::filesystem::is_directory(path, error) &&
      is_database_list(io::Stream::open(path).peek(4096)))
    throw ToolError{"a list of databases is not read here: name the folder they are in"};
  options.on_progress = [&, tell = std::move(options.on_progress)](const ReadProgress& progress) {
    control.check();
    if (progress.text_bytes > limits_.text_bytes)
      throw ToolError{
          fmt::format("more than {} GB of text: start the server with a higher "
                      "--limit-text-gb, or cut the trace with tracelens split",
                      limits_.text_bytes >> 30)};
    if (tell) tell(progress);
  };
  Trace trace = read_trace(path, options);
  control.check();
  return trace;
}

Trace TraceStore::read(const OpenFile& file, CallControl& control) const {
  control.progress(0.001, "reading");
  ReadOptions options;
  options.on_progress = [&](const ReadProgress& progress) {
    control.progress(progress.fraction, fmt::format("reading: {:.0f} %", 100 * progress.fraction));
  };
  Trace trace = [&] {
    try {
      return read_path(file.held_path(), control, std::move(options));
    } catch (const Error& error) {
      throw ToolError{sentence_about(error, file)};
    }
  }();
  TraceBuilder named{std::move(trace)};
  named.source().name = file.shown();
  return std::move(named).finish();
}

TraceStore::Lease TraceStore::open(const OpenFile& file, const ReportOptions& options,
                                   CallControl& control) {
  try {
    check_options(options);
  } catch (const Error& error) {
    throw ToolError{fmt::format("options: {}", clean_sentence(error.what()))};
  }
  const std::string identity =
      file.identity() + (options.edition == Edition::kReference ? "\nreference" : "");
  std::shared_ptr<Slot> slot;
  {
    const std::lock_guard lock{mutex_};
    const auto found = std::ranges::find(slots_, identity, &Slot::identity);
    if (found == slots_.end()) {
      slots_.push_front(std::make_shared<Slot>());
      slots_.front()->identity = identity;
    } else {
      slots_.splice(slots_.begin(), slots_, found);
    }
    slot = slots_.front();
  }
  // Two calls for one file wait for one read.
  std::unique_lock lock{slot->mutex, std::defer_lock};
  while (!lock.try_lock_for(std::chrono::milliseconds{20})) control.check();
  if (slot->trace == nullptr && slot->database.empty()) {
    try {
      if (!file.is_folder() && is_database(file.held_path())) {
        slot->database = file.path();
      } else {
        Trace trace = read(file, control);
        if (options.edition == Edition::kExtended) trace = add_pseudo_ops(std::move(trace));
        slot->trace = std::make_shared<const Trace>(std::move(trace));
      }
    } catch (...) {
      lock.unlock();
      slot.reset();
      trim(nullptr, 0);
      io::return_freed_memory();
      throw;
    }
  }
  std::unique_ptr<TraceDesk>& desk = slot->desks[key_of(options)];
  if (desk == nullptr)
    desk = slot->trace == nullptr ? std::make_unique<TraceDesk>(slot->database)
                                  : std::make_unique<TraceDesk>(slot->trace, options);
  TraceDesk& found = *desk;
  return Lease{*this, std::move(slot), std::move(lock), found};
}

}  // namespace tracelens::mcp

#include "readers/database/rocpd_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tracelens/json.hpp>

#include "readers/database/environment.hpp"
#include "readers/database/lz4_text.hpp"
#include "readers/database/table_rows.hpp"
#include "trace/value_member.hpp"

namespace tracelens {

std::string RocpdAgent::label() const {
  return index == kAbsent ? std::string{} : fmt::format("{} {}", type, index);
}

RocpdTables::RocpdTables(const DatabaseFile& file, std::string suffix, const std::string& recording,
                         Job& job)
    : file_{file}, suffix_{std::move(suffix)}, job_{job}, space_{job.new_space()} {
  read_versions();
  std::unordered_set<std::int64_t> texts_of_markers;
  for_each_row(job_, {file_, name("string"), {"id", "string"}}, [&](const Statement& row) {
    strings_.set(row.integer(0), job_.intern(row.text(1)));
    if (row.text(1).starts_with("MARKER_")) texts_of_markers.insert(row.integer(0));
  });
  for_each_row(job_, {file_, name("info_category"), {"id", "name"}}, [this](const Statement& row) {
    categories_.set(row.integer(0), job_.intern(row.text(1)));
    if (row.text(1).starts_with("MARKER_")) markers_.insert(row.integer(0));
  });
  // Where categories have a table of their own, numbers of texts may be numbers of it.
  for (const std::int64_t id : texts_of_markers)
    if (categories_.find(id) == nullptr) markers_.insert(id);
  for_each_row(job_, {file_, name("track"), {"id", "tid", "agent_id", "queue_id", "stream_id"}},
               [this](const Statement& row) {
                 tracks_.set(row.integer(0),
                             {row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
               });
  if (file_.has(name("timestamp")))
    for_each_row(job_, {file_, name("timestamp"), {"id", "value"}},
                 [this](const Statement& row) { times_.set(row.integer(0), row.integer(1)); });
  read_process(recording);
  read_agents();
  read_symbols();
  read_counters();
}

std::string RocpdTables::name(std::string_view table) const {
  return fmt::format("rocpd_{}{}", table, suffix_);
}

void RocpdTables::read_versions() {
  for_each_row(job_, {file_, name("metadata"), {"tag", "value"}}, [this](const Statement& row) {
    const std::string_view tag = row.text(0), value = row.text(1);
    if (tag == "guid") guid_ = value;
    // The columns decide what is read; a version that nobody has seen is worth a word.
    const std::string_view major = value.substr(0, value.find('.'));
    if (tag == "schema_version" && major != "3" && major != "4")
      job_.warn("the schema has a version that is not known: what its columns tell was read");
  });
}

Value RocpdTables::more_of(const Statement& row, int cell) {
  const std::string_view stored = row.text(cell);
  if (stored.empty()) return {};
  const std::optional<std::string> text = unpacked_text(stored);
  if (!text) job_.warn("packed facts of a row could not be unpacked");
  return text ? parse_json_value(*text).value_or(Value{}) : Value{};
}

// Several nodes and processes may be described, of which a parent has no events.
RocpdTables::EventOwner RocpdTables::owner_of_events() const {
  for (const char* const list : {"kernel_dispatch", "region", "memory_copy", "track"}) {
    if (!has(list, "pid")) continue;
    Statement first =
        TableColumns{file_, name(list), {"nid", "pid"}}.select(file_.connect(), " LIMIT 1");
    if (first.step() && first.integer(1) != kAbsent) return {first.integer(0), first.integer(1)};
  }
  return {};
}

void RocpdTables::read_process(const std::string& recording) {
  const EventOwner owner = owner_of_events();
  // The row that events name by its id, or by what it is the row of; else the first.
  int closest = 0;
  const auto is_closer = [&closest](std::int64_t wanted, std::int64_t id, std::int64_t own) {
    const int close = wanted == kAbsent ? 1 : id == wanted ? 3 : own == wanted ? 2 : 1;
    return close > closest && (closest = close) != 0;
  };
  std::int64_t pid = kAbsent, node = owner.node;
  JobPlace place;
  std::string command;
  std::vector<std::string_view> columns{"id", "pid", "environment", "nid"};
  if (job_.options().command_lines) columns.emplace_back("command");
  for_each_row(job_, {file_, name("info_process"), columns}, [&](const Statement& row) {
    if (!is_closer(owner.process, row.integer(0), row.integer(1))) return;
    pid = row.integer(1);
    place = place_in_job(unpacked_text(row.text(2)).value_or(std::string{}));
    if (owner.node == kAbsent) node = row.integer(3);
    if (columns.size() > 4) command = row.text(4);
  });
  if (pid == kAbsent) pid = owner.process;
  std::string machine;
  closest = 0;
  for_each_row(job_, {file_, name("info_node"), {"id", "hostname", "machine_id"}},
               [&](const Statement& row) {
                 if (!is_closer(node, row.integer(0), kAbsent)) return;
                 host_ = row.text(1);
                 machine = row.text(2);
               });
  machine_ = machine + "/" + host_;
  process_ = job_.process(machine.empty() ? host_ : machine, pid, host_, recording);
  job_.count_for(process_);
  if (place.rank != kAbsent) job_.set_rank(process_, place.rank, place.world_size);
  if (!command.empty()) job_.set_command(process_, command);
  for_each_row(job_, {file_, name("info_thread"), {"id", "tid", "name"}},
               [this](const Statement& row) {
                 threads_.set(row.integer(0), row.integer(1));
                 job_.name_thread(process_, row.integer(1), row.text(2));
               });
}

void RocpdTables::read_agents() {
  const TableColumns columns{
      file_,
      name("info_agent"),
      {"id", "type", "absolute_index", "product_name", "model_name", "name", "extdata"}};
  for_each_row(job_, columns, [this](const Statement& row) {
    RocpdAgent agent{std::string{row.text(1)}, row.integer(2)};
    if (agent.type == "GPU") {
      agent.gpu = job_.gpu(machine_, agent.index, host_);
      std::string_view product = row.text(3);
      if (product.empty()) product = row.text(4);
      std::vector<std::pair<std::string, Value>> facts{
          {"name", std::string{product.empty() ? row.text(5) : product}},
          {"arch", std::string{row.text(5)}}};
      const Value more = more_of(row, 6);
      for (const auto& [key, from] : {std::pair{"numSms", "cu_count"},
                                      {"warpSize", "wave_front_size"},
                                      {"clockRateMHz", "max_engine_clk_fcompute"},
                                      {"sharedMemPerBlockKB", "lds_size_in_kb"},
                                      {"numXccs", "num_xcc"},
                                      {"numSimds", "simd_count"}})
        if (const Value& value = member(more, from); value.is_number())
          facts.emplace_back(key, value);
      job_.describe_gpu(agent.gpu, std::move(facts));
    }
    agents_by_index_.try_emplace(agent.index, agent);
    agents_.set(row.integer(0), std::move(agent));
  });
}

void RocpdTables::read_symbols() {
  const TableColumns columns{file_,
                             name("info_kernel_symbol"),
                             {"id", "display_name", "kernel_name", "arch_vgpr_count",
                              "accum_vgpr_count", "sgpr_count", "extdata"}};
  for_each_row(job_, columns, [this](const Statement& row) {
    Symbol symbol;
    for (const int column : {1, 2})
      if (!symbol.name.valid() && !row.text(column).empty())
        symbol.name = job_.intern(row.text(column));
    if (!symbol.name.valid())
      symbol.name = job_.intern(fmt::format("unknown_kernel_{}", row.integer(0)));
    symbol.registers = number_member("registers per thread", row.integer(3)) +
                       number_member("accum vgpr", row.integer(4)) +
                       number_member("sgpr", row.integer(5));
    const Value more = more_of(row, 6);
    if (const Value& brief = member(more, "truncated_kernel_name");
        brief.is_text() && brief.as_text() != job_.builder().text(symbol.name))
      symbol.registers += text_member("truncated_kernel_name", brief.as_text());
    symbols_[row.integer(0)] = std::move(symbol);
  });
}

// Those of a dispatch are added up: there is a row for each unit of the GPU. Those of a sample are a
// series over time.
void RocpdTables::read_counters() {
  for_each_row(
      job_, {file_, name("info_pmc"), {"id", "name", "agent_id"}}, [&](const Statement& row) {
        counter_names_[row.integer(0)] = {std::string{row.text(1)}, agent(row.integer(2)).gpu};
      });
  for_each_row(job_, {file_, name("pmc_event"), {"event_id", "pmc_id", "value", "sample_id"}},
               [&](const Statement& row) {
                 const bool is_streamed = !row.is_null(3);
                 if (is_streamed) job_.count_samples(1);
                 const auto counter = counter_names_.find(row.integer(1));
                 const double value = row.real(2);
                 if (is_streamed) {
                   Counted& at = streamed_[row.integer(3)];
                   if (counter != counter_names_.end() && std::isfinite(value))
                     at.emplace_back(&counter->second, value);
                   return;
                 }
                 if (counter == counter_names_.end())
                   job_.warn("values of a counter that is not described were left out");
                 if (counter == counter_names_.end() || !std::isfinite(value)) return;
                 Counted& counted = counters_[row.integer(0)];
                 const auto found = std::ranges::find_if(counted, [&](const auto& known) {
                   return known.first->name == counter->second.name;
                 });
                 if (found == counted.end())
                   counted.emplace_back(&counter->second, value);
                 else
                   found->second += value;
               });
}

StringId RocpdTables::text(std::int64_t id) {
  const StringId* const found = strings_.find(id);
  return found != nullptr ? *found : job_.intern(fmt::format("string_{}", id == kAbsent ? 0 : id));
}

StringId RocpdTables::category(std::int64_t id) {
  if (!categories_.empty())
    if (const StringId* const found = categories_.find(id)) return *found;
  return id == kAbsent ? job_.intern("") : text(id);  // of a call without an event
}

TrackId RocpdTables::thread(std::int64_t id) {
  const std::int64_t* const tid = threads_.find(id);
  return job_.thread(process_, tid == nullptr ? id : *tid);
}

const RocpdAgent& RocpdTables::agent(std::int64_t id) const {
  static const RocpdAgent kUnknown;
  if (const RocpdAgent* const found = agents_.find(id)) return *found;
  const auto by_index = id == kAbsent ? agents_by_index_.end() : agents_by_index_.find(id);
  return by_index == agents_by_index_.end() ? kUnknown : by_index->second;
}

std::int64_t RocpdTables::device_of_copy(const RocpdAgent& from, const RocpdAgent& to) {
  if (to.gpu != kAbsent) return to.gpu;
  if (from.gpu != kAbsent || from.index == kAbsent) return from.gpu;
  const std::int64_t host = job_.gpu(machine_, from.index, host_);
  job_.describe_gpu(host, {{"name", from.label()}});
  return host;
}

std::int64_t RocpdTables::time(std::int64_t id) const {
  const std::int64_t* const found = times_.find(id);
  return found == nullptr ? kAbsent : *found;
}

const RocpdTables::Symbol& RocpdTables::symbol(std::int64_t id) {
  const auto [entry, is_new] = symbols_.try_emplace(id);
  if (is_new)
    entry->second.name = job_.intern(fmt::format("unknown_kernel_{}", id == kAbsent ? 0 : id));
  return entry->second;
}

const RocpdTables::Counted* RocpdTables::counters(std::int64_t event) const {
  const auto found =
      counters_.empty() || event == kAbsent ? counters_.end() : counters_.find(event);
  return found == counters_.end() ? nullptr : &found->second;
}

const RocpdTables::Counted* RocpdTables::streamed(std::int64_t sample) const {
  const auto found = streamed_.find(sample);
  return found == streamed_.end() ? nullptr : &found->second;
}

}  // namespace tracelens

#include "readers/database/rocpd_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tracelens/json.hpp>

#include "readers/database/table_rows.hpp"
#include "trace/value_member.hpp"

namespace tracelens {

std::string RocpdAgent::label() const {
  return index == kAbsent ? std::string{} : fmt::format("{} {}", type, index);
}

RocpdTables::RocpdTables(const DatabaseFile& file, std::string suffix, Job& job)
    : file_{file}, suffix_{std::move(suffix)}, job_{job}, space_{job.new_space()} {
  for_each_row(job_, {file_, name("metadata"), {"tag", "value"}}, [this](const Statement& row) {
    if (row.text(0) == "guid") guid_ = row.text(1);
  });
  for_each_row(job_, {file_, name("string"), {"id", "string"}}, [this](const Statement& row) {
    strings_.set(row.integer(0), job_.intern(row.text(1)));
  });
  for_each_row(job_, {file_, name("info_category"), {"id", "name"}}, [this](const Statement& row) {
    categories_.set(row.integer(0), job_.intern(row.text(1)));
  });
  for_each_row(job_, {file_, name("track"), {"id", "tid", "agent_id", "queue_id", "stream_id"}},
               [this](const Statement& row) {
                 tracks_.set(row.integer(0),
                             {row.integer(1), row.integer(2), row.integer(3), row.integer(4)});
               });
  if (file_.has(name("timestamp")))
    for_each_row(job_, {file_, name("timestamp"), {"id", "value"}},
                 [this](const Statement& row) { times_.set(row.integer(0), row.integer(1)); });
  read_process();
  read_agents();
  read_symbols();
  read_counters();
}

std::string RocpdTables::name(std::string_view table) const {
  return fmt::format("rocpd_{}{}", table, suffix_);
}

void RocpdTables::read_process() {
  std::string machine;
  for_each_row(job_, {file_, name("info_node"), {"hostname", "machine_id"}},
               [&](const Statement& row) {
                 if (!machine.empty() || !host_.empty()) return;
                 host_ = row.text(0);
                 machine = row.text(1);
               });
  std::int64_t pid = kAbsent;
  for_each_row(job_, {file_, name("info_process"), {"pid"}}, [&](const Statement& row) {
    if (pid == kAbsent) pid = row.integer(0);
  });
  machine_ = machine.empty() ? host_ : machine;
  process_ = job_.process(machine_, pid, host_);
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
      const Value more = parse_json_value(row.text(6)).value_or(Value{});
      for (const auto& [key, from] : {std::pair{"numSms", "cu_count"},
                                      {"warpSize", "wave_front_size"},
                                      {"clockRateMHz", "max_engine_clk_fcompute"}})
        if (const Value& value = member(more, from); value.is_number())
          facts.emplace_back(key, value);
      job_.describe_gpu(agent.gpu, std::move(facts));
    }
    agents_.set(row.integer(0), std::move(agent));
  });
}

void RocpdTables::read_symbols() {
  const TableColumns columns{
      file_,
      name("info_kernel_symbol"),
      {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count", "sgpr_count"}};
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
    symbols_[row.integer(0)] = std::move(symbol);
  });
}

// Those of a dispatch are added up: there is a row for each unit of the GPU. Those of a sample are a
// series over time, which no table of ours shows.
void RocpdTables::read_counters() {
  ById<std::string> names;
  for_each_row(job_, {file_, name("info_pmc"), {"id", "name"}},
               [&](const Statement& row) { names.set(row.integer(0), std::string{row.text(1)}); });
  for_each_row(job_, {file_, name("pmc_event"), {"event_id", "pmc_id", "value", "sample_id"}},
               [&](const Statement& row) {
                 if (!row.is_null(3)) {
                   job_.count_samples(1);
                   streamed_.insert(row.integer(3));
                   return;
                 }
                 const std::string* const counter = names.find(row.integer(1));
                 const double value = row.real(2);
                 if (counter == nullptr || !std::isfinite(value)) return;
                 Counted& counted = counters_[row.integer(0)];
                 const auto found =
                     std::ranges::find(counted, *counter, &std::pair<std::string, double>::first);
                 if (found == counted.end())
                   counted.emplace_back(*counter, value);
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
  return text(id);
}

TrackId RocpdTables::thread(std::int64_t id) {
  const std::int64_t* const tid = threads_.find(id);
  return job_.thread(process_, tid == nullptr ? id : *tid);
}

const RocpdAgent& RocpdTables::agent(std::int64_t id) const {
  static const RocpdAgent kUnknown;
  const RocpdAgent* const found = agents_.find(id);
  return found == nullptr ? kUnknown : *found;
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

}  // namespace tracelens

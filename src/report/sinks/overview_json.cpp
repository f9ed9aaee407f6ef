#include "report/sinks/overview_json.hpp"

#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "table/json_writer.hpp"

namespace tracelens {
namespace {

void write_causes(JsonWriter& json, const Overview& overview) {
  json.key("causes");
  json.open('[');
  for (const Overview::Cause& cause : overview.causes) {
    json.line();
    json.open('{');
    json.member("id", cause.id);
    json.member("title", cause.title);
    json.member("saving_ns", cause.saving_ns);
    json.key("percent"), json.number(cause.percent);
    json.member("try", cause.remedy);
    json.close('}');
  }
  json.close(']');
}

template <class Item>
void write_items(JsonWriter& json, std::string_view name, const std::vector<Item>& items) {
  json.key(name);
  json.open('[');
  for (const Item& item : items) {
    json.line();
    json.open('{');
    json.member("name", item.name);
    json.member("ns", item.ns);
    json.key("percent"), json.number(item.percent);
    if constexpr (std::is_same_v<Item, Overview::Cost>) {
      json.key("roof_percent");
      json.number(item.roof_percent.value_or(std::numeric_limits<double>::quiet_NaN()));
      json.member("costliest", item.costliest);
    }
    json.close('}');
  }
  json.close(']');
}

}  // namespace

std::string overview_json(const Overview& overview) {
  JsonWriter json;
  json.open('{');
  json.member("run", overview.run);
  json.member("bound", overview.bound);
  json.member("verdict", overview.verdict);
  json.member("nothing_found", overview.nothing_found);
  json.member("causes_title", overview.causes_title);
  json.member("causes_per_step", overview.causes_per_step);
  write_causes(json, overview);
  write_items(json, "split", overview.split);
  write_items(json, "idle_causes", overview.idle_causes);
  json.member("costs_title", overview.costs_title);
  json.member("costliest_title", overview.costliest_title);
  write_items(json, "costs", overview.costs);
  json.texts("advice", overview.advice);
  json.texts("commands", overview.commands);
  json.close('}');
  return json.take();
}

}  // namespace tracelens

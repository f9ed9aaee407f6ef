#include "report/page/manifest.hpp"

#include <fmt/format.h>

#include "report/page/findings_json.hpp"
#include "table/json_writer.hpp"

namespace tracelens {
namespace {

std::string_view name_of(PageLaneKind kind) {
  switch (kind) {
    case PageLaneKind::kSteps:
      return "steps";
    case PageLaneKind::kGpu:
      return "gpu";
    case PageLaneKind::kModules:
      return "modules";
    case PageLaneKind::kOps:
      return "ops";
    case PageLaneKind::kCalls:
      return "calls";
  }
  return {};
}

template <class Items, class Write>
void list(JsonWriter& json, std::string_view name, const Items& items, const Write& write) {
  json.key(name);
  json.open('[');
  for (const auto& item : items) write(item);
  json.close(']');
}

template <class Items, class Write>
void objects(JsonWriter& json, std::string_view name, const Items& items, const Write& write) {
  list(json, name, items, [&](const auto& item) {
    json.open('{');
    write(item);
    json.close('}');
  });
}

void write_tables(JsonWriter& json, const PageContent& content, const PageParts& parts) {
  objects(json, "tables", parts.tables, [&](const PageTable& part) {
    const Table& table = *part.table;
    json.member("name", table.name());
    json.member("description", table.description());
    json.member("rows", static_cast<std::int64_t>(table.rows()));
    json.member("kept", static_cast<std::int64_t>(part.kept_rows));
    json.member("blob", static_cast<std::int64_t>(part.blob));
    list(json, "first", table.columns(), [&](const Table::Column& column) {
      if (content.is_folded == nullptr || !content.is_folded(table, column.spec().name))
        json.text(column.spec().name);
    });
  });
}

void write_lanes(JsonWriter& json, const Page& page, const PageParts& parts) {
  auto blob = parts.lane_blobs.begin();
  objects(json, "lanes", page.lanes, [&](const PageLane& lane) {
    json.member("id", lane.id);
    json.member("kind", name_of(lane.kind));
    json.member("title", lane.title);
    json.member("group", lane.group);
    json.member("rows", std::int64_t{lane.rows});
    json.member("events", lane.events);
    json.member("busy_ns", lane.busy_ns);
    json.member("longest_gap_ns", lane.longest_gap_ns);
    json.member("merged_below_ns", lane.merged_below_ns);
    json.member("gap_ns", lane.gap_ns);
    json.member("slices", static_cast<std::int64_t>(lane.slices.size()));
    json.member("runs", static_cast<std::int64_t>(lane.runs.size()));
    json.member("blob", static_cast<std::int64_t>(*blob++));
  });
}

void write_strips(JsonWriter& json, const Page& page) {
  objects(json, "strips", page.strips, [&](const PageStrip& strip) {
    json.member("label", strip.label);
    for (const auto& [name, percents] : {std::pair{"computing", &strip.computing},
                                         {"communicating", &strip.communicating},
                                         {"copying", &strip.copying}})
      list(json, name, *percents, [&](std::uint8_t percent) { json.integer(percent); });
  });
}

void write_roofline(JsonWriter& json, const PageRoofline& roofline) {
  json.open('{');
  json.member("gpu", roofline.gpu);
  json.key("terabytes"), json.number(roofline.terabytes);
  json.key("least_intensity"), json.number(roofline.least_intensity);
  json.key("most_intensity"), json.number(roofline.most_intensity);
  json.key("least_tflops"), json.number(roofline.least_tflops);
  json.key("most_tflops"), json.number(roofline.most_tflops);
  json.key("placed_percent"), json.number(roofline.placed_percent);
  objects(json, "roofs", roofline.roofs, [&](const PageRoof& roof) {
    json.member("label", roof.label);
    json.key("tflops"), json.number(roof.tflops);
    json.key("achievable"), json.truth(roof.is_achievable);
  });
  json.close('}');
}

void write_page(JsonWriter& json, const Page& page, const PageParts& parts) {
  json.member("origin_ns", std::to_string(page.origin_ns));
  json.member("span_ns", page.span_ns);
  json.texts("groups", page.groups);
  json.key("findings"), write_findings(json, page.findings, page.finding_steps);
  write_strips(json, page);
  objects(json, "classes", page.classes, [&](const PageClass& kind) {
    json.member("name", kind.name);
    json.member("colour", kind.colour);
    json.key("hatched"), json.truth(kind.is_hatched);
  });
  objects(json, "gaps", page.gaps, [&](const PageGap& gap) {
    json.member("view", gap.view);
    json.member("why", gap.why);
  });
  write_lanes(json, page, parts);
  objects(json, "histograms", page.histograms, [&](const PageHistogram& histogram) {
    json.member("name", histogram.name);
    list(json, "bins", histogram.bins, [&](const PageBin& bin) {
      json.raw(fmt::format("[{},{},{},{}]", bin.from_ns, bin.to_ns, bin.count, bin.total_ns));
    });
  });
  json.key("roofline");
  if (page.roofline)
    write_roofline(json, *page.roofline);
  else
    json.raw("null");
}

}  // namespace

std::string page_manifest(const PageContent& content, const PageParts& parts) {
  static const Page kNoPage;
  JsonWriter json;
  json.open('{');
  json.member("schema", "tracelens.page/1");
  json.member("verb", content.verb);
  json.member("title", content.title);
  json.member("subtitle", content.subtitle);
  json.member("version", content.version);
  json.texts("source", content.source);
  json.key("overview"), json.raw(content.overview_json);
  write_page(json, content.page != nullptr ? *content.page : kNoPage, parts);
  json.texts("left_out", parts.left_out);
  write_tables(json, content, parts);
  json.member("ops_blob", std::int64_t{parts.ops_blob});
  json.member("nodes_blob", std::int64_t{parts.nodes_blob});
  objects(json, "blobs", parts.raw_bytes,
          [&](std::size_t bytes) { json.member("raw_bytes", static_cast<std::int64_t>(bytes)); });
  json.close('}');
  return safe_in_script(json.take());
}

std::string safe_in_script(std::string_view json) {
  std::string out;
  out.reserve(json.size() + json.size() / 16);
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (json.substr(at, 3) == "\u2028" || json.substr(at, 3) == "\u2029") {
      out += json[at + 2] == "\u2028"[2] ? "\\u2028" : "\\u2029";
      at += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace tracelens

// repeat_xplane: makes a large JAX profile out of a small one, for measuring on.
//   repeat_xplane jax_transformer_xla.xplane.pb.gz big.xplane.pb --min-bytes 1G
// Every line gets its events again and again, each time later by the length of the whole profile
// and with correlation ids of their own; names, modules and all else stay as they are. Prints what
// it made as JSON: {"copies": 9000, "bytes": 1000000000, "events": 8000000}.
#include <fmt/format.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "xplane.pb.h"

namespace {

using tracelens::xplane_proto::Event;
using tracelens::xplane_proto::Line;
using tracelens::xplane_proto::Plane;
using tracelens::xplane_proto::Space;

std::string read_packed(const std::string& path) {  // plain files come out as they are
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error{path + ": cannot be opened"};
  std::string bytes;
  std::vector<char> block(1 << 20);
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;)
    bytes.append(block.data(), static_cast<std::size_t>(got));
  gzclose(file);
  return bytes;
}

struct Extent {
  std::int64_t start_ps = INT64_MAX, end_ps = 0;
  std::uint64_t correlations = 0;  // the highest id
};

std::set<std::int64_t> correlation_ids(const Plane& plane) {
  std::set<std::int64_t> ids;
  for (const auto& [id, name] : plane.stat_metadata())
    if (name.name() == "correlation_id") ids.insert(id);
  return ids;
}

Extent extent_of(const Space& space) {
  Extent extent;
  for (const Plane& plane : space.planes()) {
    const std::set<std::int64_t> ids = correlation_ids(plane);
    for (const Line& line : plane.lines())
      for (const Event& event : line.events()) {
        const std::int64_t start = line.timestamp_ns() * 1000 + event.offset_ps();
        extent.start_ps = std::min(extent.start_ps, start);
        extent.end_ps = std::max(extent.end_ps, start + event.duration_ps());
        for (const auto& stat : event.stats())
          if (ids.contains(stat.metadata_id()))
            extent.correlations = std::max(extent.correlations, stat.uint64_value());
      }
  }
  return extent;
}

void write_varint(std::ostream& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.put(static_cast<char>(value | 0x80));
  out.put(static_cast<char>(value));
}
void write_field(std::ostream& out, int number, std::uint64_t size) {
  write_varint(out, static_cast<std::uint64_t>(number) << 3 | 2);
  write_varint(out, size);
}
std::uint64_t varint_size(std::uint64_t value) {
  std::uint64_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}
std::uint64_t field_size(std::uint64_t size) { return 1 + varint_size(size) + size; }

// The events of a line in one copy, serialized as fields of the line.
std::string events_of(const Line& line, const Extent& extent, std::uint64_t copy,
                      const std::set<std::int64_t>& correlations) {
  std::string bytes;
  for (Event event : line.events()) {
    event.set_offset_ps(event.offset_ps() +
                        static_cast<std::int64_t>(copy) * (extent.end_ps - extent.start_ps));
    for (auto& stat : *event.mutable_stats())
      if (correlations.contains(stat.metadata_id()))
        stat.set_uint64_value(stat.uint64_value() + copy * extent.correlations);
    const std::string one = event.SerializeAsString();
    bytes += '\x22';  // field 4
    for (std::uint64_t size = one.size();; size >>= 7) {
      bytes += static_cast<char>(size >= 0x80 ? size | 0x80 : size);
      if (size < 0x80) break;
    }
    bytes += one;
  }
  return bytes;
}

// A line is written piece by piece, so its size is added up first; nothing large is ever held.
class Repeater {
 public:
  Repeater(const Space& space, std::uint64_t copies)
      : space_{space}, extent_{extent_of(space)}, copies_{copies} {}

  std::uint64_t write(std::ostream& out) {
    for (const Plane& plane : space_.planes()) {
      Plane rest = plane;
      rest.clear_lines();
      const std::string tables = rest.SerializeAsString();
      const std::set<std::int64_t> ids = correlation_ids(plane);
      std::vector<std::uint64_t> sizes;
      std::uint64_t size = tables.size();
      for (const Line& line : plane.lines()) {
        sizes.push_back(head_of(line).size());
        for (std::uint64_t copy = 0; copy < copies_; ++copy)
          sizes.back() += events_of(line, extent_, copy, ids).size();
        size += field_size(sizes.back());
      }
      write_field(out, 1, size);
      // Names first: protobuf does not mind the order, and ours does not depend on it.
      out << tables;
      for (int i = 0; i < plane.lines_size(); ++i) {
        write_field(out, 3, sizes[static_cast<std::size_t>(i)]);
        out << head_of(plane.lines(i));
        for (std::uint64_t copy = 0; copy < copies_; ++copy)
          out << events_of(plane.lines(i), extent_, copy, ids);
        events_ += copies_ * static_cast<std::uint64_t>(plane.lines(i).events_size());
      }
    }
    return events_;
  }

 private:
  static std::string head_of(const Line& line) {
    Line head = line;
    head.clear_events();
    return head.SerializeAsString();
  }

  const Space& space_;
  Extent extent_;
  std::uint64_t copies_, events_ = 0;
};

int run(int argc, char** argv) {
  std::string input, output;
  std::uint64_t min_bytes = 0;
  CLI::App app{"Makes a large JAX profile out of a small one."};
  app.add_option("input", input, "*.xplane.pb, plain or gzip")->required();
  app.add_option("output", output, "The profile to write")->required();
  app.add_option("--min-bytes", min_bytes, "Least size, e.g. 1G")
      ->required()
      ->transform(CLI::AsSizeValue(true));
  CLI11_PARSE(app, argc, argv);
  Space space;
  if (!space.ParseFromString(read_packed(input))) throw std::runtime_error{input + ": no profile"};
  std::uint64_t per_copy = 0;
  for (const Plane& plane : space.planes())
    for (const Line& line : plane.lines()) per_copy += line.ByteSizeLong();
  const std::uint64_t copies = min_bytes / std::max<std::uint64_t>(per_copy, 1) + 1;
  std::ofstream out{output, std::ios::binary};
  const std::uint64_t events = Repeater{space, copies}.write(out);
  out.flush();
  if (!out) throw std::runtime_error{output + ": cannot be written"};
  fmt::print("{{\"copies\": {}, \"bytes\": {}, \"events\": {}}}\n", copies,
             static_cast<std::int64_t>(out.tellp()), events);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "repeat_xplane: {}\n", error.what());
    return 2;
  }
}

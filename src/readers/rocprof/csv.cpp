#include "readers/rocprof/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <vector>

#include "io/ascii.hpp"
#include "io/numbers.hpp"
#include "readers/rocprof/columns.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestRow = std::size_t{1} << 20;

// Rows of a CSV text, fields in quotes or not.
class CsvRows {
 public:
  CsvRows(io::Stream& in, std::size_t block_bytes)
      : in_{in}, block_(std::max<std::size_t>(block_bytes, 16), '\0') {}

  // False at the end of the text. Throws Error when a row is longer than any real one.
  bool next(std::vector<std::string>& fields) {
    fields.assign(1, {});
    bool in_quotes = false, any = false;
    row_byte_ = byte_;
    std::size_t length = 0;
    for (std::optional<char> c = get(); c; c = get()) {
      any = true;
      if (++length > kLongestRow)
        throw Error{in_.name(), fmt::format("byte {}: a row of more than {} bytes: a quote is "
                                            "missing",
                                            row_byte_, kLongestRow)};
      if (in_quotes) {
        if (*c != '"')
          fields.back().push_back(*c);
        else if (peek() == '"')
          fields.back().push_back(*get());
        else
          in_quotes = false;
      } else if (*c == '"') {
        in_quotes = true;
      } else if (*c == ',') {
        fields.emplace_back();
      } else if (*c == '\n') {
        return true;
      } else if (*c != '\r') {
        fields.back().push_back(*c);
      }
    }
    return any;
  }
  [[nodiscard]] std::uint64_t row_byte() const { return row_byte_; }
  [[nodiscard]] std::uint64_t bytes() const { return byte_; }

 private:
  std::optional<char> peek() {
    if (at_ == size_) {
      size_ = in_.read(block_);
      at_ = 0;
    }
    return at_ < size_ ? std::optional{block_[at_]} : std::nullopt;
  }
  std::optional<char> get() {
    const std::optional<char> c = peek();
    if (c) {
      ++at_;
      ++byte_;
    }
    return c;
  }

  io::Stream& in_;
  std::string block_;
  std::size_t at_ = 0, size_ = 0;
  std::uint64_t byte_ = 0, row_byte_ = 0;
};

// Where the first row says the columns are. Their names differ in case between versions.
class Header {
 public:
  Header(const std::string& file, const std::vector<std::string>& names) : file_{file} {
    for (std::size_t i = 0; i < names.size(); ++i) places_.try_emplace(io::lower_case(names[i]), i);
  }
  [[nodiscard]] std::size_t needed(const std::string& name) const {
    const auto found = maybe(name);
    if (!found) throw Error{file_, fmt::format("a kernel trace without the column {}", name)};
    return *found;
  }
  [[nodiscard]] std::optional<std::size_t> maybe(const std::string& name) const {
    const auto found = places_.find(io::lower_case(name));
    return found == places_.end() ? std::nullopt : std::optional{found->second};
  }

 private:
  const std::string& file_;
  std::unordered_map<std::string, std::size_t> places_;
};

struct Column {
  std::int64_t RocprofRecord::*field;
  const char* name;
  bool is_needed;
  const char* other_name = nullptr;  // in ROCm 6
};
constexpr Column kColumns[] = {
    {&RocprofRecord::start_ns, "Start_Timestamp", true},
    {&RocprofRecord::end_ns, "End_Timestamp", true},
    {&RocprofRecord::kernel_id, "Kernel_Id", false},
    {&RocprofRecord::thread, "Thread_Id", false},
    {&RocprofRecord::dispatch_id, "Dispatch_Id", false},
    {&RocprofRecord::correlation, "Correlation_Id", false},
    {&RocprofRecord::stream, "Stream_Id", false},
    {&RocprofRecord::queue, "Queue_Id", false},
    {&RocprofRecord::group_bytes, "LDS_Block_Size", false, "Group_Segment_Size"},
    {&RocprofRecord::private_bytes, "Scratch_Size", false, "Private_Segment_Size"},
};
constexpr const char* kRegisterColumns[][2] = {
    // and their names in rocprofv3's JSON
    {"VGPR_Count", "arch_vgpr_count"},
    {"Accum_VGPR_Count", "accum_vgpr_count"},
    {"SGPR_Count", "sgpr_count"},
};

class KernelRows {
 public:
  KernelRows(const std::string& file, const std::vector<std::string>& names)
      : header_{file, names}, name_{header_.needed("Kernel_Name")} {
    for (const Column& column : kColumns) {
      auto at = column.is_needed ? std::optional{header_.needed(column.name)}
                                 : header_.maybe(column.name);
      if (!at && column.other_name != nullptr) at = header_.maybe(column.other_name);
      if (at) fields_.emplace_back(column.field, *at);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const char axis = "XYZ"[i];
      grid_[i] = header_.maybe(fmt::format("Grid_Size_{}", axis));
      group_[i] = header_.maybe(fmt::format("Workgroup_Size_{}", axis));
    }
    agent_ = header_.maybe("Agent_Id");
    guid_ = header_.maybe("Guid");
  }

  // False when a number is none.
  bool read(const std::vector<std::string>& row, RocprofRecord& record) const {
    const auto number = [&](std::size_t at, std::int64_t& into) {
      const auto value = at < row.size() ? io::parse_int64(row[at]) : std::nullopt;
      into = value.value_or(0);
      return value.has_value();
    };
    for (const auto& [field, at] : fields_)
      if (!number(at, record.*field)) return false;
    for (std::size_t i = 0; i < 3; ++i) {
      if (grid_[i] && !number(*grid_[i], record.grid[i])) return false;
      if (group_[i] && !number(*group_[i], record.group[i])) return false;
    }
    if (agent_ && *agent_ < row.size()) record.agent_node = agent_number(row[*agent_]);
    return name_ < row.size();
  }
  [[nodiscard]] const std::string& name(const std::vector<std::string>& row) const {
    return row[name_];
  }
  // Of the process; empty where the file has one process and does not say which.
  [[nodiscard]] std::string_view guid(const std::vector<std::string>& row) const {
    return guid_ && *guid_ < row.size() ? std::string_view{row[*guid_]} : std::string_view{};
  }
  // The symbol of the kernel, as rocprofv3's JSON would describe it.
  [[nodiscard]] Value symbol(const std::vector<std::string>& row, std::int64_t kernel_id) const {
    std::vector<std::string> keys{"kernel_id", "kernel_name"};
    std::vector<Value> values{kernel_id, name(row)};
    for (const auto& [column, key] : kRegisterColumns)
      if (const auto at = header_.maybe(column); at && *at < row.size())
        if (const auto count = io::parse_int64(row[*at])) {
          keys.emplace_back(key);
          values.emplace_back(*count);
        }
    return Value::dict(std::move(keys), std::move(values));
  }

 private:
  // "Agent 2" or 2; absent for anything else.
  static std::int64_t agent_number(std::string_view text) {
    text.remove_prefix(text.rfind(' ') + 1);
    return io::parse_int64(text).value_or(kAbsent);
  }

  Header header_;
  std::size_t name_;
  std::vector<std::pair<std::int64_t RocprofRecord::*, std::size_t>> fields_;
  std::array<std::optional<std::size_t>, 3> grid_, group_;
  std::optional<std::size_t> agent_, guid_;
};

// One process of the file.
class Dispatches {
 public:
  Dispatches(TraceBuilder& builder, RocprofRun& run) : builder_{builder}, columns_{builder, run} {
    columns_.counters_done();
    columns_.set_agents({});
    columns_.set_strings({});
    columns_.symbols_done();
  }
  // From here on dispatches become events; those that came before wait.
  void begin() {
    columns_.set_metadata(pid_ == kAbsent ? Value{} : Value::dict({"pid"}, {pid_}), first_byte_);
  }
  void add(const KernelRows& kernels, const std::vector<std::string>& row, RocprofRecord& record,
           std::uint64_t byte) {
    // An id may stand for several kernels: files joined into one keep those of their processes.
    const auto [known, is_new] =
        kernels_.try_emplace({record.kernel_id, builder_.intern(kernels.name(row)).row},
                             static_cast<std::int64_t>(kernels_.size()));
    record.kernel_id = known->second;
    if (is_new) columns_.add_symbol(kernels.symbol(row, record.kernel_id));
    columns_.add(RocprofList::kDispatch, record, byte);
  }
  // Its first row: a thread that dispatches is what the file tells of the process.
  void set_first(const RocprofRecord& record, std::uint64_t byte) {
    pid_ = record.thread;
    first_byte_ = byte;
  }
  RocprofColumns& columns() { return columns_; }

 private:
  TraceBuilder& builder_;
  RocprofColumns columns_;
  std::int64_t pid_ = kAbsent;
  std::uint64_t first_byte_ = 0;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::int64_t> kernels_;  // by id and name
};

// Processes in the order of their first rows. The rows of the first become events as they come,
// those of others when it is done: the events of a process stand together.
class Processes {
 public:
  explicit Processes(TraceBuilder& builder) : builder_{builder}, run_{builder} {}
  void add(const KernelRows& kernels, const std::vector<std::string>& row, RocprofRecord& record,
           std::uint64_t byte) {
    if (last_ == nullptr || guid_ != kernels.guid(row)) {
      guid_ = kernels.guid(row);
      std::unique_ptr<Dispatches>& found = by_guid_[guid_];
      if (!found) {
        found = std::make_unique<Dispatches>(builder_, run_);
        found->set_first(record, byte);
        in_order_.push_back(found.get());
        if (in_order_.size() == 1) begin(*found);
      }
      last_ = found.get();
    }
    last_->add(kernels, row, record, byte);
  }
  void finish() {
    for (Dispatches* const process : in_order_) {
      if (process != in_order_.front()) begin(*process);
      process->columns().finish();
      if (in_order_.size() > 1) run_.end_process(process->columns().process());
    }
    if (in_order_.size() > 1) run_.finish();
  }

 private:
  void begin(Dispatches& process) {
    run_.begin_process();
    process.begin();
  }

  TraceBuilder& builder_;
  RocprofRun run_;
  std::map<std::string, std::unique_ptr<Dispatches>> by_guid_;
  std::vector<Dispatches*> in_order_;
  std::string guid_;  // of the row before
  Dispatches* last_ = nullptr;
};

}  // namespace

bool is_rocprof_csv(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  if (head.starts_with('{') || head.starts_with('[')) return false;
  const std::string line = io::lower_case(head.substr(0, head.find('\n')));
  return line.find("kernel_name") != std::string::npos &&
         line.find("start_timestamp") != std::string::npos;
}

Trace read_rocprof_csv(io::Stream& in, const ReadOptions& options) {
  TraceBuilder builder;
  CsvRows rows{in, options.block_bytes};
  std::vector<std::string> row;
  rows.next(row);
  if (row.front().starts_with("\xEF\xBB\xBF")) row.front().erase(0, 3);
  const std::string file = in.name();
  const KernelRows kernels{file, row};

  Processes processes{builder};
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max(), last_ns = 0;
  for (std::uint64_t count = 0; rows.next(row); ++count) {
    if (row.size() == 1 && row.front().empty()) continue;
    RocprofRecord record;
    if (!kernels.read(row, record)) {
      builder.warnings().add("row that does not fit the columns", rows.row_byte());
      continue;
    }
    first_ns = std::min(first_ns, record.start_ns);
    last_ns = std::max(last_ns, record.end_ns);
    processes.add(kernels, row, record, rows.row_byte());
    if (options.on_progress && (count & 0xfff) == 0)
      options.on_progress({in.progress(), rows.bytes(), builder.size()});
  }
  processes.finish();
  if (builder.size() > 0) {  // all that is known of the process
    builder.add_metadata("init_time", first_ns);
    builder.add_metadata("fini_time", last_ns);
  }
  if (!in.damage().empty()) {
    builder.warnings().add(in.damage(), rows.bytes());
    builder.source().cut_short = true;
  }
  builder.source().name = file;
  builder.source().format = "rocprof";
  builder.source().recorder = Recorder::kRocprof;
  builder.source().text_bytes = rows.bytes();
  builder.source().packing = in.packing();
  builder.source().packed_bytes = in.packed_bytes();
  return std::move(builder).finish();
}

}  // namespace tracelens

// folder_manifest.cpp: a line "tracelens-files 1", then "<hash> <bytes> <name>" for each file.
#include "report/sinks/folder_manifest.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <optional>

namespace tracelens {
namespace {

constexpr std::string_view kFirstLine = "tracelens-files 1";
constexpr std::uint64_t kLargestList = 1 << 28;  // a million files and more

// A plain file, open for reading: no link, no FIFO that would be waited for.
class PlainFile {
 public:
  explicit PlainFile(const std::filesystem::path& path)
      : fd_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)} {
    struct stat info {};
    if (fd_ >= 0 && ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode))
      bytes_ = static_cast<std::uint64_t>(info.st_size);
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] std::optional<std::uint64_t> bytes() const { return bytes_; }

  // Whether all of it could be read.
  template <class Use>
  [[nodiscard]] bool read_all(const Use& use) const {
    std::array<char, 1 << 16> block;
    ssize_t got = 0;
    while ((got = ::read(fd_, block.data(), block.size())) > 0)
      use(std::string_view{block.data(), static_cast<std::size_t>(got)});
    return got == 0;
  }

 private:
  int fd_;
  std::optional<std::uint64_t> bytes_;
};

// A name that cannot lead out of the folder, and that we might have written.
bool is_own_name(std::string_view name) {
  return (name.ends_with(".csv") || name.ends_with(".json.gz")) && !name.starts_with('.') &&
         name.find_first_of(std::string_view{"/\\\0", 3}) == name.npos;
}

template <int kBase>
bool take_number(std::string_view& line, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, kBase);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || digits == line.size() || *end != ' ') return false;
  line.remove_prefix(digits + 1);
  return true;
}

std::optional<WrittenFile> parse_line(std::string_view line) {
  WrittenFile file;
  if (!take_number<16>(line, file.hash) || !take_number<10>(line, file.bytes)) return std::nullopt;
  if (!is_own_name(line)) return std::nullopt;
  file.name = line;
  return file;
}

}  // namespace

std::vector<WrittenFile> read_manifest(const std::filesystem::path& folder) {
  const PlainFile list{folder / kManifestName};
  if (!list.bytes() || *list.bytes() > kLargestList) return {};
  std::string text;
  if (!list.read_all([&](std::string_view block) { text += block; })) return {};
  std::vector<WrittenFile> files;
  bool is_first = true;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
    const std::string_view line = std::string_view{text}.substr(at, end - at);
    if (is_first && line != kFirstLine) return {};
    if (!is_first)
      if (auto file = parse_line(line)) files.push_back(*std::move(file));
    is_first = false;
  }
  return files;
}

std::string manifest_text(std::span<const WrittenFile> files) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const WrittenFile& file : files)
    text += fmt::format("{:016x} {} {}\n", file.hash, file.bytes, file.name);
  return text;
}

bool remove_if_unchanged(const std::filesystem::path& folder, const WrittenFile& file) {
  const std::filesystem::path path = folder / file.name;
  const PlainFile there{path};
  if (!is_own_name(file.name) || there.bytes() != file.bytes) return false;
  ContentHash content;
  if (!there.read_all([&](std::string_view block) { content.add(block); })) return false;
  return content.of({}).hash == file.hash && ::unlink(path.c_str()) == 0;
}

}  // namespace tracelens

// zip_source.cpp: the trace inside a zip archive. libzip finds the member; its bytes are unpacked
// by the same code as gzip and zstd files, which is faster and keeps the text before damage.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tracelens/error.hpp>

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

#include "io/ascii.hpp"
#include "io/byte_source.hpp"
#include "io/crc.hpp"
#include "io/libzip.hpp"
#include "io/zip_members.hpp"

namespace tracelens::io {
namespace {

// A zip's directory stands at its end, so an archive that comes through a pipe or out of another
// packing has to be kept whole. Beyond this size it is refused rather than kept.
constexpr std::size_t kMaxKeptArchive = std::size_t{1} << 30;

constexpr zip_uint16_t kMethodZstd = 93;  // libzip names it from 1.8 on

struct CloseArchive {
  const LibZip& zip;
  void operator()(zip_t* archive) const { zip.discard(archive); }
};
struct CloseMember {
  const LibZip& zip;
  void operator()(zip_file_t* member) const { zip.fclose(member); }
};

class ZipError {
 public:
  explicit ZipError(const LibZip& zip) : zip_{zip} { zip_.error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { zip_.error_fini(&error_); }
  zip_error_t* get() { return &error_; }
  int code() { return zip_.error_code_zip(&error_); }
  std::string text() { return zip_.error_strerror(&error_); }

 private:
  const LibZip& zip_;
  zip_error_t error_;
};

std::string keep_whole(ByteSource& packed, const std::string& name) {
  constexpr std::size_t kStep = 1 << 20;
  std::string kept;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = kept.size();
    if (had >= kMaxKeptArchive)
      throw Error{name, "zip archive over 1 GiB in a pipe or another packing; store it as a file"};
    kept.resize(had + kStep);
    got = packed.read(std::span{kept}.subspan(had));
    kept.resize(had + got);
  }
  return kept;
}

// An open archive over a file or memory, together with what it reads from.
class Archive {
 public:
  Archive(std::unique_ptr<ByteSource> packed, const std::string& name)
      : packed_{std::move(packed)}, name_{name} {
    ZipError error{zip_};
    zip_source_t* source = make_source(error);
    if (source != nullptr) archive_.reset(zip_.open_from_source(source, ZIP_RDONLY, error.get()));
    if (archive_) return;
    if (source != nullptr) zip_.source_free(source);
    if (error.code() == ZIP_ER_MEMORY) throw std::bad_alloc{};
    const std::string& below = packed_->damage();
    throw Error{name, "zip archive is cut or damaged: " + (below.empty() ? error.text() : below)};
  }

  [[nodiscard]] const LibZip& zip() const { return zip_; }
  [[nodiscard]] zip_t* get() const { return archive_.get(); }
  [[nodiscard]] std::string problem() const { return zip_.strerror(archive_.get()); }
  [[nodiscard]] zip_uint64_t members() const {
    return static_cast<zip_uint64_t>(zip_.get_num_entries(archive_.get(), 0));
  }
  [[nodiscard]] const char* member(zip_uint64_t index) const {  // its name; null: it has none
    return zip_.get_name(archive_.get(), index, 0);
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const ByteSource& packed() const { return *packed_; }

 private:
  zip_source_t* make_source(ZipError& error) {
    if (const int fd = packed_->seekable_descriptor(); fd >= 0) {
      FILE* file = ::fdopen(::fcntl(fd, F_DUPFD_CLOEXEC, 0), "rb");
      if (file == nullptr) throw Error{name_, "cannot be read"};
      zip_source_t* source = zip_.source_filep_create(file, 0, -1, error.get());
      if (source == nullptr) std::fclose(file);
      return source;
    }
    std::string_view whole;
    if (const auto text = packed_->memory()) {
      whole = *text;
    } else {
      kept_ = keep_whole(*packed_, name_);
      whole = kept_;
    }
    return zip_.source_buffer_create(whole.data(), whole.size(), 0, error.get());
  }

  std::unique_ptr<ByteSource> packed_;
  std::string name_;
  std::string kept_;
  const LibZip& zip_ = libzip(name_);
  // The last member: it is closed before what it reads from.
  std::unique_ptr<zip_t, CloseArchive> archive_{nullptr, {zip_}};
};

bool ends_with_ignoring_case(std::string_view text, std::string_view ending) {
  if (text.size() < ending.size()) return false;
  return std::equal(ending.begin(), ending.end(), text.end() - std::ssize(ending),
                    [](char a, char b) { return a == lower(b); });
}

// Folders, and the twins that macOS adds to every file it packs.
bool is_no_file(std::string_view member) {
  return member.ends_with('/') || member.starts_with("__MACOSX/");
}

struct FoundTrace {
  zip_stat_t member;
  int others;  // members that look like traces as well
};

FoundTrace find_trace(const Archive& archive) {
  std::optional<zip_uint64_t> json, json_gz, any;
  int files = 0, traces = 0;
  for (zip_uint64_t i = 0; i < archive.members(); ++i) {
    const char* text = archive.member(i);
    if (text == nullptr || is_no_file(text)) continue;
    ++files;
    any = i;
    const bool is_json = ends_with_ignoring_case(text, ".json");
    const bool is_json_gz = ends_with_ignoring_case(text, ".json.gz");
    if (is_json || is_json_gz) ++traces;
    if (!json && is_json) json = i;
    if (!json_gz && is_json_gz) json_gz = i;
  }
  if (files != 1) any.reset();
  const auto chosen = json ? json : json_gz ? json_gz : any;
  if (!chosen)
    throw Error{archive.name(), "zip archive of " + std::to_string(files) +
                                    " files; expected one that ends in .json or .json.gz"};
  zip_stat_t found;
  if (archive.zip().stat_index(archive.get(), *chosen, 0, &found) != 0)
    throw Error{archive.name(), "zip archive is damaged: " + archive.problem()};
  return {found, std::max(traces - 1, 0)};
}

// The bytes of one member as they are stored, still packed.
class StoredMember final : public ByteSource {
 public:
  StoredMember(std::unique_ptr<Archive> archive, const zip_stat_t& found)
      : archive_{std::move(archive)},
        zip_{archive_->zip()},
        member_{zip_.fopen_index(archive_->get(), found.index, ZIP_FL_COMPRESSED), {zip_}},
        size_{found.comp_size} {
    if (!member_)
      throw Error{archive_->name(), std::string{"cannot read zip member '"} + found.name +
                                        "': " + archive_->problem()};
  }

  [[nodiscard]] std::uint64_t packed_bytes() const override {
    return archive_->packed().packed_bytes();
  }
  [[nodiscard]] double progress() const override {
    return size_ == 0 ? 0.0 : std::min(1.0, static_cast<double>(got_) / static_cast<double>(size_));
  }
  [[nodiscard]] const std::string& damage() const override {
    const std::string& below = archive_->packed().damage();
    return below.empty() ? damage_ : below;
  }

 private:
  std::size_t produce(std::span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size() && damage_.empty()) {
      const zip_int64_t got = zip_.fread(member_.get(), into.data() + filled, into.size() - filled);
      // libzip checks members that are not compressed itself; CheckedMember does so for all.
      if (got == 0 || error_code() == ZIP_ER_CRC) break;
      if (got < 0) {
        if (error_code() == ZIP_ER_MEMORY) throw std::bad_alloc{};
        damage_ = "zip data is damaged near packed byte " + std::to_string(got_ + filled);
        break;
      }
      filled += static_cast<std::size_t>(got);
    }
    got_ += filled;
    return filled;
  }

  [[nodiscard]] int error_code() const {
    return zip_.error_code_zip(zip_.file_get_error(member_.get()));
  }

  std::unique_ptr<Archive> archive_;
  const LibZip& zip_;
  std::unique_ptr<zip_file_t, CloseMember> member_;
  std::uint64_t size_, got_ = 0;
  std::string damage_;
};

// The unpacked bytes of one member, checked against the archive's checksum.
class CheckedMember final : public ByteSource {
 public:
  CheckedMember(std::unique_ptr<ByteSource> unpacked, const zip_stat_t& found)
      : unpacked_{std::move(unpacked)}, name_{found.name}, expected_crc_{found.crc} {}

  void use_threads(int threads, std::size_t piece_bytes) override {
    unpacked_->use_threads(threads, piece_bytes);
  }
  [[nodiscard]] int helpers() const override { return unpacked_->helpers(); }
  [[nodiscard]] std::uint64_t packed_bytes() const override { return unpacked_->packed_bytes(); }
  [[nodiscard]] double progress() const override { return unpacked_->progress(); }
  [[nodiscard]] const std::string& damage() const override {
    const std::string& below = unpacked_->damage();
    return below.empty() ? damage_ : below;
  }

 private:
  std::size_t produce(std::span<char> into) override {
    const std::size_t got = unpacked_->read(into);
    crc_ = crc_with(crc_, into.first(got));
    if (got < into.size() && crc_ != expected_crc_)
      damage_ = "checksum (CRC) mismatch of zip member '" + name_ + "'";
    return got;
  }

  std::unique_ptr<ByteSource> unpacked_;
  std::string name_, damage_;
  std::uint32_t crc_ = 0, expected_crc_;
};

std::unique_ptr<ByteSource> open_member(std::unique_ptr<Archive> archive, const zip_stat_t& found) {
  const std::string name = archive->name();
  const std::string member = std::string{"zip member '"} + found.name + "' ";
  if (found.encryption_method != ZIP_EM_NONE)
    throw Error{name, member + "is encrypted; expected one without a password"};

  std::unique_ptr<ByteSource> bytes = std::make_unique<StoredMember>(std::move(archive), found);
  switch (found.comp_method) {
    case ZIP_CM_STORE:
      break;
    case ZIP_CM_DEFLATE:
      bytes = unpack_deflate(std::move(bytes), "zip");
      break;
    case kMethodZstd:
      bytes = unpack_zstd(std::move(bytes), "zip");
      break;
    default:
      throw Error{name, member + "is packed by method " + std::to_string(found.comp_method) +
                            "; expected stored, deflate or zstd"};
  }
  return std::make_unique<CheckedMember>(std::move(bytes), found);
}

}  // namespace

std::unique_ptr<ByteSource> unpack_zip(std::unique_ptr<ByteSource> packed, const std::string& name,
                                       std::string& remark) {
  auto archive = std::make_unique<Archive>(std::move(packed), name);
  const auto [found, others] = find_trace(*archive);
  if (others > 0)
    remark = std::string{"of a zip archive with several traces only '"} + found.name + "' was read";
  return open_member(std::move(archive), found);
}

std::unique_ptr<ByteSource> unpack_zip_member(std::unique_ptr<ByteSource> packed,
                                              const std::string& name, const std::string& member) {
  auto archive = std::make_unique<Archive>(std::move(packed), name);
  zip_stat_t found;
  if (archive->zip().stat(archive->get(), member.c_str(), 0, &found) != 0)
    throw Error{name, "no such file in this zip archive"};
  return open_member(std::move(archive), found);
}

bool is_read_once(const std::string& path) {
  struct stat info {};
  return path == "-" ||
         (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

std::vector<std::string> zip_members(const std::string& path) {
  if (is_read_once(path)) return {};
  std::unique_ptr<ByteSource> file = open_file(path, path);
  if (sniff_packing(file->peek(kSniffBytes)) != Packing::kZip) return {};
  const Archive archive{std::move(file), path};
  std::vector<std::string> members;
  for (zip_uint64_t i = 0; i < archive.members(); ++i)
    if (const char* text = archive.member(i); text != nullptr && !is_no_file(text))
      members.emplace_back(text);
  return members;
}

}  // namespace tracelens::io

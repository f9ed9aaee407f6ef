#include "mcp/allowed_folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <tracelens/error.hpp>
#include <utility>

#include "io/text_hash.hpp"
#include "mcp/clean_text.hpp"
#include "mcp/tool_result.hpp"
#include "query/hints.hpp"

namespace tracelens::mcp {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOutside = "outside the allowed folders (list them with list_traces)";
constexpr std::size_t kMostFiles = 20'000, kDeepest = 12;

std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real{::realpath(path.c_str(), nullptr), std::free};
  return real == nullptr ? std::nullopt : std::optional<std::string>{real.get()};
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || folder == "/" ||
         (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

// What lies below `folder`; "." for the folder itself.
std::string relative(std::string_view path, std::string_view folder) {
  if (path == folder) return ".";
  return std::string{path.substr(folder == "/" ? 1 : folder.size() + 1)};
}

// Without following a link out of the folder. Pipes do not make it wait. -1: no.
int open_beneath(int folder, const std::string& name, const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  struct open_how how {};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long opened = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how);
  if (opened >= 0 || errno != ENOSYS) return static_cast<int>(opened);
  // An old kernel: the path has no links in it, and must still have none.
  const int descriptor = ::open(path.c_str(), kFlags | O_NOFOLLOW);
  struct stat before {
  }, now{};
  const bool is_same = descriptor >= 0 && ::fstat(descriptor, &before) == 0 &&
                       real_path(path) == path && ::stat(path.c_str(), &now) == 0 &&
                       before.st_dev == now.st_dev && before.st_ino == now.st_ino;
  if (is_same || descriptor < 0) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

// --- OpenFile ---

OpenFile::OpenFile(int descriptor, std::string path, std::string shown)
    : descriptor_{descriptor}, path_{std::move(path)}, shown_{std::move(shown)} {
  ::fstat(descriptor_, &status_);
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : descriptor_{std::exchange(other.descriptor_, -1)},
      path_{std::move(other.path_)},
      shown_{std::move(other.shown_)},
      status_{other.status_} {}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string OpenFile::held_path() const {
  return is_folder() ? path_ : fmt::format("/proc/self/fd/{}", descriptor_);
}

std::string OpenFile::identity() const {
  std::string text = fmt::format("{}\n{} {} {} {}.{}", path_, status_.st_dev, status_.st_ino,
                                 status_.st_size, status_.st_mtim.tv_sec, status_.st_mtim.tv_nsec);
  if (!is_folder()) return text;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator{path_, error}) {
    struct stat inner {};
    if (::stat(entry.path().c_str(), &inner) == 0)
      text += fmt::format("\n{} {} {} {}", entry.path().filename().string(), inner.st_ino,
                          inner.st_size, inner.st_mtim.tv_nsec);
  }
  return text;
}

std::uint64_t OpenFile::stamp() const {
  const std::string text = identity();
  return std::uint64_t{io::text_hash(text)} << 32 | io::text_hash(text + "2");
}

// --- AllowedFolders ---

AllowedFolders::AllowedFolders(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const auto path = real_path(folder);
    const int descriptor = path ? ::open(path->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (descriptor < 0) throw Error{folder, "no folder that can be read"};
    std::string given = fs::absolute(folder).lexically_normal().string();
    if (given.size() > 1 && given.ends_with('/')) given.pop_back();
    roots_.push_back({std::move(given), *path, descriptor});
  }
}

AllowedFolders::~AllowedFolders() {
  for (const Root& root : roots_) ::close(root.descriptor);
}

const AllowedFolders::Root* AllowedFolders::root_of(std::string_view path) const {
  for (const Root& root : roots_)
    if (is_below(path, root.path)) return &root;
  return nullptr;
}

// With several folders their names tell which.
std::string AllowedFolders::shown(const Root& root, std::string_view path) const {
  const std::string below = relative(path, root.path);
  if (roots_.size() == 1) return below;
  return fs::path{root.path}.filename().string() + "/" + below;
}

OpenFile AllowedFolders::open_path(const std::string& path) const {
  const auto real = real_path(path);
  const Root* const root = real ? root_of(*real) : nullptr;
  if (root == nullptr) throw ToolError{kOutside};
  const int descriptor = open_beneath(root->descriptor, relative(*real, root->path), *real);
  if (descriptor < 0) throw ToolError{kOutside};
  OpenFile file{descriptor, *real, shown(*root, *real)};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
    throw ToolError{kOutside};
  return file;
}

std::vector<std::string> AllowedFolders::candidates(const std::string& name) const {
  std::vector<std::string> paths;
  const fs::path asked{name};
  for (const Root& root : roots_) {
    const auto add = [&](const fs::path& path) {
      std::string plain = path.lexically_normal().string();
      if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
      // "x/../../y" is outside, whatever x is.
      if (is_below(plain, root.path) || is_below(plain, root.given)) paths.push_back(plain);
    };
    if (asked.is_absolute()) {
      add(asked);
      continue;
    }
    add(root.path / asked);
    if (roots_.size() > 1 && asked.begin() != asked.end() &&
        *asked.begin() == fs::path{root.path}.filename())
      add(fs::path{root.path}.parent_path() / asked);
  }
  return paths;
}

OpenFile AllowedFolders::open(const std::string& name) const {
  if (name.empty() || name.find('\0') != name.npos) throw ToolError{kOutside};
  const std::vector<std::string> paths = candidates(name);
  if (paths.empty()) throw ToolError{kOutside};
  for (const std::string& path : paths) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0) return open_path(path);
  }
  // A name alone: the only file of this name.
  std::vector<std::string> same, names;
  for (const Found& file : files()) {
    if (file.shown.ends_with("/" + name)) same.push_back(file.shown);
    names.push_back(file.shown);
  }
  if (same.size() == 1) return open(same.front());
  if (same.size() > 1)
    throw ToolError{fmt::format("{} is there {} times: name one of {}, {}", in_quotes(name),
                                same.size(), in_quotes(same[0]), in_quotes(same[1]))};
  const auto near = query::nearest(name, names);
  throw ToolError{
      fmt::format("no such trace: {}{}; list_traces shows what there is", in_quotes(name),
                  near.empty() ? "" : fmt::format("; did you mean {}", in_quotes(near[0])))};
}

void AllowedFolders::walk(const std::string& folder, std::vector<Found>& found) const {
  std::error_code error;
  for (fs::recursive_directory_iterator at{folder, fs::directory_options::skip_permission_denied,
                                           error};
       !error && at != fs::recursive_directory_iterator{} && found.size() < kMostFiles;
       at.increment(error)) {
    if (at.depth() >= static_cast<int>(kDeepest)) at.disable_recursion_pending();
    const std::string path = at->path().string();
    if (at->path().filename().string().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    const auto real = at->is_symlink(error) ? real_path(path) : std::optional{path};
    const Root* const root = root_of(path);
    if (!real || root_of(*real) == nullptr || root == nullptr) continue;
    found.push_back({path, shown(*root, path), static_cast<std::uint64_t>(status.st_size)});
  }
}

std::vector<AllowedFolders::Found> AllowedFolders::files(const std::string& below) const {
  std::vector<Found> found;
  if (below.empty())
    for (const Root& root : roots_) walk(root.path, found);
  else
    walk(below, found);
  std::ranges::sort(found, {}, &Found::shown);
  return found;
}

std::string AllowedFolders::without_paths(std::string sentence) const {
  for (const Root& root : roots_)
    for (const std::string& path : {root.path, root.given}) {
      const std::string folder = path.ends_with('/') ? path : path + "/";
      for (std::size_t at = 0; (at = sentence.find(folder, at)) != sentence.npos;)
        sentence.erase(at, folder.size());
    }
  return sentence;
}

void AllowedFolders::check_folder(const std::string& path) const {
  std::error_code error;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator at{path, error};
       !error && at != fs::recursive_directory_iterator{}; at.increment(error)) {
    if (++count > kMostFiles) throw ToolError{"a folder with too many files: name one of them"};
    const auto real = real_path(at->path().string());
    struct stat status {};
    if (!real || root_of(*real) == nullptr || ::stat(real->c_str(), &status) != 0 ||
        !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
      throw ToolError{fmt::format("the folder holds something {}", kOutside)};
  }
}

}  // namespace tracelens::mcp

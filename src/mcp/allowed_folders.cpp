#include "mcp/allowed_folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tracelens/error.hpp>
#include <tracelens/near_names.hpp>
#include <utility>

#include "io/text_hash.hpp"
#include "mcp/clean_text.hpp"
#include "mcp/tool_result.hpp"

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

// Changes when a file does.
std::string state_of(const struct stat& status) {
  return fmt::format("{} {} {} {}.{}", status.st_dev, status.st_ino, status.st_size,
                     status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

// The end of a path, with as many names; without its first "/".
std::string last_names(std::string_view path, std::size_t count) {
  std::size_t at = path.size();
  for (; count > 0 && at > 0 && at != path.npos; --count) at = path.rfind('/', at - 1);
  return std::string{path.substr(at == path.npos ? 0 : at + 1)};
}

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
}

ToolError ambiguous(const std::string& name, std::size_t count, const std::string& first,
                    const std::string& second) {
  return ToolError{fmt::format("{} is there {} times: name one of {}, {}", in_quotes(name), count,
                               in_quotes(first), in_quotes(second))};
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
  const std::string text = fmt::format("{}\n{}", path_, state_of(status_));
  if (!is_folder()) return text;
  // Sorted: a folder tells them in any order.
  std::vector<std::string> entries;
  std::error_code error;
  for (fs::recursive_directory_iterator at{path_, error};
       !error && at != fs::recursive_directory_iterator{} && entries.size() < kMostFiles;
       at.increment(error)) {
    const std::string path = at->path().string();
    struct stat inner {};
    if (::stat(path.c_str(), &inner) == 0)
      entries.push_back(fmt::format("{} {}", relative(path, path_), state_of(inner)));
  }
  std::ranges::sort(entries);
  return fmt::format("{}\n{}", text, fmt::join(entries, "\n"));
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
    roots_.push_back({.given = std::move(given), .path = *path, .descriptor = descriptor});
  }
  add_labels();
}

void AllowedFolders::add_labels() {
  std::set<std::string_view> paths;
  for (const Root& root : roots_) paths.insert(root.path);
  constexpr std::size_t kMostNames = PATH_MAX;
  for (std::size_t names = 1; names < kMostNames; ++names) {
    std::set<std::string_view> labels;
    for (Root& root : roots_) labels.insert(root.label = last_names(root.path, names));
    if (labels.size() == paths.size()) return;
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
  return root.label + "/" + below;
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

AllowedFolders::Candidates AllowedFolders::candidates(const std::string& name) const {
  Candidates found;
  const fs::path asked{name};
  for (const Root& root : roots_) {
    const auto add = [&](const fs::path& path, std::vector<std::string>& paths) {
      std::string plain = path.lexically_normal().string();
      if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
      // "x/../../y" is outside, whatever x is.
      if (is_below(plain, root.path) || is_below(plain, root.given)) paths.push_back(plain);
    };
    if (asked.is_absolute()) {
      add(asked, found.others);
      continue;
    }
    add(root.path / asked, found.others);
    if (roots_.size() > 1 && is_below(name, root.label))
      add(root.path / fs::path{relative(name, root.label)}, found.labelled);
  }
  return found;
}

bool AllowedFolders::leads_out(const std::string& path) const {
  fs::path part{path};
  std::optional<std::string> real = real_path(path);
  while (!real && part.has_relative_path()) {
    part = part.parent_path();
    real = real_path(part.string());
  }
  return !real || root_of(*real) == nullptr;
}

OpenFile AllowedFolders::open(const std::string& name) const {
  if (name.empty() || name.find('\0') != name.npos) throw ToolError{kOutside};
  const auto [labelled, others] = candidates(name);
  if (labelled.empty() && others.empty()) throw ToolError{kOutside};
  const auto is_there = [](const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0;
  };
  for (const std::string& path : labelled)
    if (is_there(path)) return open_path(path);
  std::map<std::string, std::string> there;  // by what they lead to: how clients name it
  for (const std::string& path : others)
    if (is_there(path)) {
      const Root* const root = root_of(path);
      there.emplace(real_path(path).value_or(path), root == nullptr ? path : shown(*root, path));
    }
  if (there.size() > 1)
    throw ambiguous(name, there.size(), there.begin()->second, std::next(there.begin())->second);
  if (!there.empty()) return open_path(there.begin()->first);
  // Behind a link that leads out nobody learns what is there and what is not.
  for (const std::vector<std::string>& paths : {labelled, others})
    for (const std::string& path : paths)
      if (leads_out(path)) throw ToolError{kOutside};
  // A name alone: the only file of this name.
  std::vector<std::string> same, names;
  for (const Found& file : files()) {
    if (file.shown.ends_with("/" + name)) same.push_back(file.shown);
    names.push_back(file.shown);
  }
  if (same.size() == 1) return open(same.front());
  if (same.size() > 1) throw ambiguous(name, same.size(), same[0], same[1]);
  const auto near = nearest_names(name, names);
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
      // The folder itself, but not one whose name only begins the same.
      if (path == "/") continue;
      for (std::size_t at = 0; (at = sentence.find(path, at)) != sentence.npos; ++at)
        if (const std::size_t end = at + path.size();
            (at == 0 || !is_of_name(sentence[at - 1])) &&
            (end == sentence.size() || !is_of_name(sentence[end])))
          sentence.replace(at, path.size(), ".");
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

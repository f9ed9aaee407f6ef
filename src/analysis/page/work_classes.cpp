#include "analysis/page/work_classes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/page/category_colours.hpp"
#include "facts/kernel_names.hpp"
#include "facts/kernel_rules.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCategories = 9;

enum class Fixed : std::uint8_t { kOther, kCommunication, kCopy, kFill };
const PageClass kFixed[] = {{"other", std::string{kOtherColour}},
                            {"communication", "#cc3366", true},
                            {"copy", "#0b7a75", true},
                            {"fill", "#b08968"},
                            {"idle", "#d0d7de"}};
// In the order of HostClass.
const PageClass kHost[] = {{"launch", "#4c78a8"}, {"sync", "#d9534f"},   {"call", "#9aa5b1"},
                           {"op", "#7b93b8"},     {"module", "#6a9f86"}, {"annotation", "#9a86b5"}};

void categorize_ops(TableContext& context, std::span<const GpuJob> jobs, GpuCategories& found) {
  const LaunchTable& launches = context.ops().launches;
  OpCategories& categories = context.ops().categories;
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> by_position(launches.gpu_events().size(), kNone);
  for (const Launcher& op : launches.parts())
    for (const GpuPosition at : launches.own(op)) by_position[at] = op.category;
  std::vector<std::uint32_t> known;  // by category of an op
  const auto id_of = [&](std::uint32_t category) {
    if (known.size() <= category) known.resize(category + 1, kNone);
    if (known[category] == kNone)
      known[category] = found.id_of(category_name(categories.text(category)));
    return known[category];
  };
  for (const GpuJob& job : jobs) {
    const NodeId node = context.tree().node(job.gpu);
    std::uint32_t category = node.valid() ? by_position[launches.first_position(node)] : kNone;
    if (category == kNone) category = categories.of_text({}, context.trace.names()[job.gpu.row]);
    found.of_job.push_back(id_of(category));
  }
}

void categorize_hlo(TableContext& context, std::span<const GpuJob> jobs, GpuCategories& found) {
  found.of_job.assign(jobs.size(), found.id_of("other"));
  for (const JaxKernel& kernel : context.jax_kernels().all()) {
    const auto job = std::ranges::lower_bound(jobs, kernel.event, {}, &GpuJob::gpu);
    if (job != jobs.end() && job->gpu == kernel.event)
      found.of_job[static_cast<std::size_t>(job - jobs.begin())] = found.id_of(category_name(
          kernel.op != nullptr && !kernel.op->kind.empty() ? std::string_view{kernel.op->kind}
                                                           : kernel.category));
  }
}

void categorize_kernels(TableContext& context, std::span<const GpuJob> jobs, GpuCategories& found) {
  KernelCategories categories{context.trace, context.kernel_rules()};
  for (const GpuJob& job : jobs)
    found.of_job.push_back(
        found.id_of(category_name(categories.of(context.trace.names()[job.gpu.row]))));
}

// What is told apart whatever the category; each name is looked at once.
class FixedClasses {
 public:
  explicit FixedClasses(const PageSource& run)
      : run_{run}, is_fill_(run.facts.trace().string_count()) {}
  [[nodiscard]] Fixed of(EventId gpu) {
    const Trace& trace = run_.facts.trace();
    const GpuWork work = run_.facts.work().of(gpu);
    if (work == GpuWork::kCommunication) return Fixed::kCommunication;
    if (trace.category(gpu) == Category::kGpuMemset || is_fill(trace.names()[gpu.row]))
      return Fixed::kFill;
    return work == GpuWork::kCopy ? Fixed::kCopy : Fixed::kOther;
  }

 private:
  [[nodiscard]] bool is_fill(StringId name) {
    std::uint8_t& known = is_fill_[name.row];  // 0: not looked at, 1: no, 2: yes
    if (known == 0) known = name_kind(run_.facts.trace().text(name)) == NameKind::kFill ? 2 : 1;
    return known == 2;
  }
  const PageSource& run_;
  std::vector<std::uint8_t> is_fill_;  // by StringId
};

}  // namespace

std::uint32_t GpuCategories::id_of(std::string_view text) {
  const auto place = std::ranges::find(texts, text);
  const auto id = static_cast<std::uint32_t>(place - texts.begin());
  if (place == texts.end()) texts.emplace_back(text);
  return id;
}

GpuCategories gpu_categories(TableContext& context) {
  const std::span<const GpuJob> jobs = context.host_work().jobs();
  GpuCategories found;
  found.of_job.reserve(jobs.size());
  switch (context.kind) {
    case TraceKind::kPyTorch:
      categorize_ops(context, jobs, found);
      break;
    case TraceKind::kJax:
      categorize_hlo(context, jobs, found);
      break;
    case TraceKind::kRocmTimeline:
    case TraceKind::kRocprof:
    case TraceKind::kDatabase:
      categorize_kernels(context, jobs, found);
      break;
  }
  return found;
}

WorkClasses::WorkClasses(std::span<const PageSource> runs) : of_(runs.size()) {
  constexpr auto kOther = static_cast<std::size_t>(Fixed::kOther);
  std::map<std::string_view, std::int64_t> times;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const PageSource& source = runs[run];
    FixedClasses fixed_classes{source};
    std::vector<std::int64_t> by_category(source.categories.texts.size());
    for (std::size_t job = 0; job < source.host.jobs().size(); ++job) {
      const EventId gpu = source.host.jobs()[job].gpu;
      const auto fixed = static_cast<std::size_t>(fixed_classes.of(gpu));
      of_[run].push_back(static_cast<std::uint8_t>(fixed));
      if (fixed != kOther) continue;
      std::int64_t& ns = by_category[source.categories.of_job[job]];
      ns = plus_ns(ns, duration_of(source.facts.trace(), gpu));
    }
    for (std::size_t i = 0; i < by_category.size(); ++i)
      times[source.categories.texts[i]] =
          plus_ns(times[source.categories.texts[i]], by_category[i]);
  }
  times.erase("other");
  std::vector<std::pair<std::string_view, std::int64_t>> by_time{times.begin(), times.end()};
  std::erase_if(by_time, [](const auto& category) { return category.second <= 0; });
  std::ranges::stable_sort(by_time, std::ranges::greater{}, [](const auto& c) { return c.second; });
  if (by_time.size() > kMostCategories) by_time.resize(kMostCategories);
  for (const auto& [category, ns] : by_time)
    classes_.push_back({std::string{category}, std::string{category_colour(category)}});
  const std::size_t first_fixed = classes_.size();
  classes_.insert(classes_.end(), std::begin(kFixed), std::end(kFixed));
  first_host_ = classes_.size();
  classes_.insert(classes_.end(), std::begin(kHost), std::end(kHost));

  for (std::size_t run = 0; run < runs.size(); ++run) {
    const GpuCategories& categories = runs[run].categories;
    std::vector<std::uint8_t> class_of;
    for (const std::string& text : categories.texts) {
      const auto known = std::ranges::find(by_time, text, [](const auto& c) { return c.first; });
      class_of.push_back(static_cast<std::uint8_t>(known - by_time.begin()));
    }
    for (std::size_t job = 0; job < of_[run].size(); ++job) {
      std::uint8_t& kind = of_[run][job];
      kind = kind == kOther ? class_of[categories.of_job[job]]
                            : static_cast<std::uint8_t>(first_fixed + kind);
    }
  }
}

}  // namespace tracelens

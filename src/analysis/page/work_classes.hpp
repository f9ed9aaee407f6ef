// work_classes.hpp: what each GPU event of a run does, and the classes that the pictures of a page
// tell apart by colour.
//   const GpuCategories categories = gpu_categories(context);
//   WorkClasses classes{{&run, 1}};
//   slice.kind = classes.of(run, job);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/page.hpp>
#include <vector>

#include "analysis/host/host_work.hpp"
#include "analysis/tables/context.hpp"

namespace tracelens {

// By place among HostWork::jobs(). Of a PyTorch trace the category of the op, as the tables of ops
// have it; of others that of the kernel.
struct GpuCategories {
  std::vector<std::string> texts;
  std::vector<std::uint32_t> of_job;

  [[nodiscard]] std::uint32_t id_of(std::string_view text);
};
[[nodiscard]] GpuCategories gpu_categories(TableContext& context);

// Of host work there is one class each.
enum class HostClass : std::uint8_t { kLaunch, kSync, kCall, kOp, kModule, kAnnotation };

// One run of a page. Refers to what it is made of.
struct PageSource {
  const TraceFacts& facts;
  const HostWork& host;
  GpuCategories categories;
  std::string name = {};  // of several runs
};

// The nine categories of computing with most GPU time, one for the others, and the rest of the work.
class WorkClasses {
 public:
  explicit WorkClasses(std::span<const PageSource> runs);
  [[nodiscard]] std::uint8_t of(std::size_t run, std::size_t job) const { return of_[run][job]; }
  [[nodiscard]] std::uint8_t of(HostClass what) const {
    return static_cast<std::uint8_t>(first_host_ + static_cast<std::size_t>(what));
  }
  [[nodiscard]] const std::vector<PageClass>& all() const { return classes_; }

 private:
  std::vector<PageClass> classes_;
  std::size_t first_host_ = 0;
  std::vector<std::vector<std::uint8_t>> of_;  // by run and job
};

}  // namespace tracelens

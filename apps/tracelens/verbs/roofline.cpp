#include <tracelens/report.hpp>
#include <tracelens/roofline.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>

#include "verb.hpp"

namespace tracelens::app {

class RooflineVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    input_.declare(flags);
    input_.declare_ops(flags);
    flags
        .add("-o,--output", output_,
             "Where to write: the picture (.svg), or the points as a table (.csv, .xlsx, "
             ".html, .md, .json)")
        .show_default();
    add_csv_raw(flags, csv_raw_);
    flags.add("--gpu", choice_.name,
              "GPU whose limits are the roofs; by default the one the trace names");
    flags.add("--gpu-arch", choice_.file, "Its figures from a JSON file instead");
    flags.add("--models", models_, "Your own models, see docs/how-to/own-models.md");
    flags.add("--top", top_, "Ops named in the picture and listed here")
        .check(between(1, 1000))
        .show_default();
    flags.footer(
        "Examples:\n"
        "  tracelens roofline trace.json.gz                        table here, picture in "
        "roofline.svg\n"
        "  tracelens roofline trace.json.gz -o points.csv          every point\n"
        "  tracelens roofline trace.json.gz --gpu MI300X -o what_if.svg");
  }

  int run(Console& console) override {
    refuse_overwriting({output_}, {input_.path(), models_, choice_.file}, {input_.captures()});
    ModelSet own;
    if (!models_.empty()) own.add_file(models_);
    const bool picture = std::filesystem::path{output_}.extension() == ".svg";
    if (!picture) check_sink(output_, ".svg");
    (void)chosen_gpu(choice_, nullptr);  // an unknown one is told before the trace is read
    const Trace trace = input_.read_ops(console, false);
    const std::optional<Gpu> gpu = chosen_gpu(choice_, &trace);
    // What has no ops has no roofline on any GPU: that is said before a GPU is asked for.
    const Roofline roofline = measure_roofline(trace, gpu.value_or(Gpu{}), {.models = &own});
    if (roofline.points.empty()) throw Error{trace.source().name, why_no_points(trace)};
    if (!gpu)
      throw Error{trace.source().name,
                  fmt::format("names no GPU whose figures are known; choose one with --gpu: {}",
                              known_gpu_names())};
    const Table table = roofline_table(roofline);
    if (picture) {
      write_text_file(
          output_, roofline_svg(roofline, {.trace_name = trace.source().name, .labelled = top_}));
    } else {
      write_tables({&table, 1}, output_,
                   {.title = "Roofline on " + gpu->name,
                    .source = {trace.source().name},
                    .version = kVersion,
                    .csv_raw = csv_raw_});
    }
    console.show(table, top_, excerpt_of(table, "roofline").columns);
    if (picture)
      console.note(
          fmt::format("wrote {}: its points are {:.1f}% of the GPU time of all ops; {:.1f}% is of "
                      "ops without FLOPs or with unknown bytes, which have no place in it; {:.1f}% "
                      "has no model",
                      output_, roofline.placed(), roofline.covered() - roofline.placed(),
                      100 - roofline.covered()));
    else
      console.note(fmt::format("wrote {} points ({:.1f} % of the GPU time of all ops) to {}",
                               roofline.points.size(), roofline.covered(), output_));
    return kExitOk;
  }

 private:
  TraceInput input_;
  GpuChoice choice_;
  std::string models_, output_ = "roofline.svg";
  std::size_t top_ = 12;
  bool csv_raw_ = false;
};

template std::unique_ptr<Verb> make_verb<RooflineVerb>();

}  // namespace tracelens::app

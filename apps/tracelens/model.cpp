#include <tracelens/error.hpp>
#include <tracelens/version.hpp>

#include "analysis/gpu/gpu_choice.hpp"
#include "analysis/inspect/models.hpp"
#include "io/text_file.hpp"
#include "perf/registry/user_models.hpp"
#include "report/sinks/sink.hpp"
#include "verbs.hpp"

namespace tracelens::app {
namespace {

class ModelVerb : public Verb {
 public:
  void declare(CLI::App& verb) override {
    verb.add_option("op", op_, "Name of the op as traced, such as aten::mm");
    verb.add_option("--dims", texts_.dims,
                    "Shapes of the arguments as JSON, [] for what is no tensor");
    verb.add_option("--dtype", texts_.dtype,
                    "Element type of every tensor: bf16, fp16, fp32, fp8, ...; float by default");
    verb.add_option("--types", texts_.types, "Types of the arguments one by one, as JSON");
    verb.add_option("--strides", texts_.strides, "Strides as JSON; by default contiguous");
    verb.add_option("--concrete", texts_.concrete,
                    "Values of the scalar arguments as JSON; by default what the op assumes");
    verb.add_flag("--backward", backward_, "The work of the backward op linked to it instead");
    verb.add_option("--gpu", choice_.name, "Also the limits of this GPU");
    verb.add_option("--gpu-arch", choice_.file, "Its figures from a JSON file instead");
    verb.add_option("--models", models_, "Your own models, see docs/how-to/own-models.md");
    verb.add_flag("--list", list_, "Every op that has a model or a category, instead");
    verb.add_option("--family", family_, "With --list: only this family, such as GEMM");
    verb.add_option("--categories", categories_,
                    "extended, or reference: as the Python TraceLens has them")
        ->check(CLI::IsMember({"extended", "reference"}))
        ->capture_default_str();
    verb.add_option("-o,--output", output_, "Also write the table to a file");
    verb.footer(
        "Examples:\n"
        "  tracelens model aten::mm --dims '[[4096,8192],[8192,1024]]' --dtype bf16 --gpu H100\n"
        "  tracelens model --list --family GEMM\n"
        "  tracelens model --list -o models.csv --quiet");
  }

  int run(Console& console) override {
    const Edition edition = categories_ == "reference" ? Edition::kReference : Edition::kExtended;
    if (!output_.empty()) check_sink(output_);
    if (list_) {
      const Table table = known_models(edition, family_);
      write(table);
      console.show(table, 0);
      return kExitOk;
    }
    if (op_.empty()) throw Error{"model", "name an op, or ask for all of them with --list"};
    if (texts_.dims.empty() && models_.empty())
      throw Error{"model", "give the shapes of the op's arguments with --dims '[[8,4],[4,2]]'"};
    perf::UserModels own;
    if (!models_.empty()) own = perf::read_user_models(io::read_text_file(models_), models_);
    const std::optional<perf::Gpu> gpu = chosen_gpu(choice_, nullptr);
    const Signature args = model_arguments(op_, texts_);
    const Table table =
        model_answer({.name = op_, .args = args}, {edition, &own}, gpu ? &*gpu : nullptr,
                     backward_ ? perf::Pass::kBackward : perf::Pass::kForward);
    write(table);
    console.show(as_card(table), 0);
    return table.has_column("reason") ? kExitCheckFailed : kExitOk;
  }

 private:
  void write(const Table& table) const {
    if (!output_.empty())
      write_tables({&table, 1}, output_, {.title = table.description(), .version = kVersion});
  }

  std::string op_, models_, family_, output_, categories_ = "extended";
  ArgumentTexts texts_;
  GpuChoice choice_;
  bool backward_ = false, list_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_model_verb() { return std::make_unique<ModelVerb>(); }

}  // namespace tracelens::app

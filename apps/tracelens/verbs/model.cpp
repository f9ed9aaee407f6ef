#include <tracelens/error.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model_tables.hpp>
#include <tracelens/sinks.hpp>
#include <tracelens/version.hpp>

#include "verb.hpp"

namespace tracelens::app {

class ModelVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags.add("op", op_, "Name of the op as traced, such as aten::mm");
    flags.add("--dims", texts_.dims, "Shapes of the arguments as JSON, [] for what is no tensor");
    flags.add("--dtype", texts_.dtype,
              "Element type of every tensor: bf16, fp16, fp32, fp8, ...; float by default");
    flags.add("--types", texts_.types, "Types of the arguments one by one, as JSON");
    flags.add("--strides", texts_.strides, "Strides as JSON; by default contiguous");
    flags.add("--concrete", texts_.concrete,
              "Values of the scalar arguments as JSON; by default what the op assumes");
    flags.add("--backward", backward_, "The work of the backward op linked to it instead");
    flags.add("--gpu", choice_.name, "Also the limits of this GPU");
    flags.add("--gpu-arch", choice_.file, "Its figures from a JSON file instead");
    flags.add("--models", models_, "Your own models, see docs/how-to/own-models.md");
    flags.add("--list", list_, "Every op that has a model or a category, instead");
    flags.add("--family", family_, "With --list: only this family, such as GEMM");
    flags
        .add("--categories", categories_,
             "extended, or reference: as the Python TraceLens has them")
        .check(one_of({"extended", "reference"}))
        .show_default();
    flags.add("-o,--output", output_, "Also write the table to a file");
    add_csv_raw(flags, csv_raw_);
    flags.footer(
        "Examples:\n"
        "  tracelens model aten::mm --dims '[[4096,8192],[8192,1024]]' --dtype bf16 --gpu H100\n"
        "  tracelens model --list --family GEMM\n"
        "  tracelens model --list -o models.csv --quiet");
  }

  int run(Console& console) override {
    const Edition edition = categories_ == "reference" ? Edition::kReference : Edition::kExtended;
    refuse_overwriting({output_}, {models_, choice_.file});
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
    ModelSet own;
    if (!models_.empty()) own.add_file(models_);
    const std::optional<Gpu> gpu = chosen_gpu(choice_, nullptr);
    const Signature args = model_arguments(op_, texts_);
    const Table table = model_answer(
        {.name = op_, .args = args}, gpu ? &*gpu : nullptr,
        {.pass = backward_ ? Pass::kBackward : Pass::kForward, .edition = edition, .models = &own});
    write(table);
    console.show(as_card(table), 0);
    return table.has_column("reason") ? kExitCheckFailed : kExitOk;
  }

 private:
  void write(const Table& table) const {
    if (!output_.empty())
      write_tables({&table, 1}, output_,
                   {.title = table.description(), .version = kVersion, .csv_raw = csv_raw_});
  }

  std::string op_, models_, family_, output_, categories_ = "extended";
  ArgumentTexts texts_;
  GpuChoice choice_;
  bool backward_ = false, list_ = false, csv_raw_ = false;
};

template std::unique_ptr<Verb> make_verb<ModelVerb>();

}  // namespace tracelens::app

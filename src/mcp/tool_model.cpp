// model: what one call of an op should cost, without a trace.
#include <fmt/format.h>

#include <tracelens/error.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model.hpp>
#include <tracelens/model_tables.hpp>
#include <tracelens/roofline.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kModelArguments[] = {
    {.name = "op", .description = "such as aten::mm", .is_required = true},
    {.name = "dims",
     .kind = ArgumentKind::kAny,
     .description = "such as [[8,4],[4,2]]",
     .is_required = true,
     .is_list = true,
     .most = 64},
    {.name = "dtype", .description = "such as bf16", .is_required = true},
    {.name = "gpu", .description = "such as H100", .is_required = true},
    {.name = "concrete", .kind = ArgumentKind::kAny, .is_list = true, .most = 64},
};

// Sentences about the flags of the verb, as arguments of the tool.
std::string for_model(std::string sentence) {
  for (const std::string_view flag : {"--dims", "--dtype", "--concrete", "--gpu"})
    for (std::size_t at = 0; (at = sentence.find(flag, at)) != sentence.npos;)
      sentence.erase(at, 2);
  return clean_sentence(sentence);
}

Value run_model(Call& call) {
  const std::string& op = call.text("op");
  ArgumentTexts texts;
  texts.dims = compact_json(call.value("dims"));
  texts.dtype = call.text("dtype");
  if (!call.value("concrete").is_null()) texts.concrete = compact_json(call.value("concrete"));
  try {
    const Gpu gpu = *chosen_gpu({.name = call.text("gpu"), .file = {}}, nullptr);
    const Signature args = model_arguments(op, texts);
    const OpCall asked{.name = op, .args = args};
    const Table table = model_answer(asked, &gpu);
    if (table.has_column("reason"))
      throw ToolError{fmt::format("no model answers for {}: {}", in_quotes(op),
                                  clean_sentence(table.column("reason").texts().front()))};
    Answer answer{.grid = grid_of(table), .total = 1};
    if (const OrReason<Work> work = op_work(asked); work)
      if (const auto roof = tracelens::roofline(*work, gpu, Edition::kExtended)) {
        answer.grid.columns.push_back({.name = "compute_us", .unit = "us"});
        answer.grid.columns.push_back({.name = "memory_us", .unit = "us"});
        answer.grid.rows[0].emplace_back(roof->compute_us);
        answer.grid.rows[0].emplace_back(roof->memory_us);
      }
    for (AnswerColumn& column : answer.grid.columns) {
      column.is_extra = column.name.starts_with("param_");
      column.from_trace = false;
    }
    return call.result(std::move(answer));
  } catch (const Error& error) {
    throw ToolError{for_model(error.what())};
  }
}

}  // namespace

const Tool kModelTool{
    .name = "model",
    .title = "Cost of an op",
    .description =
        "FLOPs, bytes, bound and best time of one call of an op on a GPU. Needs no trace. Use "
        "it to judge a shape or another GPU.",
    .arguments = {kModelArguments, page_arguments()},
    .more_output = no_more_output,
    .run = run_model};

}  // namespace tracelens::mcp

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/query.hpp>

#include "memory_limit.hpp"
#include "query_output.hpp"
#include "query_shell.hpp"
#include "verb.hpp"

namespace tracelens::app {

class QueryVerb : public Verb {
 public:
  void declare(Flags& flags) override {
    flags
        .add("words", words_,
             "Traces, a folder of ranks, or files written by -o report.db; then the SQL")
        .required();
    flags.add("-f,--file", sql_file_, "Run the statements of a file").check(existing_file());
    flags.add("-i,--interactive", interactive_, "A shell: type statements, .help lists commands");
    flags.add("--schema", schema_,
              "Show the tables, or the columns of those that are named behind it, and run nothing");
    flags.add("-o,--output", output_, "Write the rows there; the format follows the name");
    flags
        .add("--format", format_,
             "table, csv, json, jsonl or md; by default a table on a terminal and CSV in a pipe")
        .check(one_of(query_format_names()));
    flags.add("--rows", rows_, "At most this many rows of each result").check(count_from(1));
    flags.add("--param", params_, "A value for :name in the SQL: name=value").repeatable();
    flags.add("--timeout", timeout_s_, "Stop a statement after this many seconds; 0: never")
        .check(number_from(0))
        .show_default();
    flags.add("--memory", memory_mb_, "Memory for sorting and temporary tables, in MB")
        .check(count_from(1))
        .show_default();
    flags.add("--gpu", options_.gpu, "As for report: GPU whose peaks the roofline columns use");
    flags.add("--gpu-arch", options_.gpu_file, "The same from a JSON file").check(existing_file());
    flags.add("--models", options_.models_file, "As for report: your own op models");
    flags.add("--kernel-rules", options_.kernel_rules_file,
              "As for report: your own kernel-name rules");
    flags.add("--categories", categories_, "As for report: extended or reference")
        .check(one_of({"extended", "reference"}))
        .show_default();
    flags.add("--include-unlinked", options_.include_unlinked,
              "As for report: count GPU events whose launch is not in the trace");
    flags.add("--link-by-correlation", options_.link_by_correlation,
              "As for report: link GPU events to calls that share their correlation id");
    flags.add("--recompute", options_.recompute,
              "As for report: tell recomputed activations apart");
    captures_.declare(flags);
    pseudo_ops_.declare(flags);
    flags.footer(
        "Examples:\n"
        "  tracelens query trace.json.gz \"SELECT name, sum(dur)/1e6 AS ms FROM kernel GROUP BY "
        "name ORDER BY ms DESC LIMIT 10\"\n"
        "  tracelens query trace.json.gz \"SELECT * FROM gpu_timeline\" --format md\n"
        "  tracelens query trace.json.gz --schema kernel_summary   what its columns mean\n"
        "  tracelens query trace.json.gz -i                        a shell with completion\n"
        "  tracelens query a.json.gz b.json.gz \"SELECT count(*) FROM slice UNION ALL SELECT "
        "count(*) FROM t2.slice\"\n"
        "  tracelens report trace.json.gz -o report.db && tracelens query report.db \"SELECT ...\"\n"
        "  tracelens query trace.json.gz -f questions.sql -o answers.csv --param limit=20");
  }

  int run(Console& console) override {
    sort_words();
    captures_.check(inputs_.size());
    refuse_overwriting({output_}, with(inputs_, sql_file_), captures_.all());
    if (categories_ == "reference") options_.edition = Edition::kReference;
    check_options(options_);
    std::vector<QueryParam> params;
    for (const std::string& param : params_) params.push_back(parse_query_param(param));
    const QueryFormat format = chosen_format();
    std::size_t memory = memory_mb_ << 20;
    if (const auto limit = memory_limit()) memory = std::min<std::size_t>(memory, *limit);
    QuerySession session{{.seconds = timeout_s_, .memory_bytes = memory}};
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      add(session, inputs_[i], captures_.of(i), console);
    try {
      if (schema_) return show_schema(session, console);
      if (interactive_) return run_shell(session, {format, rows_, params}, console);
      run_sql(session, format, params, console);
    } catch (const QueryError& error) {
      tell_query_error(error, console);
      return kExitBadInput;
    }
    return kExitOk;
  }

 private:
  static std::vector<std::string> with(std::vector<std::string> words, const std::string& word) {
    words.push_back(word);
    return words;
  }

  // Files first; what is none is the SQL, or with --schema a table.
  void sort_words() {
    for (std::string& word : words_) {
      std::error_code ignored;
      const bool is_input = word == "-" || std::filesystem::exists(word, ignored) ||
                            (inputs_.empty() && sql_.empty());
      if (is_input && sql_.empty())
        inputs_.push_back(std::move(word));
      else if (schema_)
        tables_.push_back(std::move(word));
      else if (sql_.empty())
        sql_ = std::move(word);
      else
        throw UsageError{fmt::format("{}: there is no such file, and there is SQL already", word)};
    }
    if (!sql_.empty() && (interactive_ || !sql_file_.empty()))
      throw UsageError{fmt::format("{}: no such file; with -f and -i only traces are named", sql_)};
    if (!sql_.empty() || !sql_file_.empty() || schema_) return;
    if (::isatty(STDIN_FILENO) == 1) interactive_ = true;
    if (!interactive_) throw UsageError{"expected SQL behind the trace, or -f, -i or --schema"};
  }

  [[nodiscard]] QueryFormat chosen_format() const {
    if (!format_.empty()) return query_format(format_);
    if (!output_.empty()) {
      if (const auto format = format_of_file(output_)) return *format;
      throw UsageError{fmt::format(
          "{}: expected a name ending in .csv, .json, .jsonl, .md or .txt, or --format", output_)};
    }
    return ::isatty(STDOUT_FILENO) == 1 || interactive_ ? QueryFormat::kTable : QueryFormat::kCsv;
  }

  void add(QuerySession& session, const std::string& input, const std::string& captures,
           const Console& console) const {
    if (is_database(input)) return session.add_database(input);
    std::error_code ignored;
    if (std::filesystem::is_directory(input, ignored)) {
      const std::vector<RankFile> files = find_rank_files({input});
      if (files.size() > 1)
        return session.add(make_collective_report(files, {.edition = options_.edition}).value());
    }
    Trace trace =
        stitched(read_with_warnings(input, console), captures, {.python_frames = true}, console);
    if (options_.edition == Edition::kExtended) trace = pseudo_ops_.put_into(std::move(trace));
    session.add(std::make_shared<const Trace>(std::move(trace)), options_);
  }

  int show_schema(QuerySession& session, const Console& console) const {
    if (tables_.empty()) console.print(schema_text(session, {}, console.style()));
    for (const std::string& table : tables_)
      console.print(schema_text(session, table, console.style()));
    return kExitOk;
  }

  void run_sql(QuerySession& session, QueryFormat format, std::span<const QueryParam> params,
               const Console& console) const {
    std::string text;
    QueryOutput output{format, rows_, console.style(), [&](std::string_view part) {
                         if (output_.empty())
                           console.print(part);
                         else
                           text += part;
                       }};
    const InterruptGuard guard{session};
    session.run(sql_file_.empty() ? sql_ : read_text_file(sql_file_), output.rows(), params);
    if (!output_.empty()) write_text_file(output_, text);
  }

  std::vector<std::string> words_, inputs_, tables_, params_;
  std::string sql_, sql_file_, output_, format_, categories_ = "extended";
  bool interactive_ = false, schema_ = false;
  std::size_t rows_ = 0, memory_mb_ = 1024;
  double timeout_s_ = 60;
  CaptureFolders captures_;
  PseudoOps pseudo_ops_;
  ReportOptions options_;
};

template std::unique_ptr<Verb> make_verb<QueryVerb>();

}  // namespace tracelens::app

// one_table TRACE [NAME]: one table of the report and nothing else computed; ops_summary unless named.
#include <cstdio>
#include <optional>
#include <string>
#include <tracelens/tracelens.hpp>

using namespace tracelens;

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) throw Error{"one_table", "name a trace, and a table if you like"};
  const Trace trace = read_trace(argv[1]);
  const std::string name = argc == 3 ? argv[2] : "ops_summary";
  const std::optional<Table> table = make_table(trace, name);
  if (!table) throw Error{name, "the trace does not have what this table needs"};
  std::fputs(render_terminal(*table, {.max_rows = 5}).c_str(), stdout);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}

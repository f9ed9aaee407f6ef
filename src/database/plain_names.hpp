// plain_names.hpp: the names of tables and columns in SQL.
//   plain_name("Kernel duration (µs)_sum")        // "kernel_duration_us_sum"
//   plain_name("TB/s_mean")                        // "tb_per_s_mean"
#pragma once

#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens::db {

// Lower case; µ is u, % is pct, / is per; every other run of what is no letter or digit is one _,
// none at the ends.
[[nodiscard]] std::string plain_name(std::string_view title);
// Of all columns, each different from the others: what repeats gets _2.
[[nodiscard]] std::vector<std::string> plain_names(const Table& table);

}  // namespace tracelens::db

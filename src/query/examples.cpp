#include <tracelens/query.hpp>

namespace tracelens {
namespace {

constexpr QueryExample kExamples[] = {
    {"How busy is the GPU?",
     "SELECT type, time_ms, percent FROM gpu_timeline WHERE type IN ('busy_time', 'idle_time', "
     "'total_time')"},
    {"Which kernels cost most?",
     "SELECT name, count(*) AS n, sum(dur)/1e3 AS us FROM kernel GROUP BY name ORDER BY us DESC "
     "LIMIT 10"},
    {"Which ops cost most GPU time?",
     "SELECT op, count(*) AS gpu_events, sum(dur)/1e3 AS us FROM gpu_event GROUP BY op ORDER BY us "
     "DESC LIMIT 10"},
    {"How long was the GPU idle, and how long at a time?",
     "WITH e AS (SELECT ts, ts+dur AS te FROM gpu_event WHERE launch_id IS NOT NULL), m AS (SELECT "
     "ts, max(te) OVER (ORDER BY ts, te ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS pe "
     "FROM e) SELECT count(*) AS gaps, sum(ts-pe)/1e6 AS ms, max(ts-pe)/1e6 AS longest_ms FROM m "
     "WHERE ts > pe"},
    {"What did the host do meanwhile?",
     "SELECT host_state, host_name, count(*) AS gaps, sum(dur)/1e6 AS ms FROM gpu_gap GROUP BY 1, 2 "
     "ORDER BY ms DESC LIMIT 10"},
    {"What has no launch in the trace?",
     "SELECT launch_id IS NULL AS unlinked, count(*) AS n, sum(dur)/1e6 AS ms FROM gpu_event GROUP "
     "BY 1"},
    {"How many kernels are short?",
     "SELECT count(*) AS n, sum(dur)/1e3 AS us FROM kernel WHERE dur < 10000"},
    {"How much GPU time has each step?",
     "SELECT s.step, count(*) AS n, sum(l.gpu_dur)/1e6 AS ms FROM launch l JOIN step s ON l.call_ts "
     ">= s.ts AND l.call_ts < s.ts + s.dur GROUP BY 1"},
    {"How long do launches take to reach the GPU?",
     "SELECT call, count(*) AS n, avg(latency)/1e3 AS mean_us, max(latency)/1e3 AS max_us FROM "
     "launch GROUP BY call ORDER BY n DESC"},
    {"Which shapes of GEMM cost most?",
     "SELECT name, input_dims, operation_count, kernel_time_us_sum, tflops_per_s_mean FROM "
     "unified_perf_summary WHERE op_category = 'GEMM' ORDER BY kernel_time_us_sum DESC LIMIT 5"},
    {"Where does the longest kernel come from?",
     "SELECT name FROM ancestor_slice((SELECT launch_id FROM kernel ORDER BY dur DESC LIMIT 1)) "
     "ORDER BY depth DESC"},
    {"Which threads run an op (as Perfetto asks)?",
     "SELECT thread.name AS thread_name, count(*) AS n FROM slice JOIN thread_track ON "
     "slice.track_id = thread_track.id JOIN thread USING(utid) WHERE slice.name = 'aten::mm' GROUP "
     "BY thread_name"},
    {"What is in the file?",
     "SELECT category, count(*) AS n FROM slice GROUP BY category ORDER BY n DESC"},
    {"How fast are copies?",
     "SELECT name, count(*) AS n, sum(bytes)/1e6 AS mb, sum(bytes)*1.0/sum(dur) AS gb_per_s FROM "
     "gpu_event WHERE kind = 'memcpy' GROUP BY name"},
    {"How much memory at the peak?",
     "SELECT max(allocated), max(reserved) FROM memory WHERE device_type <> 0"},
    {"Which nn.Modules cost most?",
     "SELECT type, count(*) AS calls, sum(gpu_ns)/1e6 AS ms FROM module GROUP BY type ORDER BY ms "
     "DESC LIMIT 10"},
};

}  // namespace

std::span<const QueryExample> query_examples() { return kExamples; }

}  // namespace tracelens

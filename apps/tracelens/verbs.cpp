#include "verbs.hpp"

namespace tracelens::app {

// A class is declared by being named here; its file in verbs/ or scripts/ defines it.
static constexpr VerbKind kVerbs[] = {
    {"report", "Where the GPU time went: timeline, idle time, kernels, as tables",
     make_verb<class ReportVerb>},
    {"diagnose", "What slows the run down, what each cause costs, and what to try",
     make_verb<class DiagnoseVerb>},
    {"roofline", "How close each op comes to the limits of the GPU, as a picture and a table",
     make_verb<class RooflineVerb>},
    {"critpath", "What the run is bound by: its critical path, also as an overlay for a viewer",
     make_verb<class CritpathVerb>},
    {"whatif", "How long a step would take with faster ops, without waits, on another GPU",
     make_verb<class WhatifVerb>},
    {"model", "What an op has to compute and move, and the best possible time, without a trace",
     make_verb<class ModelVerb>},
    {"collectives", "Many ranks: who waits for whom, and what communication costs",
     make_verb<class CollectivesVerb>},
    {"fuse", "The traces of many ranks as one file for a trace viewer", make_verb<class FuseVerb>},
    {"split", "A long serving run as small traces: windows of steps, phases, the steady state",
     make_verb<class SplitVerb>},
    {"compare", "What changed between runs: reports or traces side by side, with gates for CI",
     make_verb<class CompareVerb>},
    {"diff", "Two traces aligned call by call: what changed, what took the place of what",
     make_verb<class DiffVerb>},
    {"tree", "The call tree with GPU time: modules, ops, kernels", make_verb<class TreeVerb>},
    {"replay", "Ops of a trace as a script that runs and times them again",
     make_verb<class ReplayVerb>},
    {"query", "SQL over a trace, its call tree and the tables of its report",
     make_verb<class QueryVerb>},
    {"mcp", "A server for agents: traces, tables and SQL by the Model Context Protocol",
     make_verb<class McpVerb>},
    {"info", "What is in a trace: GPUs, threads, steps, counts", make_verb<class InfoVerb>},
    {"check", "Is a trace good enough to analyse, and what is missing", make_verb<class CheckVerb>},
    {"convert", "Any trace as Chrome JSON, for Perfetto and chrome://tracing",
     make_verb<class ConvertVerb>},
};

// The build makes a link to the program for each name that stands here.
static constexpr ScriptKind kScripts[] = {
    {"TraceLens_generate_perf_report_pytorch", make_verb<class PytorchReportScript>},
    {"TraceLens_generate_perf_report_pytorch_inference", make_verb<class InferenceReportScript>},
    {"TraceLens_generate_perf_report_jax", make_verb<class JaxReportScript>},
    {"TraceLens_jax_analysis_perf_reporting", make_verb<class JaxReportScript>},  // its old name
    {"TraceLens_generate_multi_rank_collective_report_pytorch",
     make_verb<class CollectiveReportScript>},
    {"TraceLens_generate_perf_report_rocprof", make_verb<class RocprofScript>},
    {"TraceLens_generate_perf_report_pftrace_hip_activity", make_verb<class ActivityScript>},
    {"TraceLens_generate_perf_report_pftrace_hip_api", make_verb<class ApiScript>},
    {"TraceLens_generate_perf_report_pftrace_memory_copy", make_verb<class MemoryCopyScript>},
    {"TraceLens_generate_perf_report_genesis", make_verb<class GenesisScript>},
    {"TraceLens_split_inference_trace", make_verb<class SplitScript>},
    {"TraceLens_compare_perf_reports_pytorch", make_verb<class CompareScript>},
};

std::span<const VerbKind> all_verbs() { return kVerbs; }
std::span<const ScriptKind> all_scripts() { return kScripts; }

}  // namespace tracelens::app

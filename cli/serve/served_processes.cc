// cli/serve/served_processes.cc: processes are described from /proc anew for each request, because an exec changes a
// process's name, and a process that has ended is no longer served.
#include "cli/serve/served_processes.h"

#include "cli/base/glob.h"
#include "cli/base/text.h"
#include "cli/target/proc_file.h"
#include "cli/target/process_facts.h"
#include "cli/target/process_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace heapprof::cli {

namespace {

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : escape_controls(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

// The number of bytes that a line such as "VmRSS: 1234 kB" gives.
uint64_t bytes_of(const std::string& status, const std::string& name) {
  const size_t at = status.find("\n" + name + ":");
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + name.size() + 2, nullptr, 10) << 10;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> ServedProcess::labels() const {
  std::vector<std::pair<std::string, std::string>> labels = {{"pid", std::to_string(pid)}, {"command", program}};
  if (!rank.empty()) labels.emplace_back("rank", rank);
  if (!pod.empty()) labels.emplace_back("pod", pod);
  return labels;
}

ServedProcess describe_process(pid_t pid) {
  ServedProcess process;
  process.pid = pid;
  process.command = process_command(pid);
  process.program = program_name(process_executable(pid), process.command, process_comm(pid));
  process.rank = rank_text(process_job(pid));
  if (process.rank == "none") process.rank.clear();
  process.pod = process_pod(pid);
  return process;
}

std::vector<ServedProcess> describe_processes(const std::vector<pid_t>& pids, const std::vector<std::string>& names) {
  std::vector<ServedProcess> processes;
  for (const pid_t pid : pids) {
    ServedProcess process = describe_process(pid);
    if (process.command.empty()) continue;  // it has ended
    const auto matches = [&](const std::string& name) { return glob_matches(name, process.program); };
    if (names.empty() || std::any_of(names.begin(), names.end(), matches)) processes.push_back(std::move(process));
  }
  return processes;
}

ResidentMemory resident_memory(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  return {bytes_of(status, "VmRSS"), bytes_of(status, "VmHWM")};
}

std::string index_page(const std::vector<ServedProcess>& processes) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>heapprof</title>\n"
      "<style>body{font:15px/1.5 sans-serif;margin:2em}td{padding:0 1.5em 0 0}</style></head><body>\n"
      "<h1>heapprof</h1>\n<table>\n";
  const auto add_row = [&page](const std::string& front, const std::string& what, const std::string& query) {
    page += fmt::format(
        "<tr><td>{1}</td><td><a href=\"{0}/debug/pprof/heap\">heap</a></td><td><a "
        "href=\"{0}/debug/pprof/allocs\">allocs</a></td><td><a href=\"{0}/debug/pprof/heap?debug=1\">as "
        "text</a></td><td><a href=\"{0}/debug/pprof/allocs?seconds=10\">allocs of 10 s</a></td>{2}</tr>\n",
        front, what, query);
  };
  if (processes.size() > 1) add_row("", fmt::format("all {} processes", processes.size()), "");
  for (const ServedProcess& process : processes) {
    std::string words;
    for (const auto& [key, text] : process.labels()) {
      if (key == "rank" || key == "pod") words += fmt::format(" {} {}", key, text);
    }
    const std::string front = fmt::format("/pid/{}", process.pid);
    add_row(front, fmt::format("{} {}{}", process.pid, in_html(process.program), in_html(words)),
            fmt::format("<td><a href=\"{}/profile.json\">profile.json</a></td>", front));
  }
  if (processes.empty()) page += "<tr><td>no process is profiled just now</td></tr>\n";
  page += "</table>\n<p><a href=\"/metrics\">metrics</a></p>\n</body></html>\n";
  return page;
}

}  // namespace heapprof::cli

// cli/commands/estimate.cc: checks the flags first, then measures the device, which may take seconds, and then compares
// the need with the free memory.
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/commands/commands.h"
#include "cli/flags/estimate_options.h"
#include "cli/flags/estimate_words.h"
#include "cli/target/agent_files.h"
#include "cli/target/device_memory.h"
#include "cli/write/estimate/formats.h"

#include <fmt/format.h>
#include <unistd.h>

namespace heapprof::cli {
namespace {

struct EstimateCommand {
  EstimateFlags what;
  std::string device;
  uint64_t limit_bytes = kNotGiven;
  uint64_t reserve_bytes = kNotGiven;
  EstimateFormat format = estimate_formats()[0];
  ColorMode color = ColorMode::kAuto;
};

// Checks that the flags fit together. Returns the device's number, if one was named.
Result<std::optional<uint64_t>> check_memory_flags(const EstimateCommand& command) {
  const bool has_limit = command.limit_bytes != kNotGiven;
  if (has_limit && !command.device.empty()) return flags_exclude_each_other("--device", "--limit");
  if (!has_limit && command.device.empty() && command.reserve_bytes != kNotGiven)
    return flag_needs_another("--reserve", "--device cuda:0");
  if (command.device.empty()) return std::optional<uint64_t>();
  const Result<uint64_t> index = parse_cuda_device(command.device);
  if (!index) return index.problem();
  return std::optional<uint64_t>(*index);
}

// The available memory, if that was asked for.
Result<std::optional<MemoryAtHand>> find_memory(const EstimateCommand& command, std::optional<uint64_t> device) {
  MemoryAtHand memory;
  memory.reserve_bytes = command.reserve_bytes == kNotGiven ? 0 : command.reserve_bytes;
  if (!device && command.limit_bytes == kNotGiven) return std::optional<MemoryAtHand>();
  if (!device) {
    memory.free_bytes = command.limit_bytes;
    return std::optional<MemoryAtHand>(memory);
  }
  const Result<AgentFiles> files = find_agent_files();
  const Result<DeviceMemory> measured = measure_device(files ? files->nvml : "", *device);
  if (!measured) return measured.problem();
  memory.device = fmt::format("cuda:{}", *device);
  memory.product = measured->product;
  memory.free_bytes = measured->free_bytes;
  memory.total_bytes = measured->total_bytes;
  memory.context_bytes = measured->context_bytes;
  return std::optional<MemoryAtHand>(memory);
}

Result<int> estimate(const EstimateCommand& command) {
  const Result<EstimateInput> input = interpret_estimate(command.what);
  if (!input) return input.problem();
  const Result<std::optional<uint64_t>> device = check_memory_flags(command);
  if (!device) return device.problem();
  if (const Result<EstimateResult> judged = judge_estimate(*input, std::nullopt); !judged) return judged.problem();
  const Result<std::optional<MemoryAtHand>> memory = find_memory(command, *device);
  if (!memory) return memory.problem();
  const Result<EstimateResult> result = judge_estimate(*input, *memory);
  if (!result) return result.problem();
  const int code = print_output(command.format.render(*result, inspect_terminal(STDOUT_FILENO, command.color)));
  return code != 0 || result->fits() ? code : 1;
}

}  // namespace

CommandText estimate_text() {
  return {"estimate",
          "heapprof estimate tensor SHAPE|attention|kv-cache|weights N [OPTIONS]",
          "Say how much memory tensors will take, and whether they fit.",
          {"heapprof estimate tensor 32x4096 --dtype bf16", "heapprof estimate weights 7B --dtype bf16 --device cuda:0",
           "heapprof estimate attention --batch 8 --heads 32 --seq 4096 \\",
           "  --head-dim 128 --dtype f16 --limit 24GiB --reserve 1GiB",
           "heapprof estimate kv-cache --layers 32 --kv-heads 8 --head-dim 128 \\",
           "  --tokens 8192 --batch 16 --page-size 16 --dtype fp8"},
          {"exit status: 0, 1 if it does not fit, 2 for wrong usage, 3 if the device", "cannot be measured",
           "manual: man heapprof-estimate"}};
}

int estimate_main(const std::vector<std::string>& arguments) {
  EstimateCommand target;
  Options options(estimate_text());
  declare_estimate_options(&options, &target.what);
  const char* room = "does it fit";
  options.add_text({"--device", "DEVICE", room, "into what is free on it: cuda:0, measured"}, &target.device);
  options.add_size({"--limit", "SIZE", room, "into SIZE, believed to be free"}, 1, &target.limit_bytes);
  options.add_size({"--reserve", "SIZE", room, "of which SIZE is to stay free"}, 0, &target.reserve_bytes);
  Choices<EstimateFormat> formats;
  for (const EstimateFormat& known : estimate_formats()) formats.emplace_back(known.name, known);
  options.add_choice<EstimateFormat>({"--format", "FORMAT", "output", "text (default) or json"}, formats,
                                     &target.format);
  options.add_color(&target.color);
  Result<Done> parsed = refuse_negative(arguments);
  if (parsed) parsed = options.parse(arguments);
  if (parsed && options.help()) return print_output(*options.help());
  const Result<int> code = parsed ? estimate(target) : Result<int>(parsed.problem());
  if (code) return *code;
  print_problem(code.problem(), target.color);
  return code.problem().exit_code;
}

}  // namespace heapprof::cli

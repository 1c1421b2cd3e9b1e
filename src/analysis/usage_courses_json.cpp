#include <sabath/analysis/usage_courses.hpp>
#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace sabath::analysis {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int finest = -7;  ///< of seconds: about 8 ms, less than two samples are apart

constexpr const char* busy_cpus = "busy CPUs";
constexpr const char* memory = "memory";
constexpr const char* gpu_use = "GPU use";
constexpr const char* gpu_memory = "GPU memory";
constexpr const char* power = "power";

std::optional<double> number_in(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// One file of samples, of a node or of a step.
class Samples {
 public:
  Samples(std::map<std::string, report::Course>& courses, double begin_s)
      : courses_(courses), begin_s_(begin_s) {}

  void take(const json& sample) {
    const auto t_s = number_in(sample, "t_s");
    if (!t_s) return;
    const double at = begin_s_ + *t_s;
    if (const auto cpu_s = number_in(sample, "cpu_s")) {
      if (const auto rate = cpu_s_.rate(*t_s, *cpu_s))
        add(busy_cpus, begin_s_ + rate->at, rate->value);
    }
    // Between stages and behind the last one there is nothing that could have memory.
    if (const auto rss = number_in(sample, "rss_bytes"); rss && *rss > 0)
      add(memory, at, *rss / mebibyte);
    take_power(sample, *t_s, take_gpus(sample, at));
    before_s_ = *t_s;
  }
  double end_s() const { return begin_s_ + before_s_; }

 private:
  struct Rate {
    double at = 0;  ///< the middle of the time that it is of
    double value = 0;
  };
  /// A counter that only grows from zero; samples may lack it.
  struct Counter {
    double t_s = 0;
    double value = 0;

    std::optional<Rate> rate(double now_s, double now) {
      const Counter before = *this;
      *this = {now_s, now};
      if (!(now_s > before.t_s)) return std::nullopt;
      return Rate{(before.t_s + now_s) / 2, (now - before.value) / (now_s - before.t_s)};
    }
  };

  static constexpr double mebibyte = 1024.0 * 1024;
  static constexpr double gibibyte = 1024.0 * 1024 * 1024;

  void add(const char* what, double at, double value) {
    courses_.try_emplace(what, finest).first->second.add(at, value);
  }

  /// The energy of GPUs follows from their power.
  static std::optional<double> processor_joules(const json& sample) {
    std::optional<double> joules;
    const auto found = sample.find("energy_j");
    if (found == sample.end() || !found->is_object()) return joules;
    for (const auto& [device, value] : found->items()) {
      const bool whole = device.find('/') == std::string::npos || device.ends_with("/dram");
      if (whole && device.starts_with("package") && value.is_number())
        joules = joules.value_or(0) + value.get<double>();
    }
    return joules;
  }
  void take_power(const json& sample, double t_s, double watts) {
    double at = t_s;
    if (const auto joules = processor_joules(sample)) {
      if (const auto rate = joules_.rate(t_s, *joules)) {
        watts += rate->value;
        at = rate->at;
      }
    }
    if (watts > 0) add(power, begin_s_ + at, watts);
  }
  /// Returns their power.
  double take_gpus(const json& sample, double at) {
    double watts = 0;
    const auto found = sample.find("gpus");
    if (found == sample.end() || !found->is_array()) return watts;
    for (const json& gpu : *found) {
      if (!gpu.is_object()) continue;
      watts += number_in(gpu, "power_w").value_or(0);
      if (const auto use = number_in(gpu, "utilisation")) add(gpu_use, at, *use * 100);
      if (const auto bytes = number_in(gpu, "memory_bytes")) add(gpu_memory, at, *bytes / gibibyte);
    }
    return watts;
  }

  std::map<std::string, report::Course>& courses_;
  double begin_s_;
  double before_s_ = 0;
  Counter cpu_s_{};
  Counter joules_{};
};

/// Files of samples, those of further steps behind the first: "samples-node.jsonl",
/// "samples-node.1.jsonl"; those of ranks lie in the folders of stages.
std::map<std::string, std::vector<fs::path>> files_by_node(const fs::path& attempt) {
  std::map<std::string, std::vector<fs::path>> nodes;
  const auto look = [&](const fs::path& folder) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with("samples-") || !name.ends_with(".jsonl")) continue;
      std::string node = entry.path().stem().string();
      const std::size_t dot = node.rfind('.');
      const bool is_step = dot != std::string::npos && dot + 1 < node.size() &&
                           node.find_first_not_of("0123456789", dot + 1) == std::string::npos;
      if (is_step) node.resize(dot);
      nodes[(folder / node).string()].push_back(entry.path());
    }
  };
  look(attempt);
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(attempt, code)) {
    if (entry.is_directory(code)) look(entry.path());
  }
  for (auto& [node, files] : nodes) {
    std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
      const std::string one = a.string();
      const std::string other = b.string();
      return one.size() != other.size() ? one.size() < other.size() : one < other;
    });
  }
  return nodes;
}

}  // namespace

const std::vector<UsageKind>& usage_kinds() {
  static const std::vector<UsageKind> kinds{{busy_cpus, "busy CPUs"},
                                            {memory, "memory [MiB]"},
                                            {gpu_use, "GPU use [%]"},
                                            {gpu_memory, "GPU memory [GiB]"},
                                            {power, "power [W]"}};
  return kinds;
}

std::vector<UsageCourse> usage_courses(const fs::path& attempt) {
  std::map<std::string, report::Course> courses;
  for (const auto& [node, files] : files_by_node(attempt)) {
    double begin_s = 0;
    for (const fs::path& file : files) {
      Samples samples(courses, begin_s);
      const std::string text = base::read_file(file);
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const json sample = json::parse(text.begin() + static_cast<std::ptrdiff_t>(at),
                                        text.begin() + static_cast<std::ptrdiff_t>(end),
                                        nullptr,
                                        false);
        if (sample.is_object()) samples.take(sample);
        at = end + 1;
      }
      begin_s = samples.end_s();
    }
  }
  std::vector<UsageCourse> result;
  for (const UsageKind& kind : usage_kinds()) {
    const auto found = courses.find(kind.what);
    if (found != courses.end()) result.push_back({kind.what, std::move(found->second)});
  }
  return result;
}

}  // namespace sabath::analysis

#include "sample_line.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace sabath::probe {
namespace {

using Json = nlohmann::ordered_json;

double thousandths(double value) {
  return std::round(value * 1000) / 1000;
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (!value) return;
  if constexpr (std::is_same_v<T, double>) {
    json[key] = thousandths(*value);
  } else {
    json[key] = *value;
  }
}

Json gpu_json(const GpuWatch::Look& look) {
  const GpuState& state = look.state;
  Json json{{"uuid", *look.uuid}};
  put(json, "utilisation", state.utilisation);
  put(json, "memory_bytes", state.memory_bytes);
  put(json, "clock_mhz", state.clock_mhz);
  put(json, "memory_clock_mhz", state.memory_clock_mhz);
  put(json, "temperature_c", state.temperature_c);
  put(json, "power_w", state.power_w);
  if (!state.throttled.empty()) json["throttled"] = state.throttled;
  return json;
}

}  // namespace

std::string sample_line(const UsageSample& sample) {
  Json json{{"t_s", thousandths(sample.t_s)},
            {"cpu_s", thousandths(sample.use.cpu_s)},
            {"rss_bytes", sample.use.rss_bytes},
            {"read_bytes", sample.use.read_bytes},
            {"write_bytes", sample.use.write_bytes},
            {"threads", sample.use.threads},
            {"processes", sample.use.processes}};
  put(json, "memory_bytes", sample.memory_bytes);
  for (const auto& look : sample.gpus)
    json["gpus"].push_back(gpu_json(look));
  for (const auto& reading : sample.energy)
    json["energy_j"][reading.device] = thousandths(reading.joules);
  // What a library calls a device is its own affair: no text of it may end the sampling.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sabath::probe

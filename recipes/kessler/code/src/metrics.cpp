#include "metrics.h"

#include "error.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <system_error>

namespace kessler {
namespace {

// The names that readers of JSON lines accept beyond JSON.
std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

void append(std::string& line, const std::string& name, const std::string& value) {
  line += line.empty() ? "{" : ", ";
  line += '"';
  line += name;
  line += "\": ";
  line += value;
}

}  // namespace

Metrics Metrics::from_environment() {
  const char* path = std::getenv("SABATH_METRICS");  // NOLINT(concurrency-mt-unsafe): at start
  return Metrics(path == nullptr ? "" : path);
}

Metrics::Metrics(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "ae"));
  if (!file_) {
    throw Error(path + ": cannot be written: " + std::generic_category().message(errno),
                "SABATH_METRICS names this file");
  }
}

void Metrics::report(long step, long epoch, std::initializer_list<Value> values) {
  if (!file_) return;
  std::string line;
  if (step >= 0) append(line, "step", std::to_string(step));
  if (epoch >= 0) append(line, "epoch", std::to_string(epoch));
  for (const Value& value : values)
    append(line, value.name, json_number(value.value));
  line += "}\n";
  std::fputs(line.c_str(), file_.get());
}

void Metrics::flush() {
  if (file_ && (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0)) {
    throw Error(path_ + ": cannot be written: " + std::generic_category().message(errno));
  }
}

}  // namespace kessler

#pragma once

#include "error.h"
#include "sabath_log.h"

#include <initializer_list>
#include <string>
#include <system_error>
#include <vector>

namespace kessler {

struct MetricValue {
  std::string name;
  double value;
};

inline void check_metrics(int problem) {
  if (problem != 0) {
    throw Error("$SABATH_METRICS: cannot be written: " + std::generic_category().message(problem));
  }
}

// Throws Error where the file that $SABATH_METRICS names cannot be written.
inline void open_metrics() {
  check_metrics(sabath_log_open());
}

// Appends a line of metrics to that file, such as {"step": 12, "epoch": 1, "loss": 0.25}. A
// negative step or epoch is left out. Throws Error where the line cannot be written. Without the
// variable nothing is written.
inline void report_metrics(long step, long epoch, std::initializer_list<MetricValue> values) {
  std::vector<sabath_log_value> line;
  for (const MetricValue& one : values)
    line.push_back(sabath_log_real(one.name.c_str(), one.value));
  check_metrics(sabath_log_values(line.data(),
                                  line.size(),
                                  step < 0 ? SABATH_LOG_NONE : step,
                                  epoch < 0 ? SABATH_LOG_NONE : epoch));
}

inline void report_metrics(std::initializer_list<MetricValue> values) {
  report_metrics(-1, -1, values);
}

}  // namespace kessler

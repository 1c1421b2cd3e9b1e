#pragma once

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>

namespace kessler {

// Metrics of a run: JSON lines that are appended to the file named by $SABATH_METRICS. Without the
// variable nothing is written. Numbers have 17 significant digits: all bits of a double.
class Metrics {
 public:
  struct Value {
    std::string name;
    double value;
  };

  // Opens the file, or throws Error when it cannot be written.
  static Metrics from_environment();
  explicit Metrics(const std::string& path);

  // {"step": 12, "epoch": 1, "loss": 0.25}; the position is left out when negative.
  void report(long step, long epoch, std::initializer_list<Value> values);
  void report(std::initializer_list<Value> values) { report(-1, -1, values); }
  // Hands the lines to the system; throws Error when that fails (no space left, say).
  void flush();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace kessler

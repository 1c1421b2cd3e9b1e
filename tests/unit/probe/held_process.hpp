#pragma once

#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// A command beside the test that says "ready" once it is, and is ended with this.
class HeldProcess {
 public:
  explicit HeldProcess(std::vector<std::string> argv) {
    base::Command command;
    command.argv = std::move(argv);
    command.stdout_path = home_ / "out";
    command.stderr_path = home_ / "err";
    command.on_start = [this](int pid) { started_.set_value(pid); };
    thread_ = std::thread([this, command] { runner_.run(command, stop_.get_token()); });
    pid_ = started_.get_future().get();
    for (int i = 0; i < 2000; ++i) {
      if (base::read_file_if_exists(home_ / "out").value_or("").find("ready") != std::string::npos)
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    end();
    throw std::runtime_error("not ready: " + base::read_file(home_ / "err"));
  }
  ~HeldProcess() { end(); }
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;

  int pid() const { return pid_; }
  void end() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  TempHome home_{};
  base::SystemProcessRunner runner_{};
  std::stop_source stop_{};
  std::promise<int> started_{};
  int pid_ = 0;
  std::thread thread_{};
};

inline const std::string hold_library = SABATH_TEST_PROGRAMS "/hold_library";
inline const std::string test_libraries = SABATH_TEST_LIBRARIES;

}  // namespace sabath::test

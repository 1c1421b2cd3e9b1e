#include "git_worktree.hpp"

#include <sabath/base/error.hpp>

namespace sabath::provenance {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::ErrorKind;

constexpr std::size_t max_status_bytes = 64U << 20U;

}  // namespace

GitWorktree::GitWorktree(fs::path folder,
                         base::ProcessRunner& processes,
                         const std::stop_token& stop,
                         std::chrono::seconds patience)
    : folder_(std::move(folder)),
      processes_(processes),
      stop_(stop),
      patience_(patience),
      variables_(base::current_environment()) {
  // A caller within a hook of git would make it look at another repository.
  std::erase_if(variables_, [](const auto& item) { return item.first.starts_with("GIT_"); });
  variables_["LC_ALL"] = "C";
  variables_["GIT_TERMINAL_PROMPT"] = "0";
  variables_["GIT_OPTIONAL_LOCKS"] = "0";
  variables_["GIT_NO_LAZY_FETCH"] = "1";
}

base::ProcessResult GitWorktree::run(std::vector<std::string> arguments,
                                     const fs::path& output,
                                     std::uint64_t output_limit,
                                     const std::string& input) {
  base::Command command;
  command.argv = {"git",
                  "-c",
                  "core.fsmonitor=false",
                  "-c",
                  "core.hooksPath=/dev/null",
                  "-c",
                  "diff.autoRefreshIndex=false"};
  command.argv.insert(command.argv.end(), without_filters_.begin(), without_filters_.end());
  command.argv.insert(command.argv.end(), {"-C", folder_.string()});
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.environment = variables_;
  command.deadline = patience_;
  command.capture_limit = max_status_bytes;
  command.stdout_path = output;
  command.input = input;
  if (!output.empty()) command.output_limit = output_limit;
  base::ProcessResult result = processes_.run(command, stop_);
  if (result.end == base::ProcessEnd::stopped) throw Error(ErrorKind::interrupted, "interrupted");
  return result;
}

void GitWorktree::switch_off_filter(std::string_view key) {
  const std::string value = key.ends_with(".required") ? "false" : "";
  if (key.find('=') == key.npos) {
    without_filters_.insert(without_filters_.end(), {"-c", std::string(key) + "=" + value});
    return;
  }
  // git takes what is before the first '=' of an option for the name, and would start the filter.
  const std::string number = std::to_string(set_by_variables_++);
  variables_["GIT_CONFIG_KEY_" + number] = key;
  variables_["GIT_CONFIG_VALUE_" + number] = value;
  variables_["GIT_CONFIG_COUNT"] = std::to_string(set_by_variables_);
}

void GitWorktree::switch_off_filters() {
  // Status 1 says that there is none.
  const base::ProcessResult settings = run({"config",
                                            "-z",
                                            "--name-only",
                                            "--get-regexp",
                                            "^filter\\..*\\.(clean|smudge|process|required)$"});
  if (!settings.ok()) return;
  for_each_part(settings.output, '\0', [this](std::string_view key) { switch_off_filter(key); });
}

GitWorktree GitWorktree::submodule(const fs::path& path) const {
  GitWorktree tree(folder_ / path, processes_, stop_, patience_);
  tree.switch_off_filters();
  return tree;
}

std::string GitWorktree::first_line(std::vector<std::string> arguments) {
  const std::string text = must(std::move(arguments));
  return text.substr(0, text.find('\n'));
}

std::string GitWorktree::must(std::vector<std::string> arguments) {
  const std::string name = arguments.front();
  const base::ProcessResult result = run(std::move(arguments));
  if (result.ok()) return result.output;
  const std::string said = result.errors.substr(0, result.errors.find('\n'));
  throw Error(ErrorKind::launch, "git " + name + ": " + (said.empty() ? result.describe() : said));
}

}  // namespace sabath::provenance

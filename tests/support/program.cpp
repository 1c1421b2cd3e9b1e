#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::test {

namespace fs = std::filesystem;

namespace {

/// What stands in /proc for a process, with its NULs.
std::string command_line_of(const std::string& pid) {
  return text_of(fs::path("/proc") / pid / "cmdline");
}

/// The letter of the process's state; 0 when there is none.
char state_of(int pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = stat.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

[[noreturn]] void become(const std::vector<std::string>& argv,
                         const base::Environment& environment,
                         const fs::path& output,
                         const fs::path& errors) {
  ::setsid();
  const int in = ::open("/dev/null", O_RDONLY);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int err = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(126);
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment)
    variables.push_back(name + "=" + value);
  std::vector<char*> arguments;
  for (const std::string& argument : argv)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> entries;
  for (std::string& variable : variables)
    entries.push_back(variable.data());
  entries.push_back(nullptr);
  ::execve(arguments.front(), arguments.data(), entries.data());
  ::_exit(127);
}

}  // namespace

Running::Running(const std::vector<std::string>& argv,
                 const base::Environment& environment,
                 const fs::path& output,
                 const fs::path& errors)
    : pid_(::fork()), output_(output), errors_(errors) {
  if (pid_ == 0) become(argv, environment, output, errors);
  if (pid_ < 0) throw std::runtime_error("cannot fork");
}

Running::~Running() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Running::signal(int number) const {
  if (pid_ > 0) ::kill(pid_, number);
}

Answer Running::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  Answer answer;
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  answer.output = text_of(output_);
  answer.errors = text_of(errors_);
  return answer;
}

Sabath::Sabath() : environment_(base::current_environment()) {
  // Of whoever runs the tests, and told by runs: how libraries compute.
  const auto is_of_caller = [](const std::string& name) {
    return name.starts_with("SABATH_") || name == "SLURM_JOB_ID" || name.ends_with("_proxy") ||
           name.ends_with("_PROXY") || name.starts_with("OPENBLAS_") || name.starts_with("OMP_") ||
           name.starts_with("MKL_") || name.starts_with("NVPL_");
  };
  std::erase_if(environment_, [&](const auto& variable) { return is_of_caller(variable.first); });
  environment_["SABATH_HOME"] = home().string();
  environment_["SABATH_CONFIG"] = (folder_ / "config").string();
  environment_["HOME"] = (folder_ / "user").string();
}

Answer Sabath::program(const std::vector<std::string>& argv) const {
  base::Command command;
  command.argv = argv;
  command.environment = environment_;
  command.working_directory = folder_.path();
  command.deadline = std::chrono::seconds(90);
  base::SystemProcessRunner processes;
  const base::ProcessResult result = processes.run(command);
  Answer answer;
  answer.status = result.end == base::ProcessEnd::exited     ? result.exit_code
                  : result.end == base::ProcessEnd::signaled ? 128 + result.signal
                                                             : -1;
  answer.output = result.output;
  answer.errors = result.errors;
  answer.max_rss_bytes = result.max_rss_bytes;
  answer.leftovers = result.leftovers;
  return answer;
}

Answer Sabath::operator()(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv{SABATH_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return program(argv);
}

Answer Sabath::as_nobody(const std::vector<std::string>& arguments) const {
  std::vector<std::string> argv{
      "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", SABATH_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return program(argv);
}

Running Sabath::start(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv{SABATH_PROGRAM};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const std::string name = "started-" + std::to_string(++started_);
  return {argv, environment_, folder_ / (name + ".out"), folder_ / (name + ".err")};
}

std::string Sabath::recipe(const std::string& name, const std::string& text) const {
  const fs::path folder = folder_.path() / "recipes" / name;
  fs::create_directories(folder);
  write_text(folder / "recipe.json", text);
  return folder.string();
}

std::string Sabath::shell_recipe(const std::string& name,
                                 const std::string& line,
                                 const std::string& further_keys,
                                 const std::string& further_stage_keys) const {
  nlohmann::json document = nlohmann::json::parse(further_keys);
  nlohmann::json stage = nlohmann::json::parse(further_stage_keys);
  stage.update({{"name", "go"}, {"run", {{"shell", line}}}});
  document.update({{"schema", 1},
                   {"name", name},
                   {"environment", {{"layers", nlohmann::json::array()}}},
                   {"stages", nlohmann::json::array({stage})}});
  return recipe(name, document.dump(2));
}

void Sabath::asset(const std::string& name, const std::string& text) const {
  fs::create_directories(home() / "assets");
  write_text(home() / "assets" / (name + ".json"), text);
}

std::vector<fs::path> Sabath::run_directories() const {
  // Ids of one second are in no order; the plan is written when the run is made. Asked for once
  // each: sorting by times that change meanwhile would be no order at all.
  std::vector<std::pair<fs::file_time_type, fs::path>> made;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(runs(), code)) {
    std::error_code none;
    if (!entry.path().filename().string().starts_with('.'))
      made.emplace_back(fs::last_write_time(entry.path() / "plan.json", none), entry.path());
  }
  std::sort(made.begin(), made.end());
  std::vector<fs::path> directories;
  for (const auto& [time, directory] : made)
    directories.push_back(directory);
  return directories;
}

std::string Sabath::newest(const std::string& file) const {
  const auto directories = run_directories();
  return directories.empty() ? std::string() : text_of(directories.back() / file);
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string last_line(const std::string& text) {
  const std::string lines = text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
  const auto end = lines.rfind('\n');
  return end == std::string::npos ? lines : lines.substr(end + 1);
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool is_alive(int pid) {
  const char state = state_of(pid);
  return state != '\0' && state != 'Z' && state != 'X';
}

std::vector<int> processes_with(const std::string& marker) {
  std::vector<int> found;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/proc", code)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (command_line_of(name).find(marker) == std::string::npos) continue;
    if (is_alive(std::stoi(name))) found.push_back(std::stoi(name));
  }
  return found;
}

bool is_root() {
  return ::geteuid() == 0;
}

}  // namespace sabath::test

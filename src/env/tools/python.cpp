#include "layers/layer_variables.hpp"
#include "pip.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

constexpr auto python_deadline = std::chrono::seconds(30);

/// Prints one line for each member of Python. The interpreter of a virtual environment names its
/// base. Wheels for musl and glibc differ.
constexpr const char* question = R"(
import os, platform, sys, sysconfig
base = getattr(sys, "_base_executable", None) or sys.executable
print(os.path.realpath(base))
print(sys.implementation.name)
print(platform.python_version())

short = {"cpython": "cp", "pypy": "pp"}.get(sys.implementation.name, sys.implementation.name)
free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print("%s%d%d%s" % (short, sys.version_info[0], sys.version_info[1], free))

musl = "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "")
print(sysconfig.get_platform() + ("-musl" if musl else ""))
print(" ".join(sys.version.split()))
try:
    import pip
    print(pip.__version__)
except Exception:
    print()
)";

std::optional<Python> parse_answer(const std::string& text) {
  std::istringstream lines(text);
  std::string executable;
  Python python;
  for (std::string* const line : {&executable,
                                  &python.implementation,
                                  &python.version,
                                  &python.tag,
                                  &python.platform,
                                  &python.build,
                                  &python.pip}) {
    if (!std::getline(lines, *line)) return std::nullopt;
  }
  python.executable = executable;
  return python;
}

bool is_script(const fs::path& program) {
  std::ifstream file(program, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

/// Returns the files on which the answer depends. pyenv's programs are scripts that read a file
/// beside them.
std::vector<fs::path> files_behind(const fs::path& program, const Python& python) {
  std::vector<fs::path> files{program, python.executable};
  const fs::path choice = program.parent_path().parent_path() / "version";
  std::error_code code;
  if (is_script(program) && fs::is_regular_file(choice, code)) files.push_back(choice);
  return files;
}

std::string answer_of(const fs::path& program,
                      const LayerContext& context,
                      base::ProcessRunner& processes) {
  base::Command command;
  command.argv = {program.string(), "-I", "-c", question};
  command.working_directory = "/";
  command.environment = context.variables;
  command.deadline = python_deadline;
  command.grace = std::chrono::milliseconds(200);
  const base::ProcessResult result = processes.run(command);
  return result.ok() ? result.output : std::string();
}

/// Returns nothing for a missing program or one that prints nothing.
std::optional<Python> python_at(const std::string& name,
                                const LayerContext& context,
                                base::ProcessRunner& processes,
                                Memo& memo) {
  const auto program = base::find_program(name, search_path(context.variables));
  if (!program) return std::nullopt;
  const std::string key = "python/1 " + program->string();
  if (const auto known = memo.find(key)) return parse_answer(*known);
  auto answer = answer_of(*program, context, processes);
  auto python = parse_answer(answer);
  if (python && python->executable != *program) {
    answer = answer_of(python->executable, context, processes);
    python = parse_answer(answer);
  }
  if (python) memo.remember(key, answer, files_behind(*program, *python));
  return python;
}

std::vector<std::string> candidates(const std::string& wanted) {
  if (wanted.starts_with('/')) return {wanted};
  const auto minor = wanted.find('.');
  if (minor == std::string::npos) return {"python3"};
  return {"python" + wanted.substr(0, wanted.find('.', minor + 1)), "python3"};
}

bool matches(const std::string& version, const std::string& wanted) {
  return wanted.empty() || wanted.starts_with('/') || version == wanted ||
         version.starts_with(wanted + ".");
}

}  // namespace

Python find_python(const LayerContext& context, base::ProcessRunner& processes, Memo& memo) {
  const std::string& wanted = context.spec.packages.python;
  std::string seen;
  for (const std::string& name : candidates(wanted)) {
    const auto python = python_at(name, context, processes, memo);
    if (python && matches(python->version, wanted)) return *python;
    seen += (seen.empty() ? "" : ", ") + name +
            (python ? " is " + python->version : std::string(" is not there"));
  }
  const std::string number = wanted.starts_with('/') || wanted.empty() ? "3" : wanted;
  throw_environment(place_of(context.spec.name) + ": " +
                        (wanted.empty() ? "python" : "python " + base::printable(wanted)) +
                        " not found: " + base::printable(seen),
                    "install it (Debian: apt install python" + number + " python" + number +
                        "-venv), or load a module that has it");
}

}  // namespace sabath::env

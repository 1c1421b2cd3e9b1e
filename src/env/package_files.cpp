#include "package_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <sstream>

#include <sys/stat.h>

namespace sabath::env {
namespace {

namespace fs = std::filesystem;

/// When the file was last touched, its permissions included; nothing: there is none.
std::optional<std::int64_t> touched_ns(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t second = 1'000'000'000;
  return status.st_ctim.tv_sec * second + status.st_ctim.tv_nsec;
}

/// As RECORD has it: base64 with '-' and '_', and nothing at its end.
std::string record_form(const base::Digest& digest) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned bits = 6;
  std::string text;
  std::uint32_t held = 0;
  unsigned count = 0;
  for (const char c : digest.hex) {
    held = (held << 4U) | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    count += 4;
    if (count < bits) continue;
    count -= bits;
    text += letters[(held >> count) & 63U];
    held &= (1U << count) - 1U;
  }
  if (count > 0) text += letters[(held << (bits - count)) & 63U];
  return text;
}

struct RecordLine {
  std::string path{};
  std::string digest{};
};

/// "path,sha256=digest,size"; nothing where a line has no such digest: its own, compiled Python.
std::optional<RecordLine> read_line(const std::string& line) {
  constexpr std::string_view head = ",sha256=";
  const auto at = line.rfind(head);
  if (at == std::string::npos) return std::nullopt;
  const auto begin = at + head.size();
  RecordLine read{line.substr(0, at), line.substr(begin, line.find(',', begin) - begin)};
  if (!read.path.starts_with('"')) return read;
  std::string plain;
  for (std::size_t i = 1; i + 1 < read.path.size(); ++i) {
    if (read.path[i] == '"') ++i;  // one stands for two
    plain += read.path[i];
  }
  read.path = plain;
  return read;
}

std::optional<std::string> change_of(const RecordLine& line,
                                     const fs::path& packages,
                                     std::int64_t ready_ns) {
  const fs::path file = packages / line.path;
  const auto touched = touched_ns(file);
  if (!touched) {
    const auto around = touched_ns(file.parent_path());
    // What the build itself took away is nobody's change.
    if (around && *around <= ready_ns) return std::nullopt;
    return line.path + " was removed after it was installed";
  }
  if (*touched <= ready_ns) return std::nullopt;
  try {
    if (record_form(base::digest_file(file)) == line.digest) return std::nullopt;
  } catch (const base::Error&) {
    return line.path + " cannot be read";
  }
  return line.path + " was changed after it was installed";
}

void look_at(const fs::path& package, std::int64_t ready_ns, std::vector<std::string>& changed) {
  const auto record = base::read_file_if_exists(package / "RECORD");
  if (!record) return;
  std::istringstream lines(*record);
  for (std::string text; std::getline(lines, text);) {
    const auto line = read_line(text);
    const auto change = line ? change_of(*line, package.parent_path(), ready_ns) : std::nullopt;
    if (!change) continue;
    const std::string name = package.filename().string();
    changed.push_back(spec::normal_package_name(name.substr(0, name.rfind('-', name.rfind('.')))) +
                      ": " + *change);
    return;
  }
}

}  // namespace

std::vector<std::string> changed_packages(const fs::path& prefix, const fs::path& ready) {
  std::vector<std::string> changed;
  const auto ready_ns = touched_ns(ready);
  std::error_code code;
  for (fs::directory_iterator python(prefix / "lib", code);
       ready_ns && !code && python != fs::directory_iterator();
       python.increment(code)) {
    std::error_code inner;
    for (fs::directory_iterator at(python->path() / "site-packages", inner);
         !inner && at != fs::directory_iterator();
         at.increment(inner)) {
      if (at->path().extension() == ".dist-info") look_at(at->path(), *ready_ns, changed);
    }
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

}  // namespace sabath::env

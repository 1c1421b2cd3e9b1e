#include "package_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/spec/package_lock.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

/// What a package says that it installed.
struct Listed {
  fs::path folder{};  ///< its dist-info
  std::vector<RecordLine> lines{};
  bool is_readable = true;

  std::string name() const {
    const std::string folder_name = folder.filename().string();
    return spec::normal_package_name(
        folder_name.substr(0, folder_name.rfind('-', folder_name.rfind('.'))));
  }
};

/// Two packages may bring one file: what either says of it may be there.
using Digests = std::map<std::string, std::set<std::string>>;

Listed listed_by(const fs::path& folder) {
  Listed listed{folder, {}, true};
  try {
    const auto record = base::read_file_if_exists(folder / "RECORD");
    std::istringstream lines(record.value_or(""));
    for (std::string text; std::getline(lines, text);) {
      if (auto line = read_line(text)) listed.lines.push_back(std::move(*line));
    }
  } catch (const base::Error&) {
    listed.is_readable = false;
  }
  return listed;
}

/// Of the folder that the file was in, or of the nearest above it that is still there.
std::optional<std::int64_t> touched_around(fs::path file) {
  while (file.has_relative_path()) {
    file = file.parent_path();
    if (const auto touched = touched_ns(file)) return touched;
  }
  return std::nullopt;
}

std::optional<std::string> change_of(const RecordLine& line,
                                     const fs::path& packages,
                                     const Digests& digests,
                                     std::int64_t ready_ns) {
  const fs::path file = packages / line.path;
  const auto touched = touched_ns(file);
  if (!touched) {
    const auto around = touched_around(file);
    // What the build itself took away is nobody's change.
    if (around && *around <= ready_ns) return std::nullopt;
    return line.path + " was removed after it was installed";
  }
  if (*touched <= ready_ns) return std::nullopt;
  try {
    if (digests.at(line.path).contains(record_form(base::digest_file(file)))) return std::nullopt;
  } catch (const base::Error&) {
    return line.path + " cannot be read";
  }
  return line.path + " was changed after it was installed";
}

/// The first change is enough to tell.
std::optional<std::string> change_of(const Listed& package,
                                     const Digests& digests,
                                     std::int64_t ready_ns) {
  if (!package.is_readable) return "RECORD cannot be read";
  for (const RecordLine& line : package.lines) {
    if (auto change = change_of(line, package.folder.parent_path(), digests, ready_ns))
      return change;
  }
  return std::nullopt;
}

void look_in(const fs::path& packages, std::int64_t ready_ns, std::vector<std::string>& changed) {
  std::vector<Listed> all;
  Digests digests;
  std::error_code code;
  for (fs::directory_iterator at(packages, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    if (at->path().extension() != ".dist-info") continue;
    all.push_back(listed_by(at->path()));
    for (const RecordLine& line : all.back().lines)
      digests[line.path].insert(line.digest);
  }
  for (const Listed& package : all) {
    if (const auto change = change_of(package, digests, ready_ns))
      changed.push_back(package.name() + ": " + *change);
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
    look_in(python->path() / "site-packages", *ready_ns, changed);
  }
  std::sort(changed.begin(), changed.end());
  return changed;
}

}  // namespace sabath::env

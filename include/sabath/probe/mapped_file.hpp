#pragma once

#include <sabath/base/digest.hpp>
#include <sabath/base/file_stamp.hpp>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::probe {

/// A program or shared library that a process of the run had mapped to execute it.
struct MappedFile {
  std::string path{};       ///< as the process saw it
  base::FileStamp stamp{};  ///< when it was first seen
  bool is_program = false;  ///< a process executed it
  bool is_first = false;    ///< the first process of a stage executed it
  std::set<std::string> stages{};
  /// The path names another file, or none, outside of the process's container or namespace. Then
  /// `digest` and `build_id` were read while the process ran, as far as time allowed.
  bool is_hidden = false;
  std::optional<base::Digest> digest{};
  std::string build_id{};
};

/// All mapped files of a run.
struct SeenFiles {
  std::vector<MappedFile> files{};  ///< sorted by path
  std::vector<std::string> notes{};
  double cpu_s = 0;  ///< cost of watching
};

/// Inspects a running process of a stage further. Returns true for new findings.
using ProcessVisitor = std::function<bool(int pid, const std::string& stage)>;

}  // namespace sabath::probe

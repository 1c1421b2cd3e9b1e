#pragma once

#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sabath::serve {

/// A request for data: "api/run/ID?from=3" has the words "run" and "ID".
struct Query {
  std::vector<std::string> words{};
  std::map<std::string, std::string> parameters{};  ///< decoded

  /// Value of a parameter; empty without it.
  std::string parameter(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
  }
};

/// A file for downloading, opened for reading.
struct Download {
  base::UniqueFd file{};
  std::uint64_t size_bytes = 0;
  std::string name{};  ///< of the file on the other side
};

/// The data behind the view. Calls come from several threads.
class LiveSource {
 public:
  virtual ~LiveSource() = default;

  /// How the server treats the answers to a query.
  enum class Kind {
    light,     ///< quick, kept for the next who asks
    heavy,     ///< may take seconds, kept
    stretches  ///< the part that the query asks for, never kept
  };
  virtual Kind kind_of(const Query& query) const = 0;

  /// Returns JSON text. Throws Error{not_found} and Error{usage} for what the client has wrong.
  virtual std::string answer(const Query& query) = 0;

  /// Opens an output of a run. Throws Error{not_found} for any file that its plan and its record
  /// do not name.
  virtual Download open(const Query& query) = 0;
};

}  // namespace sabath::serve

#pragma once

#include <sabath/base/observer.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/mask_secrets.hpp>
#include <sabath/home/documents.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::sharing {

/// What of a run goes into a crate.
struct CrateRequest {
  std::filesystem::path run{};                                ///< its folder
  std::filesystem::path output{};                             ///< the zip file
  std::string license{};                                      ///< empty: that of the recipe
  std::optional<std::uint64_t> largest_output = 256U << 20U;  ///< nothing: no output
  bool has_logs = false;
  bool has_inputs = false;     ///< the files of the inputs, too
  bool is_provenance = false;  ///< a Provenance Run Crate
  /// An id of its own, and without users, hosts and paths.
  bool is_anonymous = false;
  std::optional<bool> with_code{};  ///< nothing: ask where files are in no repository
};

/// What went into a crate, and what left the house with it.
struct CrateReport {
  std::filesystem::path path{};
  std::string run_id{};
  std::vector<std::string> runs{};  ///< of a crate of several
  std::string license{};
  std::string ended{};   ///< when the run had ended
  std::string digest{};  ///< of the manifest: what `repro --trust` takes
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> left_out{};  ///< outputs that are larger than was asked for
  /// What its texts say of the place where the run was made.
  std::vector<std::string> users{};
  std::vector<std::string> hosts{};
  std::vector<std::string> paths{};        ///< as far as two folders deep
  std::vector<std::string> not_scanned{};  ///< members that are not text: nobody looked for secrets
};

struct CrateTools {
  const home::Documents& documents;
  std::filesystem::path shipped_recipes{};  ///< of this program; their licence is its own
  base::ProcessRunner& processes;
  base::KnownSecrets secrets;
  base::Observer& observer;
  std::stop_token stop{};
};

/// Writes a run as one file that `repro` repeats elsewhere: a Process Run Crate. The same run gives
/// the same bytes. Throws Error{usage} for a run without a record, and without a licence. Throws it
/// for a secret, with its place. Throws Error{access} with files of the code that no repository
/// has, unless the request decides. Throws Error{storage|interrupted}. Then no file is left.
CrateReport export_run(const CrateRequest& request, const CrateTools& tools);

}  // namespace sabath::sharing

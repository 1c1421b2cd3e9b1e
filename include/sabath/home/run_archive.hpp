#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/home/folders.hpp>

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

namespace sabath::home {

// An archived run is a folder HOME/archive/ID (docs/formats/archive.md): all files of the run in
// `files.tar.zst`, `archive.json` with their digest, and the documents that say what the run was.
// So it is listed and indexed like a run's folder, and nothing need be unpacked for that.

/// What archiving did to the space of a run.
struct ArchivedSize {
  std::uint64_t files = 0;
  std::uint64_t before_bytes = 0;
  std::uint64_t packed_bytes = 0;
};

/// Whether a run's folder is that of an archived run.
bool is_archived(const std::filesystem::path& run);
/// The archive in the folder of an archived run.
std::filesystem::path packed_files(const std::filesystem::path& archived);

/// Throws Error{usage} for a run that ended without a record, which cannot be archived.
void require_record(const std::filesystem::path& run);

/// Throws Error{storage} where no rename can move `from` to the folder `to`.
void require_one_file_system(const std::filesystem::path& from, const std::filesystem::path& to);

/// Archives a run of this home that has ended. Removes its folder only after the archive has been
/// read back. Compares the folder with it after it was moved aside. Moves it back and throws
/// Error{integrity} where it differs. Finishes what a killed process began. Throws Error{usage} for
/// a run without a record, Error{storage}, also as require_own_run, Error{integrity|interrupted}.
ArchivedSize archive_run(const Folders& folders,
                         const std::string& id,
                         base::Clock& clock,
                         base::Observer& observer,
                         const std::stop_token& stop);

/// Makes the run's folder again and removes the archive. Throws as archive_run;
/// Error{integrity|storage} leave the archive unchanged.
void restore_run(const Folders& folders,
                 const std::string& id,
                 base::Observer& observer,
                 const std::stop_token& stop);

/// Unpacks an archived run into an empty folder. Throws Error{integrity}, with the archive's name,
/// where what is unpacked is not what was packed. Warns of a statement that cannot be copied.
void unpack_run(const std::filesystem::path& archived,
                const std::filesystem::path& to,
                base::Observer& observer,
                const std::stop_token& stop);

/// Makes a private folder in the home for what is unpacked now. The caller removes it; what a
/// killed process left is removed by the next call.
std::filesystem::path make_unpacking_folder(const Folders& folders);

/// Removes what killed processes left in a folder: entries `.<kind>-<process>...` of processes that
/// are gone.
void remove_leftovers(const std::filesystem::path& folder, const std::string& kind);

}  // namespace sabath::home

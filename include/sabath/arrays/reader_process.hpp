#pragma once

namespace sabath::arrays {

/// HDF5 is known to crash, and to loop, over damaged and hostile files. So files are given to it in
/// a process apart (base::SandboxProcess), which is this program again, started as
/// `PROGRAM read-arrays PID`. A program that opens HDF5 files with open_arrays() or read_series()
/// calls serve_arrays() first thing, with that pid, when it is started so.
constexpr const char* reader_command = "read-arrays";

/// Answers until the other process closes the socket; then gives the exit status.
int serve_arrays(const char* parent) noexcept;

}  // namespace sabath::arrays

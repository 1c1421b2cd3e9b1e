#pragma once

namespace sabath::arrays {

/// HDF5 is known to crash and to loop on damaged and hostile files. A separate process reads them
/// (base::SandboxProcess). It is this program again, started as `PROGRAM read-arrays PID`. A
/// program that calls open_arrays() or read_series() must call serve_arrays() first, with that pid,
/// when it is started so.
constexpr const char* reader_command = "read-arrays";

/// Answers until the other process closes the socket. Returns the exit status.
int serve_arrays(const char* parent) noexcept;

}  // namespace sabath::arrays

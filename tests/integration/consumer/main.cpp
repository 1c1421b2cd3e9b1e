#include <sabath/arrays/hdf5_file.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/version.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/probe/host_probe.hpp>

#include <iostream>

/// Something of the libraries beneath: OpenSSL, SQLite, hwloc and HDF5 must link.
int main(int count, char** arguments) {
  if (count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  try {
    const sabath::catalog::Catalog catalog(folder / "catalog.db");
    std::cout << sabath::base::version() << "\n"
              << sabath::base::sha256_of("abc").text() << "\n"
              << catalog.stats().runs << " runs, " << sabath::probe::builtin_probes().size()
              << " probes\n";
    sabath::arrays::open_hdf5(folder / "none.h5");
  } catch (const sabath::base::Error& error) {
    std::cout << error.what() << "\n";
    return error.kind() == sabath::base::ErrorKind::not_found ? 0 : 1;
  }
  return 1;
}

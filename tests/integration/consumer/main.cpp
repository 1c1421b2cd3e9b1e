#include <sabath/arrays/hdf5_file.hpp>
#include <sabath/base/clock.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/version.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/fetch/fetcher.hpp>
#include <sabath/probe/host_probe.hpp>

#include <iostream>

/// Something of every library beneath: OpenSSL, SQLite, HDF5, curl and hwloc must link.
int main(int count, char** arguments) {
  if (count != 2) return 2;
  try {
    const std::filesystem::path folder = arguments[1];
    const sabath::catalog::Catalog catalog(folder / "catalog.db");
    std::cout << sabath::base::version() << "\n"
              << sabath::base::sha256_of("abc").text() << "\n"
              << sabath::fetch::builtin_fetchers(sabath::base::system_clock()).size()
              << " fetchers\n"
              << sabath::probe::builtin_probes().size() << " probes\n";
    sabath::arrays::Hdf5File file(folder / "none.h5");
  } catch (const sabath::base::Error& error) {
    std::cout << error.what() << "\n";
    return 0;
  }
  return 1;
}

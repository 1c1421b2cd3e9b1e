#include "fetch/http/certificates.hpp"

#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

using namespace sabath;

TEST_CASE("certificates: another system's file is used only where the library's own is missing") {
  const test::TempHome home;
  const std::string own = home / "own.crt";
  const std::string other = home / "other.crt";
  const std::vector<std::string> files{home / "absent.crt", other};
  CHECK(fetch::certificates_beside(own, files) == "");
  base::write_file_atomically(other, "certificates");
  CHECK(fetch::certificates_beside(own, files) == other);
  CHECK(fetch::certificates_beside("", files) == other);
  base::write_file_atomically(own, "certificates");
  CHECK(fetch::certificates_beside(own, files) == "");
}

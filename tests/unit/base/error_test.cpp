#include "support/errors.hpp"

#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>

#include <cerrno>

using namespace sabath;
using namespace sabath::base;

TEST_CASE("error: it carries kind, message and hint") {
  const Error error(ErrorKind::usage, "a.json:/x: unknown key 'x'", "did you mean 'y'?");
  CHECK(error.kind() == ErrorKind::usage);
  CHECK(error.what() == std::string("a.json:/x: unknown key 'x'"));
  CHECK(error.hint() == "did you mean 'y'?");
  CHECK(Error(ErrorKind::internal, "x").hint().empty());
}

TEST_CASE("error: errno has a text") {
  CHECK(errno_text(ENOENT) == "No such file or directory");
  CHECK_FALSE(errno_text(99999).empty());
}

TEST_CASE("error: a failed system call names the place, the problem and the cause") {
  const Error error = test::error_of([] { throw_errno("/data/x", "cannot write", ENOSPC); });
  CHECK(error.what() == std::string("/data/x: cannot write: No space left on device"));
  CHECK(error.kind() == ErrorKind::storage);
  CHECK_FALSE(error.hint().empty());
}

TEST_CASE("error: what does not exist is not_found, all else is storage") {
  const auto kind_of = [](int code) {
    return test::error_of([&] { throw_errno("x", "cannot read", code); }).kind();
  };
  CHECK(kind_of(ENOENT) == ErrorKind::not_found);
  for (const int code : {ENOSPC, EDQUOT, EROFS, EACCES, EPERM, EIO, EISDIR, ELOOP})
    CHECK(kind_of(code) == ErrorKind::storage);
}

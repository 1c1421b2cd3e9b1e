// Catch2 3 under the names that Catch2 2 has, for the tests of both. Only on the include path where
// Catch2 is 3.
#pragma once

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_session.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <catch2/matchers/catch_matchers_vector.hpp>

#include <string>

using Catch::Approx;

namespace Catch::Matchers {

// Catch2 3 has Contains for ranges; its header is not included here.
inline StringContainsMatcher Contains(const std::string& text,
                                      CaseSensitive sensitivity = CaseSensitive::Yes) {
  return ContainsSubstring(text, sensitivity);
}

}  // namespace Catch::Matchers

namespace Catch {

using Matchers::Contains;
using Matchers::EndsWith;
using Matchers::Equals;
using Matchers::StartsWith;

}  // namespace Catch

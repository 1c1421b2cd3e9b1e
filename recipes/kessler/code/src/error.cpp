#include "error.h"

#include <cstdio>
#include <utility>

namespace kessler {
namespace {

void complain(const char* program, const char* message, const std::string& hint) noexcept {
  std::fprintf(stderr, "%s: %s\n", program, message);
  if (!hint.empty()) std::fprintf(stderr, "hint: %s\n", hint.c_str());
}

}  // namespace

Error::Error(const std::string& message, std::string hint)
    : std::runtime_error(message), hint_(std::move(hint)) {}

int guarded_main(const char* program, const std::function<int()>& body) noexcept {
  try {
    return body();
  } catch (const UsageError& error) {
    complain(program, error.what(), error.hint());
    return 2;
  } catch (const Error& error) {
    complain(program, error.what(), error.hint());
  } catch (const std::bad_alloc&) {
    complain(program, "out of memory", {});
  } catch (const std::exception& error) {
    complain(program, error.what(), {});
  } catch (...) {
    complain(program, "unknown failure", {});
  }
  return 1;
}

}  // namespace kessler

#pragma once

#include "option_parser.hpp"

#include <sabath/base/error.hpp>
#include <sabath/spec/metric.hpp>

#include <chrono>
#include <string>

namespace sabath::cli {

/// An error of kind usage: the command line itself is wrong.
base::Error usage_error(const std::string& problem, const std::string& hint = {});

/// The duration that an option names. Throws Error{usage} with `examples` of right ones.
std::chrono::seconds duration_of(const std::string& option,
                                 const std::string& text,
                                 const std::string& examples);

/// --require, the rung that must hold.
void add_rung(OptionParser& command, std::string& rung);
/// --rtol and --atol.
void add_tolerances(OptionParser& command, spec::Tolerance& tolerance);

/// For Option::check: why the word of an option is not what it must be; empty where it is.
std::string why_no_amount(const std::string& text);  ///< a finite number of zero or more
std::string why_no_count(const std::string& text);   ///< a whole number of one or more

}  // namespace sabath::cli

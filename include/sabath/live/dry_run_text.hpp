#pragma once

#include <sabath/analysis/study_power.hpp>
#include <sabath/spec/batch.hpp>
#include <sabath/spec/site.hpp>
#include <sabath/spec/study.hpp>

#include <string>
#include <vector>

namespace sabath::live {

/// The seed that all runs share, as a line; empty where they differ.
std::string seeds_text(const std::vector<spec::StudyPoint>& points);
/// Table of the points of a study: what tells them apart.
std::string points_text(const std::vector<spec::StudyPoint>& points);
/// Whether a study can show what it is made for: said before it is started, not after.
std::string power_text(const analysis::StudyPower& power);
/// The same in one line.
std::string short_power_text(const analysis::StudyPower& power);
/// What each job of the steps asks the scheduler for.
std::string jobs_text(const std::vector<spec::BatchStep>& steps, const spec::Site& site);

}  // namespace sabath::live

#pragma once

#include "database.hpp"

#include <sabath/catalog/catalog.hpp>

#include <string>
#include <vector>

namespace sabath::catalog {

struct Catalog::State {
  explicit State(const std::filesystem::path& path) : database(path) {}
  Database database;
  std::vector<std::string> chosen{};  ///< ids in the temporary table `chosen`: run_values.cpp
};

}  // namespace sabath::catalog

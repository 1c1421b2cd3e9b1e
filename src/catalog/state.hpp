#pragma once

#include "database.hpp"

#include <sabath/catalog/catalog.hpp>

namespace sabath::catalog {

struct Catalog::State {
  explicit State(const std::filesystem::path& path) : database(path) {}
  Database database;
};

}  // namespace sabath::catalog

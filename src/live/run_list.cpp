#include <sabath/analysis/counted_runs.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/live/run_list.hpp>

#include <algorithm>

namespace sabath::live {
namespace {

std::vector<catalog::RunColumn> columns_of(const RunListRequest& request,
                                           const std::vector<catalog::RunRow>& rows,
                                           const catalog::Catalog& catalog) {
  std::vector<catalog::RunColumn> columns;
  if (rows.empty()) return columns;
  for (const std::string& name : request.columns.empty() ? request.sort : request.columns) {
    const bool is_reverse = request.columns.empty() && name.starts_with('-');
    columns.push_back(catalog.column_of(rows, name.substr(is_reverse ? 1 : 0)));
  }
  return columns;
}

}  // namespace

RunList list_runs(const RunListRequest& request,
                  const catalog::Catalog& catalog,
                  base::WallTime now) {
  RunList list;
  // One more than is shown tells whether there are more.
  const std::size_t end = request.limit == 0 ? 0 : request.from + request.limit;
  const std::size_t most = end == 0 || request.archived ? 0 : end + 1;
  list.rows = catalog.runs(most, request.selection, now, request.sort);
  if (request.archived)
    std::erase_if(list.rows, [](const auto& run) { return !home::is_archived(run.directory); });
  analysis::NamedRuns named;
  named.add_selection(request.selection, list.rows, catalog);
  list.has_more = end != 0 && list.rows.size() > end;
  const bool is_part =
      !request.selection.empty() && !request.archived && (list.has_more || request.from > 0);
  if (list.has_more && !request.archived) list.rows.resize(end);
  const auto leave_out = [&](auto& items) {
    if (list.has_more) items.resize(std::min(items.size(), end));
    items.erase(items.begin(),
                items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), request.from)));
  };
  if (is_part) {
    leave_out(list.rows);
    list.reasons = analysis::why_not_counted_of(list.rows, request.selection, now, named, catalog);
    list.count = analysis::count_selection(request.selection, now, named, catalog);
  } else {
    list.reasons = analysis::why_not_counted(list.rows, named, catalog);
    list.count = spec::count_runs(list.reasons);
    leave_out(list.rows);
    leave_out(list.reasons);
  }
  list.columns = columns_of(request, list.rows, catalog);
  return list;
}

}  // namespace sabath::live

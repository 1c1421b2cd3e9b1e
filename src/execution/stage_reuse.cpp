#include "stage_reuse.hpp"

#include "keep_outputs.hpp"
#include "real_folders.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/execution/keep_digest_trees.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_rule.hpp>
#include <sabath/spec/recipe.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include <unistd.h>

namespace sabath::execution {
namespace {

namespace fs = std::filesystem;

/// Files that metrics are read from are kept with a cached stage's outputs, under this prefix, so
/// that a reuse reports metrics too. Logs are kept only if they are not too long.
constexpr char kept_prefix = '.';
/// Digests of an output's values are kept in the same way.
constexpr std::string_view kept_trees = ".trees/";
constexpr std::uintmax_t kept_log_bytes = std::uintmax_t{16} << 20U;
constexpr std::uintmax_t kept_work_bytes = std::uintmax_t{256} << 20U;
constexpr unsigned read_only = 0444;

constexpr const char* usual_events = "*events.out.tfevents.*";  // of TensorBoard

/// Files of the work folder that metrics are read from are kept under it.
constexpr std::string_view kept_work = ".work/";

bool is_log(const std::string& name) {
  return name == "stdout.log" || name == "stderr.log";
}

/// Declared metrics that the stage may report.
std::vector<spec::MetricSpec> metrics_of(const StageContext& context, const std::string& stage) {
  std::vector<spec::MetricSpec> metrics =
      spec::parse_recipe(context.plan.recipe_text, "recipe").metrics;
  std::erase_if(metrics, [&](const spec::MetricSpec& metric) {
    return !metric.from.stage.empty() && metric.from.stage != stage;
  });
  return metrics;
}

bool reads_logs(const spec::MetricSpec& metric) {
  const std::string& file = metric.from.file;
  const bool is_usual = file.empty() && metric.from.kind != spec::SourceKind::jsonl &&
                        metric.from.kind != spec::SourceKind::tensorboard;
  return is_usual || file == "stdout" || file == "stderr";
}

/// What of the work folder the metric is read from: a path or pattern; empty: nothing.
std::string searched_by(const spec::MetricSpec& metric) {
  const std::string& file = metric.from.file;
  if (file == "stdout" || file == "stderr") return {};
  const bool is_usual = metric.from.kind == spec::SourceKind::tensorboard && file.empty();
  return is_usual ? usual_events : file;
}

/// Files of the work folder that metrics may be read from, by their paths there.
std::vector<std::string> metric_files(const fs::path& work,
                                      const std::vector<spec::MetricSpec>& metrics) {
  std::vector<std::string> files;
  std::error_code code;
  for (const spec::MetricSpec& metric : metrics) {
    // A name may lead through links.
    const std::string& file = metric.from.file;
    const bool is_name = !file.empty() && file.find_first_of("*?[") == std::string::npos;
    if (is_name && fs::is_regular_file(work / file, code)) files.push_back(file);
  }
  for (fs::recursive_directory_iterator
           at(work, fs::directory_options::skip_permission_denied, code),
       end;
       !code && at != end;
       at.increment(code)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || at->is_symlink(gone)) continue;
    const std::string path = at->path().lexically_relative(work).string();
    const bool is_read = std::ranges::any_of(metrics, [&](const spec::MetricSpec& metric) {
      return ::fnmatch(searched_by(metric).c_str(), path.c_str(), 0) == 0;
    });
    if (is_read && std::ranges::find(files, path) == files.end()) files.push_back(path);
  }
  return files;
}

/// Returns why a metric that is declared today may be in files that were not kept then; empty:
/// none is.
std::string lost_metric(const StageContext& context,
                        const spec::PlannedStage& stage,
                        const cache::StageOutputs& known) {
  for (const spec::MetricSpec& metric : metrics_of(context, stage.name)) {
    if (!known.long_logs.empty() && reads_logs(metric)) return known.long_logs.front();
    std::string file = searched_by(metric);
    const bool is_there = file.empty() || known.outputs.contains(file) ||
                          known.outputs.contains(std::string(kept_work) + file) ||
                          std::ranges::find(known.searched, file) != known.searched.end();
    if (!is_there) return file;
  }
  return {};
}

bool is_kept(const fs::directory_entry& entry) {
  std::error_code code;
  const std::string name = entry.path().filename().string();
  if (!entry.is_regular_file(code)) return false;
  if (is_metrics_file(name)) return true;
  const std::uintmax_t size = entry.file_size(code);
  return is_log(name) && size > 0 && size <= kept_log_bytes;
}

void reuse_trees(const StageContext& context,
                 const cache::StageOutputs& known,
                 spec::OutputRecord& output) {
  const auto digest = known.outputs.find(std::string(kept_trees) + output.path);
  if (digest == known.outputs.end()) return;
  const auto object = context.cache.find(digest->second);
  if (!object) return;
  const fs::path file = trees_file(context.files, output);
  make_real_folders(context.files.directory(), file.parent_path());
  fs::remove(file);  // of an earlier attempt
  context.cache.place(*object, file, true);
  output.trees = object->digest;
}

/// Objects of a stage's declared outputs, by path.
struct DeclaredObjects {
  std::map<std::string, cache::Object> objects{};
  std::map<std::string, std::string> groups{};  ///< path -> the folder or pattern that has it

  /// Returns false where an output, or its object, is not in the cache.
  bool find_all(const StageContext& context,
                const spec::PlannedStage& stage,
                const cache::StageOutputs& known) {
    return std::ranges::all_of(stage.outputs, [&](const std::string& declared) {
      bool is_there = false;
      for (const auto& [path, digest] : known.outputs) {
        if (!spec::declares(declared, path)) continue;
        is_there = true;
        const auto object = context.cache.find(digest);
        if (!object) return false;
        const bool is_new = objects.emplace(path, *object).second;
        if (is_new && spec::is_group(declared)) groups.emplace(path, declared);
      }
      return is_there;
    });
  }
};

}  // namespace

bool reuse_outputs(const StageContext& context,
                   const spec::PlannedStage& stage,
                   const std::string& key,
                   StageResult& result) {
  const auto known = context.cache.stage_outputs(key);
  if (!known) return false;
  DeclaredObjects declared;
  if (!declared.find_all(context, stage, *known)) return false;
  if (const std::string lost = lost_metric(context, stage, *known); !lost.empty()) {
    context.observer.note("stage " + stage.name + ": not reused from " + known->run_id +
                          ", which did not keep " + lost + ", that metrics are read from");
    return false;
  }
  const auto& objects = declared.objects;
  std::map<std::string, cache::Object> kept;
  for (const auto& [name, digest] : known->outputs) {
    if (name.front() != kept_prefix || objects.contains(name)) continue;
    if (name.starts_with(kept_trees)) continue;
    const auto object = context.cache.find(digest);
    if (!object) return false;
    kept.emplace(name.substr(1), *object);
  }
  make_real_folders(context.files.directory(), context.directory(stage.name));
  if (!declared.groups.empty()) {
    // What an earlier attempt left would be taken for a part of the folder.
    refuse_links(context.files.directory(), context.files.outputs(stage.name));
    base::remove_tree(context.files.outputs(stage.name));
  }
  for (const auto& [name, object] : kept) {
    const fs::path file = context.directory(stage.name) / name;
    make_real_folders(context.files.directory(), file.parent_path());
    put_in_run(object, file, read_only, context.cache);
  }
  for (const auto& [path, object] : objects) {
    const fs::path destination = context.files.outputs(stage.name) / path;
    make_real_folders(context.files.directory(), destination.parent_path());
    const auto mode = known->modes.find(path);
    const bool is_program = mode != known->modes.end();
    put_in_run(object, destination, is_program ? mode->second : read_only, context.cache);
    spec::OutputRecord output{
        stage.name, path, object.size_bytes, object.digest, "cache", {}, {}, {}};
    if (const auto group = declared.groups.find(path); group != declared.groups.end())
      output.part_of = group->second;
    note_known(destination, context.stamps);
    reuse_trees(context, *known, output);
    result.outputs.push_back(std::move(output));
  }
  result.record.state = "reused";
  result.record.made_by_run = known->run_id;
  result.record.made_on_host = known->host;
  context.observer.note("stage " + stage.name + ": reused from " + known->run_id);
  return true;
}

void mark_not_reusable(const StageContext& context,
                       const std::string& why,
                       spec::StageRecord& record) {
  record.not_reusable = why;
  context.observer.warn("stage " + record.name + ": cannot be reused: " + why);
}

void keep_for_later(const StageContext& context,
                    const spec::PlannedStage& stage,
                    const std::string& key,
                    StageResult& result) {
  const std::string others = undeclared_in(context.files.outputs(stage.name), stage.outputs);
  if (!others.empty()) {
    // A stage that reads them would not find them after a reuse.
    mark_not_reusable(
        context, "it leaves outputs that it does not declare: " + others, result.record);
    return;
  }
  cache::StageOutputs outputs{
      key, context.plan.run_id, probe::node_name(), base::format_rfc3339(context.clock.now()), {}};
  for (spec::OutputRecord& output : result.outputs) {
    const fs::path file = context.files.outputs(stage.name) / output.path;
    keep_for_reuse(output, file, context.stamps, context.cache);
    if (!is_in_cache(output)) {
      mark_not_reusable(context, "output '" + output.path + "' is " + *output.kept, result.record);
      return;
    }
    outputs.outputs.emplace(output.path, output.digest);
    if (output.trees) {
      outputs.outputs.emplace(std::string(kept_trees) + output.path,
                              context.cache.publish_file(trees_file(context.files, output)).digest);
    }
    const unsigned mode = context.stamps.of(file).st_mode & 0777U;
    if ((mode & 0111U) != 0) outputs.modes.emplace(output.path, mode);
  }
  const auto metrics = metrics_of(context, stage.name);
  for (const auto& entry : fs::directory_iterator(context.directory(stage.name))) {
    const std::string name = entry.path().filename().string();
    if (is_log(name) && entry.file_size() > kept_log_bytes) {
      if (std::ranges::any_of(metrics, reads_logs)) {
        mark_not_reusable(
            context, name + ", which metrics are read from, is larger than 16 MiB", result.record);
        return;
      }
      outputs.long_logs.push_back(name);
    }
    if (!is_kept(entry)) continue;
    outputs.outputs.emplace(kept_prefix + name, context.cache.publish_file(entry.path()).digest);
  }
  const fs::path work = context.directory(stage.name) / "work";
  for (const std::string& path : metric_files(work, metrics)) {
    std::error_code code;
    if (fs::file_size(work / path, code) > kept_work_bytes ||
        ::access((work / path).c_str(), R_OK) != 0) {
      mark_not_reusable(
          context,
          path + ", which metrics are read from, is larger than 256 MiB or unreadable",
          result.record);
      return;
    }
    outputs.outputs.emplace(std::string(kept_work) + path,
                            context.cache.publish_file(work / path).digest);
  }
  for (const spec::MetricSpec& metric : metrics) {
    if (const std::string file = searched_by(metric); !file.empty())
      outputs.searched.push_back(file);
  }
  context.cache.remember_stage(outputs);
}

}  // namespace sabath::execution

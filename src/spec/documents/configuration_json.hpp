#pragma once

#include "checked_read.hpp"
#include "fields_json.hpp"

#include <sabath/spec/configuration.hpp>

#include <vector>

namespace sabath::spec {

/// Looks for a regular expression with one group.
void check_progress(const std::string& pattern, const base::JsonReader& reader);
/// Each fetcher has a name of its own.
void check_fetchers(const std::vector<ToolFetcher>& fetchers,
                    std::vector<base::JsonReader>& readers);

struct FetcherForm {
  using Value = ToolFetcher;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, ToolFetcher> fetcher) {
    TextRule scheme = url_scheme;
    scheme.presence = required;
    io("scheme", fetcher.scheme, scheme, "of the sources that it takes");
    io("name",
       fetcher.name,
       NameRule{always},
       "for --fetcher and \"prefer\"; the scheme where not given");
    io("command",
       fetcher.command,
       ListRule<TextRule>{
           .item = {.check = check_argument}, .distinct = false, .presence = required},
       "an argument vector with {url} {output} {host} {path} {user}");
    io("progress",
       fetcher.progress,
       TextRule{.check = check_progress},
       "a regular expression with one group: the percentage done, in what the program writes");
  }
  static void check(ToolFetcher& fetcher, base::JsonReader& reader);
};

struct GlobusForm {
  using Value = GlobusSettings;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, GlobusSettings> globus) {
    constexpr int most_hours = 24 * 365;
    constexpr TextRule uuid{.pattern = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
                            .problem = "'%' is not the UUID of a collection",
                            .hint = "'globus endpoint local-id' or the collection's page shows it"};
    io("deadline_hours",
       globus.deadline_hours,
       CountRule{1, most_hours, always},
       "a task that takes longer is given up");
    io("local_collection", globus.local_collection, uuid, "a collection that holds the cache");
    io("paths",
       globus.paths,
       MapRule<TextRule, TextRule>{absolute_path, absolute_path},
       "folder here -> the same folder in the collection");
  }
  static void check(GlobusSettings& globus, base::JsonReader& reader);
};

struct CacheForm {
  using Value = CacheSettings;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, CacheSettings> cache) {
    io("shared", cache.shared, FlagRule{always}, "may the group write?");
    io("largest_output",
       cache.largest_output,
       SizeRule{always},
       "outputs of runs up to this size become objects: bytes, or a text such as \"4 GiB\"");
    io("lower",
       cache.lower,
       ListRule<TextRule>{.item = absolute_path},
       "read-only caches beneath the own one, searched in order");
  }
};

struct EnvironmentLimitsForm {
  using Value = EnvironmentLimits;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, EnvironmentLimits> limits) {
    io("wall", limits.wall, TimeRule{}, "for one layer: seconds, or a text such as 2h");
    io("silence", limits.silence, TimeRule{}, "without output of the program that runs");
    io("jobs",
       limits.jobs,
       CountRule{1},
       "parallel compilations; as many as there are CPUs where not given");
  }
};

struct EnvironmentSettingsForm {
  using Value = EnvironmentSettings;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, EnvironmentSettings> environments) {
    const ListRule<TextRule> names{.item = filled_text};
    io("variant",
       environments.variant,
       NameRule{},
       "of recipes that have it; the others take their first");
    io("packed",
       environments.packed,
       FlagRule{},
       "do runs use the images that sabath env pack made?");
    io("local",
       environments.local,
       absolute_path,
       "a folder on this node's own disk, where images are unpacked");
    io("trusted_owners",
       environments.trusted_owners,
       names,
       "users, by name or number, whose environments are used");
    io("trusted_groups",
       environments.trusted_groups,
       names,
       "groups, by name or number: the environments of their members are used, and folders that "
       "they may write");
    io("limits",
       environments.limits,
       PartRule<EnvironmentLimitsForm>{},
       "what building an environment may take");
  }
};

struct RunSettingsForm {
  using Value = RunSettings;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, RunSettings> runs) {
    io("largest_log",
       runs.largest_log,
       SizeRule{},
       "of a stage's stdout or stderr, beyond which it is ended: bytes, or a text such as \"64 "
       "GiB\"; 0: no limit");
  }
};

struct EndpointsForm {
  using Value = Endpoints;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Endpoints> endpoints) {
    constexpr TextRule url{.pattern = "https?://[\\s\\S]*",
                           .problem = "'%' is not a URL of https or http",
                           .presence = always};
    io("hf", endpoints.hf, url);
    io("doi", endpoints.doi, url);
    io("zenodo", endpoints.zenodo, url);
  }
  static void check(Endpoints& endpoints, base::JsonReader& reader);
};

struct HookForm {
  using Value = Hook;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Hook> hook) {
    io("on",
       hook.on,
       ListRule<TextRule>{.item = {.pattern = "started|failed|finished|lost|diverged",
                                   .problem = "'%' is not an event of a run",
                                   .hint = "one of started, failed, finished, lost, diverged"},
                          .may_be_empty = false,
                          .presence = required},
       "events that fire it");
    io("command",
       hook.command,
       ListRule<TextRule>{.item = {.check = check_argument}, .distinct = false},
       "an argument vector; the report is on stdin");
    io("post",
       hook.post,
       TextRule{
           .pattern =
               "https://[\\s\\S]+|http://(localhost|127[.]0[.]0[.]1|\\[::1\\])([:/][\\s\\S]*)?",
           .problem = "'%' is not a URL of https",
           .hint = "reports are posted without encryption only to this machine",
           .one_line = true},
       "URL to which the report is posted");
    io("mail",
       hook.mail,
       TextRule{.pattern = "[^\\s,;<>@-][^\\s,;<>@]*(@[^\\s,;<>@]+)?",
                .problem = "'%' is not the address of a mail",
                .one_line = true},
       "address that gets the report");
    io("where",
       hook.where,
       TextRule{.pattern = "exec|submit", .problem = "'%' is neither exec nor submit"},
       "exec: on the node of the run; submit: in the process that indexes the run");
    io("timeout",
       hook.timeout,
       TimeRule{std::chrono::seconds(30)},
       "limit of time: seconds, or a text such as 1m; 30 s where not given");
  }
  static void check(Hook& hook, base::JsonReader& reader);
};

/// config.json.
struct ConfigurationForm {
  using Value = Configuration;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Configuration> configuration) {
    constexpr int most_connections = 64;
    io("fetchers", configuration.fetchers, PartsRule<FetcherForm>{.check = check_fetchers});
    io("globus", configuration.globus, PartRule<GlobusForm>{always});
    io("cache", configuration.cache, PartRule<CacheForm>{always});
    io("environments",
       configuration.environments,
       PartRule<EnvironmentSettingsForm>{},
       "how environments are used on this machine");
    io("runs", configuration.runs, PartRule<RunSettingsForm>{}, "what runs may do on this machine");
    io("ssh_config",
       configuration.ssh_config,
       absolute_path,
       "for ssh's -F, instead of the user's own");
    io("connections_per_host", configuration.connections_per_host, CountRule{1, most_connections});
    io("prefer",
       configuration.prefer,
       MapRule<TextRule, NameRule>{.key = url_scheme},
       "scheme -> name of the fetcher that gets it");
    io("endpoints",
       configuration.endpoints,
       PartRule<EndpointsForm>{always},
       "base URLs of services");
    io("hooks", configuration.hooks, PartsRule<HookForm>{}, "what is done on events of runs");
    io("sendmail", configuration.sendmail, absolute_path, "that hooks use for mails");
  }
};

}  // namespace sabath::spec

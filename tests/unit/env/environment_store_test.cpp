#include "env/store/attempt_record.hpp"
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/stat.h>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::any_contains;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

const spec::EnvironmentSpec scripts{{}, {test::source_layer("make")}};

struct Shop : test::EnvWorkshop {
  Shop() { write("code/Makefile", test::script_makefile()); }
  std::string prefix() { return *build(scripts).prefix(); }
};

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("store: a layer is built once, at its final place, and found from then on") {
  Shop shop;
  CHECK_FALSE(shop.find(scripts).has_value());
  const auto built = shop.build(scripts);
  const fs::path prefix = *built.prefix();
  CHECK(fs::exists(prefix / "bin/hello"));
  CHECK(prefix == shop.attempts().at(0) / "prefix");
  CHECK(fs::read_symlink(prefix.parent_path().parent_path() / "current") ==
        prefix.parent_path().filename());
  CHECK(prefix.parent_path().parent_path().filename() == built.key().hex.substr(0, 32));
  CHECK(any_contains(shop.observer.notes, "building environment layer 'code'"));

  shop.observer.notes.clear();
  CHECK(shop.build(scripts) == built);
  CHECK(shop.find(scripts) == built);
  CHECK(shop.observer.notes.empty());
  CHECK(shop.attempts().size() == 1);
}

TEST_CASE("store: what is ready is read-only, without its scratch, with its record") {
  Shop shop;
  const fs::path prefix = shop.prefix();
  CHECK(mode_of(prefix / "bin/hello") == 0555);
  CHECK(mode_of(prefix / "bin") == 0555);
  CHECK(mode_of(prefix) == 0555);
  CHECK_FALSE(fs::exists(prefix.parent_path() / "work"));
  const std::string record = base::read_file(prefix.parent_path() / "record.json");
  CHECK(contains(record, "\"state\": \"ready\""));
  CHECK(contains(record, "\"source.tree\": \"sha256:"));
  CHECK(contains(record, "GNU Make"));
  CHECK(contains(base::read_file(prefix.parent_path() / "build.log"), "compiling"));
}

TEST_CASE("store: whatever the umask, others can read what is built and nobody can write it") {
  const unsigned mask = GENERATE(0U, 0002U, 0077U);
  const auto before = ::umask(mask);
  Shop shop;
  const fs::path prefix = shop.prefix();
  ::umask(before);
  for (fs::path path = prefix.parent_path(); path != shop.home.path(); path = path.parent_path())
    CHECK(mode_of(path) == 0755);
  CHECK(mode_of(prefix / "bin/hello") == 0555);
}

TEST_CASE("store: the key is what the facts hash to, so that a lock explains it") {
  Shop shop;
  const auto lock = shop.store().lock(scripts, shop.recipe()).layers.at(0);
  CHECK(lock.key == env::layer_key(lock.kind, lock.facts));
  CHECK(env::layer_key(lock.kind, {{"a", "b"}}) ==
        base::sha256_of("sabath-env/1\n{\"facts\":{\"a\":\"b\"},\"kind\":\"source\"}"));
  auto edited = lock.facts;
  edited["source.tree"] = "sha256:0";
  CHECK(env::layer_key(lock.kind, edited) != lock.key);
}

TEST_CASE("store: source, options, variables, and layers before change the key, names do not") {
  Shop shop;
  const auto key = [&](const spec::EnvironmentSpec& spec) {
    return shop.store().lock(spec, shop.recipe()).layers.back().key.hex;
  };
  const std::string first = key(scripts);
  spec::EnvironmentSpec other = scripts;
  SECTION("source") {
    shop.write("code/new.txt", "x");
  }
  SECTION("option") {
    other.layers[0].options["CFLAGS"] = "-O3";
  }
  SECTION("variable") {
    other.layers[0].variables["A"] = "b";
  }
  SECTION("layer before") {
    other.layers.insert(other.layers.begin(), test::host_layer({"sh"}));
  }
  CHECK(key(other) != first);
  spec::EnvironmentSpec renamed = other;
  renamed.layers.back().name = "renamed";
  CHECK(key(renamed) == key(other));
}

TEST_CASE(
    "store: a layer sees the programs and variables of the layers before it, while it builds") {
  Shop shop;
  shop.write("second/Makefile",
             "all:\n\thello > said.txt\n\techo $$GREETING $$OWN >> said.txt\n"
             "install:\n\tmkdir -p $(prefix)/share\n\tcp said.txt $(prefix)/share\n");
  spec::EnvironmentSpec both = scripts;
  both.layers[0].variables["GREETING"] = "good morning";
  both.layers.push_back(test::source_layer("make"));
  both.layers[1].name = "second";
  both.layers[1].path = "{recipe}/second";
  both.layers[1].variables["OWN"] = "$GREETING again";
  const auto built = shop.build(both);
  CHECK(base::read_file(fs::path(*built.prefix("second")) / "share/said.txt") ==
        "hello\ngood morning good morning again\n");
  CHECK(built.layers[1].lock.facts.at("before") == built.layers[0].lock.key.text());
}

TEST_CASE("store: the source is never written to, and what is built is what was locked") {
  Shop shop;
  shop.write("code/Makefile", test::script_makefile("touch made-here"));
  shop.build(scripts);
  CHECK_FALSE(fs::exists(shop.recipe() / "code/made-here"));
}

TEST_CASE("store: nothing of the user's leaks into a build") {
  Shop shop;
  shop.write("code/Makefile", test::script_makefile("env"));
  shop.options.environment["MY_SECRET_FLAGS"] = "-O7";
  const fs::path prefix = shop.prefix();
  const std::string log = base::read_file(prefix.parent_path() / "build.log");
  CHECK_FALSE(contains(log, "MY_SECRET_FLAGS"));
  CHECK(contains(log, "HOME=" + (prefix.parent_path() / "work/home").string()));
  CHECK(contains(log, "SOURCE_DATE_EPOCH="));
}

TEST_CASE("store: a prefix that is gone, or was moved with its cache, is built again") {
  Shop shop;
  const fs::path prefix = shop.prefix();
  SECTION("gone") {
    base::remove_tree(prefix);
  }
  SECTION("record gone") {
    fs::remove(prefix.parent_path() / "record.json");
  }
  SECTION("record damaged") {
    fs::remove(prefix.parent_path() / "record.json");
    base::write_file_atomically(prefix.parent_path() / "record.json", "{\"schema\": 1");
  }
  SECTION("moved") {
    const fs::path key = prefix.parent_path().parent_path();
    fs::rename(prefix.parent_path(), key / "moved123");
    fs::remove(key / "current");
    fs::create_symlink("moved123", key / "current");
    CHECK(shop.store().list().at(0).state == "failed");
  }
  SECTION("link out of the folder") {
    const fs::path key = prefix.parent_path().parent_path();
    fs::remove(key / "current");
    fs::create_symlink(
        "../" + key.filename().string() + "/" + prefix.parent_path().filename().string(),
        key / "current");
  }
  CHECK_FALSE(shop.find(scripts).has_value());
  const fs::path again = shop.prefix();
  CHECK(again != prefix);
  CHECK(fs::exists(again / "bin/hello"));
  CHECK(shop.find(scripts)->prefix() == again.string());
}

TEST_CASE("store: list, show and remove") {
  Shop shop;
  CHECK(shop.store().list().empty());
  const auto built = shop.build(scripts);
  shop.write("code/more.txt", "x");
  const auto other = shop.build(scripts);
  auto store = shop.store();
  REQUIRE(store.list().size() == 2);
  const std::string key = built.key().hex;
  const auto entry = store.show(key.substr(0, 12));
  CHECK(entry.lock == built.layers[0].lock);
  CHECK(entry.state == "ready");
  CHECK(entry.prefix == *built.prefix());
  CHECK(fs::exists(entry.log));
  CHECK(base::parse_rfc3339(entry.built).has_value());
  CHECK(store.show(key).lock.key == built.key());

  CHECK(error_of([&] { store.show("ffffffffffffffff"); }).kind() == base::ErrorKind::not_found);
  CHECK(error_of([&] { store.show(""); }).kind() == base::ErrorKind::not_found);
  CHECK(error_of([&] { store.show(key.substr(0, 63) + "x"); }).kind() ==
        base::ErrorKind::not_found);

  store.remove(key.substr(0, 12));
  REQUIRE(store.list().size() == 1);
  CHECK(store.list()[0].lock.key == other.key());
  CHECK_FALSE(fs::exists(*built.prefix()));
}

TEST_CASE("store: a key that several layers begin with is not unique") {
  Shop shop;
  const fs::path attempt = fs::path(shop.prefix()).parent_path();
  auto store = shop.store();
  const std::string key = store.list().at(0).lock.key.hex;
  const fs::path twin = shop.cache() / "envs/source" / (key.substr(0, 16) + std::string(16, '0'));
  base::make_directories(twin / "attempt1");
  fs::copy_file(attempt / "record.json", twin / "attempt1/record.json");
  const auto error = error_of([&] { store.show(key.substr(0, 8)); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "the key is ambiguous"));
}

TEST_CASE(
    "store: a cache path that is too long for programs, or splits a search path, is refused") {
  const std::string folder = GENERATE(std::string(180, 'x'), std::string("a:b"));
  Shop shop;
  env::EnvironmentStore store(shop.home / folder, shop.processes, shop.clock, shop.options);
  const auto error = error_of([&] { store.build(scripts, shop.recipe(), shop.observer); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.hint(), "another folder"));
  CHECK_FALSE(fs::exists(shop.home / folder));
}

TEST_CASE("store: whether an environment has a layer is told from what it asks for where it can") {
  Shop shop;
  const auto code = shop.build(scripts).lock().layers.at(0);
  auto renamed = scripts;
  renamed.layers[0].name = "other";
  const spec::EnvironmentSpec second{{}, {test::host_layer({}), scripts.layers[0]}};
  auto set = scripts;
  set.layers[0].variables["A"] = "1";
  const auto has = [&](const spec::EnvironmentSpec& spec, const spec::LayerLock& layer) {
    return shop.store().resolves_to(layer, spec, shop.recipe());
  };
  CHECK(has(scripts, code));
  CHECK(has(renamed, code));
  CHECK_FALSE(has(second, code));  // it depends on what comes before
  CHECK(has(second, shop.build(second).lock().layers.at(1)));
  CHECK_FALSE(has(set, code));
  CHECK(has(set, shop.build(set).lock().layers.at(0)));

  shop.write("code/Makefile", test::script_makefile("@echo another"));
  CHECK_FALSE(has(scripts, code));
  fs::remove_all(shop.recipe() / "code");
  CHECK_FALSE(has(scripts, code));
}

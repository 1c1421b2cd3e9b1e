#include "conda_workshop.hpp"
#include "conformance/layer_conformance.hpp"

#include <catch2/catch.hpp>

#include <thread>

namespace fs = std::filesystem;
using namespace sabath;
using test::any_contains;
using test::CondaWorkshop;
using test::contains;
using test::error_of;

namespace {

/// Both engines do the same.
std::string each_engine() {
  return GENERATE(as<std::string>(), "conda", "mamba");
}

}  // namespace

TEST_CASE("conda: what is locked is what is installed, and it works") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  shop.package("apple", "0.9");
  const auto spec = shop.asks_for({"apple >=1"});

  const auto lock = shop.lock(spec);
  REQUIRE(lock.layers.size() == 1);
  REQUIRE(lock.layers[0].platforms.size() == 1);
  const auto& platform = lock.layers[0].platforms[0];
  CHECK(platform.platform.starts_with("linux-"));
  CHECK(platform.python.empty());
  const auto& packages = platform.packages;
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].name == "apple");
  CHECK(packages[0].version == "1.0");
  CHECK(packages[0].build == "h12_3");
  CHECK(packages[0].file == "apple-1.0-h12_3.tar.bz2");
  CHECK(packages[0].url == shop.address() + "/linux-64/apple-1.0-h12_3.tar.bz2");
  CHECK(packages[0].digest == base::digest_file(shop.channel() / "linux-64" / packages[0].file));
  CHECK(packages[0].requested);
  CHECK(packages[1].name == "libpear");
  CHECK(packages[1].url == shop.address() + "/noarch/libpear-2.1-0.tar.bz2");
  CHECK_FALSE(packages[1].requested);

  // What the channel has later changes nothing.
  shop.package("apple", "2.0");
  const auto built = shop.build(spec);
  const auto& layer = built.layers.at(0);
  CHECK(shop.shell(built, "apple") == "from " + layer.prefix + "/share\n");
  CHECK(layer.packages ==
        std::map<std::string, std::string>{{"apple", "1.0=h12_3"}, {"libpear", "2.1=0"}});
  CHECK(layer.lock_file == lock.digest());
  CHECK(layer.drift().empty());
  CHECK(layer.lock.facts.at("package.apple") == "1.0=h12_3 " + packages[0].digest.text());
  const auto present = shop.store().list().at(0).present;
  CHECK(present.at("explicit.libpear") == *packages[1].url + "#" + packages[1].digest.text());
  CHECK(contains(platform.resolver, present.at("tool.installer")));

  const auto before = fs::last_write_time(layer.prefix);
  CHECK(shop.build(spec).prefix() == built.prefix());
  CHECK(fs::last_write_time(layer.prefix) == before);
  const auto mode = fs::status(layer.prefix).permissions();
  CHECK((mode & fs::perms::owner_write) == fs::perms::none);
}

TEST_CASE("conda: what runs in it sees what activation would set, and nothing of the user's") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  const fs::path user = shop.home / "user";
  base::make_directories(user);
  base::write_file_atomically(user / ".condarc", "channels: [nowhere]\nalways_softlink: true\n");
  shop.options.environment["HOME"] = user.string();
  shop.options.environment["CONDA_DEFAULT_ENV"] = "mine";
  shop.options.environment["MAMBA_EXE"] = "/mine";
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  const auto built = shop.build(spec);
  const std::string prefix = built.layers[0].prefix;
  CHECK(shop.shell(built, "echo $CONDA_PREFIX $APPLE_HOME $CONDA_DEFAULT_ENV $MAMBA_EXE") ==
        prefix + " " + prefix + "/share " + prefix + "\n");
  CHECK(shop.shell(built, "echo $PATH").starts_with(prefix + "/bin:"));
  CHECK_FALSE(contains(shop.shell(built, "echo $LD_LIBRARY_PATH"), prefix));
  INFO("nothing was written to the user's home");
  CHECK(test::listing_of(user).size() == 1);
}

TEST_CASE("conda: programs with room for a prefix are installed with it") {
  CondaWorkshop shop(each_engine());
  base::write_file_atomically(
      shop.home / "where.c",
      "#include <stdio.h>\nchar where[] = PLACE;\nint main(void) { puts(where); return 0; }\n");
  std::string place = "/opt/anaconda1anaconda2anaconda3/";
  std::size_t room = 255;
  SECTION("enough") {}
  SECTION("too little") {
    room = 40;
  }
  while (place.size() < room)
    place += "placehold_";
  place.resize(room);
  base::Command command;
  command.argv = {"cc",
                  "-DPLACE=\"" + place + "\"",
                  "-o",
                  (shop.home / "where").string(),
                  (shop.home / "where.c").string()};
  REQUIRE(shop.processes.run(command).ok());
  shop.package("where",
               "1.0",
               {"--placeholder-length",
                std::to_string(room),
                "--binary",
                "bin/where=" + (shop.home / "where").string()});
  const auto spec = shop.asks_for({"where"});
  shop.lock(spec);
  if (room < 255) {
    const auto error = error_of([&] { shop.build(spec); });
    CAPTURE(error.what());
    CHECK(error.kind() == base::ErrorKind::environment);
    CHECK_FALSE(shop.find(spec).has_value());
    return;
  }
  const auto built = shop.build(spec);
  CHECK(shop.shell(built, "where") == *built.prefix() + "\n");
}

TEST_CASE("conda: a prefix that would be too long is refused before anything is fetched") {
  CondaWorkshop shop("mamba");
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  bool asked = false;
  shop.options.bring = [&](const auto&, const auto&, auto&, auto) {
    asked = true;
    return std::vector<fs::path>();
  };
  env::EnvironmentStore store(
      shop.home / std::string(200, 'x'), shop.processes, shop.clock, shop.options);
  const auto error = error_of([&] { store.build(spec, shop.recipe(), shop.observer); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "too long"));
  CHECK(contains(error.hint(), "another folder for the cache"));
  CHECK_FALSE(asked);
}

TEST_CASE("conda: an environment that is not locked, or locked for another request, is refused") {
  CondaWorkshop shop("mamba");
  shop.orchard();
  auto spec = shop.asks_for({"apple"});
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "is not locked"));
  shop.lock(spec);
  spec.layers[0].packages.channels.push_back("file:///elsewhere");
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "is out of date"));
  spec = shop.asks_for({"apple"});

  std::string text = base::read_file(shop.lock_file());
  text.replace(text.find("apple-1.0"), 9, "apple-1.1");
  base::write_file_atomically(shop.lock_file(), text);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "was edited or merged after it was written"));
  CHECK(shop.store().list().empty());
}

TEST_CASE("conda: an explicit list is taken as it is, and gets its SHA-256") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  shop.package("apple", "2.0");
  const fs::path apple = shop.channel() / "linux-64/apple-1.0-h12_3.tar.bz2";
  const fs::path pear = shop.channel() / "noarch/libpear-2.1-0.tar.bz2";
  std::string list = "# made by hand\n@EXPLICIT\n";
  bool needs_engine = true;
  SECTION("with MD5") {
    for (const fs::path& file : {apple, pear}) {
      list += "file://" + file.string() + "#" +
              base::digest_file(file, base::DigestAlgorithm::md5).hex + "\n";
    }
  }
  SECTION("with SHA-256") {
    for (const fs::path& file : {apple, pear})
      list += "file://" + file.string() + "#" + base::digest_file(file).text() + "\n";
    needs_engine = false;
  }
  shop.write("explicit.txt", list);
  const auto spec = CondaWorkshop::lists("explicit.txt");
  const std::string path = shop.options.environment["PATH"];
  if (!needs_engine) shop.options.environment["PATH"] = shop.own_path;
  const auto packages = shop.lock(spec).layers[0].platforms[0].packages;
  shop.options.environment["PATH"] = path;
  REQUIRE(packages.size() == 2);
  CHECK(packages[0].digest == base::digest_file(apple));
  CHECK(packages[1].digest == base::digest_file(pear));
  const auto built = shop.build(spec);
  CHECK(built.layers[0].packages->at("apple") == "1.0=h12_3");

  shop.write("explicit.txt", list + "\n# another comment\n");
  CHECK_NOTHROW(shop.build(spec));
  list.resize(list.rfind("file://"));
  shop.write("explicit.txt", list);
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "is out of date"));
}

TEST_CASE("conda: what is wrong with an explicit list is said with its line") {
  CondaWorkshop shop("mamba");
  const std::string good =
      "https://host/channel/linux-64/zlib-1.3.1-h4ab18f5_1.conda#92ed62436b625154323d40d5f2f11dd7";
  std::string list;
  std::string part;
  SECTION("no digest") {
    list = "@EXPLICIT\nhttps://host/channel/linux-64/zlib-1.3.1-h4ab18f5_1.conda\n";
    part =
        "explicit.txt:2: https://host/channel/linux-64/zlib-1.3.1-h4ab18f5_1.conda has no digest";
  }
  SECTION("another platform") {
    list =
        "@EXPLICIT\nhttps://host/channel/osx-arm64/zlib-1.3.1-h4ab18f5_1.conda"
        "#92ed62436b625154323d40d5f2f11dd7\n";
    part = "is not for linux-64: osx-arm64/zlib-1.3.1-h4ab18f5_1.conda";
  }
  SECTION("what is to be resolved") {
    list = "name: base\ndependencies:\n  - zlib\n";
    part = "explicit.txt:1: no explicit list: '@EXPLICIT' must come first";
  }
  SECTION("packages of pip") {
    list = "@EXPLICIT\n" + good + "\n# pip numpy @ https://host/numpy.whl#sha256=00\n";
    part =
        "explicit.txt:3: 'pip numpy @ https://host/numpy.whl#sha256=00' is not a package of conda";
  }
  SECTION("a login") {
    list = "@EXPLICIT\nhttps://me:word@host/channel/linux-64/zlib-1.3.1-0.conda\n";
    part = "explicit.txt:2: the address has a login";
  }
  SECTION("no package") {
    list = "@EXPLICIT\nhttps://host/channel/zlib.zip#92ed62436b625154323d40d5f2f11dd7\n";
    part = "is not the address of a package";
  }
  SECTION("twice") {
    list = "@EXPLICIT\n" + good + "\n" + good + "\n";
    part = "explicit.txt:3: zlib is listed twice";
  }
  SECTION("nothing") {
    list = "@EXPLICIT\n";
    part = "explicit.txt: lists no packages";
  }
  shop.write("explicit.txt", list);
  const auto error = error_of([&] { shop.lock(CondaWorkshop::lists("explicit.txt")); });
  CAPTURE(error.what());
  CHECK(contains(error.what(), part));
  CHECK_FALSE(contains(error.what(), "word@"));
}

TEST_CASE("conda: requests that are none are refused before anything is asked") {
  CondaWorkshop shop("mamba");
  shop.orchard();
  auto spec = shop.asks_for({"apple"});
  auto& packages = spec.layers[0].packages;
  std::string part;
  SECTION("packages of pip") {
    packages.requirements.push_back("pip: numpy");
    part = "'pip: numpy' is not a package of conda";
  }
  SECTION("an option") {
    packages.requirements.push_back("--force");
    part = "'--force' is not a package with versions";
  }
  SECTION("no channel") {
    packages.channels.clear();
    part = "names no channels";
  }
  SECTION("a login") {
    packages.channels = {"https://host/t/TOKEN/channel"};
    part = "channel 'https://host/channel' was given with a login";
  }
  const auto error = error_of([&] { shop.lock(spec); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), part));
}

TEST_CASE("conda: what cannot be resolved is said in the solver's words") {
  const std::string engine = each_engine();
  CondaWorkshop shop(engine);
  shop.orchard();
  shop.package("plum", "1.0", {"--depends", "libpear <2"});
  shop.package("libpear", "1.0", {"--subdir", "noarch"});
  shop.package("fig", "1.0", {"--subdir", "linux-ppc64le"});
  auto spec = shop.asks_for({"apple"});
  auto& packages = spec.layers[0].packages;
  std::string part;
  SECTION("no such package") {
    packages.requirements = {"quince"};
    part = "quince";
  }
  SECTION("no such version") {
    packages.requirements = {"apple >=7"};
    part = "apple";
  }
  SECTION("packages that exclude each other") {
    packages.requirements = {"apple", "plum"};
    part = "libpear";
  }
  SECTION("only for another platform") {
    packages.requirements = {"fig"};
    part = "fig";
  }
  SECTION("no such channel") {
    packages.channels = {"file://" + (shop.home / "nowhere").string()};
    // Old conda takes it for an empty one.
    part = engine == "conda" ? "apple" : "nowhere";
  }
  const auto error = error_of([&] { shop.lock(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "environment layer 'tools': cannot be resolved: "));
  CHECK(contains(error.what(), part));
  CHECK_FALSE(fs::exists(shop.lock_file()));
}

TEST_CASE("conda: without an engine it is said what was looked for") {
  CondaWorkshop shop("mamba");
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  shop.options.environment["PATH"] = shop.own_path;
  for (const auto& action : {std::function<void()>([&] { shop.lock(spec); }),
                             std::function<void()>([&] { shop.build(spec); })}) {
    const auto error = error_of(action);
    CHECK(error.kind() == base::ErrorKind::environment);
    CHECK(contains(error.what(), "none of micromamba, mamba and conda is on PATH"));
    CHECK_FALSE(error.hint().empty());
  }
}

TEST_CASE("conda: a file that is not the one that was locked is never installed") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  shop.package("apple", "1.0", {"--build", "h12_3", "--file", "share/other.txt=other"});
  const auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(contains(error.what(), "cannot fetch apple-1.0-h12_3.tar.bz2"));
  CHECK(contains(error.what(), "other bytes"));
  CHECK_FALSE(shop.find(spec).has_value());
}

TEST_CASE("conda: packages without a SHA-256 in the channel are fetched for it") {
  CondaWorkshop shop(each_engine());
  const std::string file = shop.package("apple", "1.0", {"--no-sha256"});
  const auto spec = shop.asks_for({"apple"});
  const auto lock = shop.lock(spec);
  CHECK(lock.layers[0].platforms[0].packages.at(0).digest ==
        base::digest_file(shop.channel() / "linux-64" / file));
  CHECK(any_contains(shop.observer.notes, "fetching " + file + " for its SHA-256"));
}

TEST_CASE("conda: a lock has several platforms, and one without this machine's is refused") {
  CondaWorkshop shop(each_engine());
  shop.package("apple", "1.0", {"--subdir", "linux-aarch64"});
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec, {"linux-aarch64", {}});
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the lock has nothing for linux-"));
  CHECK(contains(error.what(), "it has: linux-aarch64"));

  shop.package("apple", "1.0");
  const auto lock = shop.lock(spec);
  REQUIRE(lock.layers[0].platforms.size() == 2);
  CHECK(contains(lock.layers[0].platforms[0].packages[0].url.value_or(""),
                 "/linux-aarch64/apple-1.0-0."));
  CHECK_NOTHROW(shop.build(spec));
}

TEST_CASE("conda: files come through whoever brings them, and then no channel is asked") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  fs::rename(shop.channel(), shop.home / "brought");
  // Objects of a cache have other names.
  std::map<std::string, fs::path> objects;
  for (const char* name : {"linux-64/apple-1.0-h12_3.tar.bz2", "noarch/libpear-2.1-0.tar.bz2"}) {
    const auto digest = base::digest_file(shop.home / "brought" / name);
    objects[digest.hex] = shop.home / digest.hex;
    fs::rename(shop.home / "brought" / name, objects[digest.hex]);
  }
  shop.options.bring = [&](const std::vector<env::PinnedFile>& files,
                           const env::Download&,
                           base::Observer&,
                           std::stop_token) {
    std::vector<fs::path> paths;
    for (const env::PinnedFile& file : files) {
      CHECK(file.urls.size() == 1);
      CHECK(file.urls.at(0).ends_with("/" + file.name));
      paths.push_back(objects.at(file.digest.hex));
    }
    return paths;
  };
  CHECK(shop.store().fetch(spec, shop.recipe(), shop.observer).size() == 2);
  CHECK_NOTHROW(shop.build(spec));
}

TEST_CASE("conda: packages that cannot be used fail the build, which is not tried by itself") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  auto spec = shop.asks_for({"apple"});
  std::string part;
  SECTION("a command that the recipe needs") {
    spec.layers[0].commands = {"apple", "slice"};
    part = "the packages bring no such command: slice";
  }
  SECTION("a module that the recipe needs") {
    shop.package("apple", "1.1", {"--program", "bin/python=#!/bin/sh\necho no module; exit 1\n"});
    spec.layers[0].packages.imports = {"apple.core"};
    part = "no module";
  }
  SECTION("an activation script that ends the shell") {
    shop.package("apple", "1.1", {"--file", "etc/conda/activate.d/a.sh=echo rotten >&2; exit 3\n"});
    part = "rotten";
  }
  shop.lock(spec);
  auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), part));
  CHECK(shop.store().list().at(0).state == "failed");
  error = error_of([&] { shop.build(spec); });
  CHECK(contains(error.what(), "is repeated only on request"));
}

TEST_CASE("conda: a shared library that is not there fails the build, unless it may be missing") {
  CondaWorkshop shop(each_engine());
  const std::string folder = shop.home.path().string();
  base::write_file_atomically(shop.home / "a.c", "int a(void) { return 1; }\n");
  base::Command command;
  command.argv = {"sh",
                  "-c",
                  "cd " + folder +
                      " && cc -shared -fPIC -o libgone.so a.c && "
                      "cc -shared -fPIC -Wl,--no-as-needed -o part.so a.c -L. -lgone && "
                      "rm libgone.so"};
  REQUIRE(shop.processes.run(command).ok());
  shop.package("apple", "1.0", {"--binary", "lib/part.so=" + folder + "/part.so"});
  auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(contains(error.what(), "part.so needs libgone.so"));
  spec.layers[0].packages.optional_libraries = {"libgone.so"};
  CHECK_NOTHROW(
      shop.store().build(spec, shop.recipe(), shop.observer, {}, env::AfterFailure::retry));
}

TEST_CASE("conda: two builders at once make one environment") {
  CondaWorkshop shop("mamba");
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  std::vector<std::string> prefixes(2);
  std::vector<std::jthread> builders;
  for (std::string& prefix : prefixes) {
    builders.emplace_back([&shop, &spec, &prefix] {
      test::RecordingObserver observer;
      env::EnvironmentStore store(
          shop.cache() / "envs",
          shop.processes,
          shop.clock,
          {.environment = shop.options.environment, .bring = shop.options.bring});
      prefix = store.build(spec, shop.recipe(), observer).prefix().value_or("");
    });
  }
  builders.clear();
  CHECK_FALSE(prefixes[0].empty());
  CHECK(prefixes[0] == prefixes[1]);
}

TEST_CASE("conda: packages that changed after the build are drift") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  const auto built = shop.build(spec);
  const fs::path meta = fs::path(*built.prefix()) / "conda-meta";
  fs::permissions(meta, fs::perms::owner_all);
  fs::rename(meta / "apple-1.0-h12_3.json", meta / "apple-1.5-h12_4.json");
  base::write_file_atomically(meta / "wild-plum-0.1-0.json", "{}");
  const std::vector<std::string> drift{"apple: 1.0=h12_3 was locked, 1.5=h12_4 is present",
                                       "wild-plum: 0.1=0 is present and was not locked"};
  CHECK(shop.find(spec)->layers.at(0).drift() == drift);
  CHECK(shop.store().list().at(0).drift == drift);
}

TEST_CASE("conda: a pip layer after it is made of its Python") {
  CondaWorkshop shop("mamba");
  const auto python = test::real_python(shop.processes);
  shop.package("python",
               python.version,
               {"--binary",
                "bin/python3=" + python.program,
                "--link",
                "lib/python" + python.series() + "=" + python.library});
  auto spec = shop.asks_for({"python"});
  shop.lock(spec);
  const std::string prefix = *shop.build(spec).prefix();
  spec::LayerSpec pip;
  pip.kind = spec::LayerKind::pip;
  pip.name = "python";
  spec.layers.push_back(pip);
  shop.options.environment["PIP_NO_INDEX"] = "1";
  shop.options.environment["PIP_FIND_LINKS"] = shop.home.path().string();
  base::Command command;
  command.argv = {"python3",
                  SABATH_SOURCE_DIR "/tests/support/packages/make_package.py",
                  shop.home.path().string(),
                  "apple",
                  "1.0"};
  REQUIRE(shop.processes.run(command).ok());
  spec.layers[1].packages.requirements = {"apple"};
  shop.lock(spec);
  const auto built = shop.build(spec);
  CHECK(shop.shell(built, "python -c 'import apple, sys; print(sys.base_prefix)'") ==
        prefix + "\n");
}

TEST_CASE("conda: the layer conforms") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  auto good = shop.asks_for({"apple"}).layers[0];
  shop.lock({{}, {good}});
  auto impossible = good;
  impossible.packages.requirements = {"pear"};
  const auto layers = env::builtin_layers(shop.processes, shop.clock, {}, shop.options.environment);
  const auto conda = std::find_if(layers.begin(), layers.end(), [](const auto& layer) {
    return layer->kind() == spec::LayerKind::conda;
  });
  test::check_layer_conformance(
      {**conda,
       good,
       impossible,
       shop.recipe(),
       {{"PATH", shop.options.environment.at("PATH")}, {"HOME", "/nonexistent"}}});
}

TEST_CASE("conda: its key is the same for another user at another place") {
  CondaWorkshop shop(each_engine());
  shop.orchard();
  const auto spec = shop.asks_for({"apple"});
  shop.lock(spec);
  test::check_key_travels(spec, shop.recipe(), shop.options);
}

// Source layers whose code comes from elsewhere: the real git with repositories of the test's own,
// archives, patches.

#include "conformance/layer_conformance.hpp"
#include "env/tools/git.hpp"
#include "source_workshop.hpp"
#include "support/daemon.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/loopback.hpp"
#include "support/servers/nginx.hpp"

#include <sabath/env/remote_commit.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::any_contains;
using sabath::test::contains;
using sabath::test::error_of;
using Shop = test::SourceWorkshop;

TEST_CASE("fetched source: git passes the conformance suite of layers") {
  Shop shop;
  shop.commit("r", Shop::makefile_saying("hello"));
  const auto good = shop.git_layer("r");
  shop.lock({{}, {good}});
  auto impossible = shop.git_layer("r", "another");
  const auto layers = env::builtin_layers(shop.processes, shop.clock, {}, shop.options.environment);
  const auto source = std::find_if(layers.begin(), layers.end(), [](const auto& layer) {
    return layer->kind() == spec::LayerKind::source;
  });
  test::check_layer_conformance({**source,
                                 good,
                                 impossible,
                                 shop.recipe(),
                                 {{"PATH", base::current_environment().at("PATH")}}});
}

TEST_CASE("fetched source: a branch is locked to its commit, and builds stay with it") {
  Shop shop;
  const auto first = shop.commit("r", Shop::makefile_saying("one"));
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  const auto unlocked = error_of([&] { shop.build(spec); });
  CHECK(unlocked.kind() == base::ErrorKind::environment);
  CHECK(contains(unlocked.what(), "is not locked"));
  CHECK(contains(unlocked.hint(), "sabath env lock"));

  const auto lock = shop.lock(spec);
  CHECK(shop.locked(lock).version == first);
  CHECK(shop.locked(lock).url == shop.url("r"));
  shop.commit("r", Shop::makefile_saying("two"));
  const auto built = shop.build(spec);
  CHECK(shop.said_by(built) == "one\n");
  const auto& facts = built.layers[0].lock.facts;
  CHECK(facts.at("source.commit") == first);
  CHECK(facts.at("source.tree") == shop.locked(lock).digest.text());
  CHECK(built.layers[0].lock_file == lock.digest());

  const auto again = shop.lock(spec);
  CHECK(shop.locked(again).version != first);
  CHECK(shop.said_by(shop.build(spec)) == "two\n");
  const auto words = spec::differences(built.lock(), shop.store().lock(spec, shop.recipe()));
  CHECK(any_contains(words, first));
  CHECK(any_contains(words, shop.locked(again).version));
}

TEST_CASE("remote commit: a branch, a tag and HEAD of a repository are asked for") {
  Shop shop;
  const auto first = shop.commit("r", Shop::makefile_saying("one"));
  shop.shell("r", "git tag v1");
  const auto second = shop.commit("r", "echo more >more");
  const base::TempDir work(fs::temp_directory_path());
  const auto ask = [&](const std::string& url, const std::string& reference) {
    return env::remote_commit(url, reference, work.path(), shop.processes, shop.observer);
  };
  CHECK(ask(shop.url("r"), "") == second);
  CHECK(ask(shop.url("r"), "refs/tags/v1") == first);
  CHECK(error_of([&] { ask(shop.url("r"), "refs/heads/none"); }).kind() ==
        base::ErrorKind::environment);
  const auto gone = error_of([&] { ask(shop.url("gone"), ""); });
  CHECK(gone.kind() == base::ErrorKind::transfer);
  CHECK(contains(gone.what(), "git: asking"));
  CHECK_THROWS_AS(ask("ext::sh -c true", ""), base::Error);
}

TEST_CASE("fetched source: tags, whole names, commits and the default branch can be named") {
  Shop shop;
  const auto first = shop.commit("r", Shop::makefile_saying("one") + "\ngit add -A");
  shop.shell("r", "git tag -a -m annotated v1; git branch side");
  const auto second = shop.commit("r", "echo more >more");
  const auto commit_of = [&](const std::string& ref) {
    return shop.locked(shop.lock({{}, {shop.git_layer("r", ref)}})).version;
  };
  CHECK(commit_of("v1") == first);
  CHECK(commit_of("refs/tags/v1") == first);
  CHECK(commit_of("side") == first);
  CHECK(commit_of(first) == first);
  CHECK(commit_of("refs/heads/main") == second);
  shop.shell("r", "git branch v1 main");
  const auto error = error_of([&] { commit_of("v1"); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "'v1' is a branch and a tag of " + shop.url("r")));
  CHECK(contains(error.hint(), "refs/tags/v1"));
}

TEST_CASE("fetched source: what was brought is built when the repository is gone") {
  Shop shop;
  shop.commit("r", Shop::makefile_saying("kept"));
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  shop.lock(spec);
  const auto files = shop.store().fetch(spec, shop.recipe(), shop.observer);
  REQUIRE(files.size() == 1);
  fs::remove_all(shop.home / "r");
  shop.options.environment["PATH"] = "/usr/bin:/bin";
  CHECK(shop.said_by(shop.build(spec)) == "kept\n");
  CHECK(shop.downloads == 1);
}

TEST_CASE(
    "fetched source: the same commit has the same bytes and key whatever the user's settings") {
  Shop shop;
  shop.commit(
      "r",
      Shop::makefile_saying("same") +
          "\nprintf '* text=auto eol=crlf\\nsecret export-ignore\\nid ident export-subst\\n'"
          " >.gitattributes\nprintf 'a\\nb\\n' >lines\necho s >secret\n"
          "printf '$Id$ $Format:%%H$\\n' >id");
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  const auto one = shop.locked(shop.lock(spec));
  const auto key = shop.store().lock(spec, shop.recipe()).layers[0].key;
  base::write_file_atomically(shop.home / ".gitconfig",
                              "[core]\n\tautocrlf = true\n\tattributesFile = ~/attributes\n"
                              "[tar]\n\tumask = 0077\n[fetch]\n\tprune = true\n");
  base::write_file_atomically(shop.home / "attributes", "* eol=crlf export-ignore\n");
  const auto other = shop.locked(shop.lock(spec));
  CHECK(one == other);
  CHECK(shop.store().lock(spec, shop.recipe()).layers[0].key == key);
  const auto path = shop.store().fetch(spec, shop.recipe(), shop.observer);
  shop.shell("out", "tar xf " + shop.objects.at(one.digest.hex).string());
  CHECK(base::read_file(shop.home / "out/lines") == "a\nb\n");
  CHECK(base::read_file(shop.home / "out/id") == "$Id$ $Format:%H$\n");
  CHECK(fs::exists(shop.home / "out/secret"));
}

TEST_CASE("fetched source: git trusts the certificates that SSL_CERT_FILE names") {
  Shop shop;
  const auto commit = shop.commit("r", Shop::makefile_saying("trusted"));
  shop.shell("r", "git update-server-info");  // for a server that knows only files
  test::Nginx server;
  const fs::path repository = shop.home / "r/.git";
  for (const auto& entry : fs::recursive_directory_iterator(repository)) {
    if (!entry.is_regular_file()) continue;
    server.put("/r.git/" + entry.path().lexically_relative(repository).string(),
               base::read_file(entry.path()));
  }
  auto layer = shop.git_layer("r");
  layer.origin.git = server.tls_url("/r.git");
  const spec::EnvironmentSpec spec{{}, {layer}};
  auto& user = shop.options.environment;
  for (const char* name : {"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"})
    user.erase(name);
  const auto is_refused = [&] {
    const auto error = error_of([&] { shop.lock(spec); });
    INFO(error.what());
    CHECK(error.kind() == base::ErrorKind::transfer);
    CHECK(contains(error.what(), "certificate"));
  };
  is_refused();
  user["SSL_CERT_FILE"] = server.certificate().string();
  CHECK(shop.locked(shop.lock(spec)).version == commit);
  // What the user says to git itself comes first.
  user["GIT_SSL_CAINFO"] = "/etc/hostname";
  is_refused();
  user["SSL_CERT_FILE"] = "/etc/hostname";
  user["GIT_SSL_CAINFO"] = server.certificate().string();
  CHECK(shop.locked(shop.lock(spec)).version == commit);
}

TEST_CASE("fetched source: submodules are part of the tree, with their own") {
  Shop shop;
  shop.commit("innermost", "echo deep >deep.txt");
  const std::string add = "git -c protocol.file.allow=always submodule --quiet add ";
  shop.commit("inner",
              "echo inner >inner.txt\n" + add + "../innermost below 2>/dev/null || " + add +
                  shop.url("innermost") + " below");
  shop.commit("r",
              "printf 'all:\\n\\ncat:\\n\\ninstall:\\n\\tmkdir -p $(PREFIX)/share\\n"
              "\\tcp main.txt parts/sub/inner.txt parts/sub/below/deep.txt $(PREFIX)/share\\n'"
              " >Makefile\necho main >main.txt\n" +
                  add + shop.url("inner") +
                  " parts/sub\ngit config -f .gitmodules submodule.parts/sub.url ../inner");
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  shop.lock(spec);
  const fs::path prefix = *shop.build(spec).prefix();
  CHECK(base::read_file(prefix / "share/main.txt") == "main\n");
  CHECK(base::read_file(prefix / "share/inner.txt") == "inner\n");
  CHECK(base::read_file(prefix / "share/deep.txt") == "deep\n");
}

TEST_CASE(
    "fetched source: submodules that are named by ssh are fetched by https as their parent is") {
  const std::string parent = "https://example.org/team/main";
  const auto url = [&](const char* named) { return env::submodule_url(parent, named); };
  CHECK(url("git@example.org:team/part.git") == "https://example.org/team/part.git");
  CHECK(url("ssh://git@example.org/team/part") == "https://example.org/team/part");
  CHECK(url("ssh://git@example.org:22/team/part") == "https://example.org/team/part");
  CHECK(url("../part") == "https://example.org/team/part");
  CHECK(url("https://other.org/part") == "https://other.org/part");
  // Another port may be another server; what leads elsewhere stays as it is, and is refused.
  CHECK(url("ssh://git@example.org:2222/part") == "ssh://git@example.org:2222/part");
  CHECK(url("git@example.org:a:b") == "git@example.org:a:b");
  CHECK(url("-oProxyCommand=x@example.org:a") == "-oProxyCommand=x@example.org:a");
  CHECK(env::submodule_url("ssh://git@example.org/main", "git@example.org:part") ==
        "git@example.org:part");
}

TEST_CASE("fetched source: hostile submodules and URLs run nothing") {
  Shop shop;
  shop.commit("inner", "echo inner >inner.txt");
  const std::string executed = shop.home / "executed";
  shop.commit("r",
              "git -c protocol.file.allow=always submodule --quiet add " + shop.url("inner") +
                  " sub\ngit config -f .gitmodules submodule.sub.url 'ext::sh -c touch% " +
                  executed + "'");
  const auto lock_error = [&](const spec::LayerSpec& layer) {
    const auto error = error_of([&] { shop.lock({{}, {layer}}); });
    CAPTURE(error.what());
    CHECK_FALSE(error.hint().empty());
    return std::string(error.what());
  };
  CHECK(contains(lock_error(shop.git_layer("r")), "is not a URL of a git repository"));
  shop.shell("r", "git config -f .gitmodules submodule.sub.url http://127.0.0.1:1/x");
  shop.commit("r", "true");
  CHECK(
      contains(lock_error(shop.git_layer("r")), "a repository of file:// may not lead to http://"));
  shop.shell("r", "git config -f .gitmodules --remove-section submodule.sub");
  shop.commit("r", "true");
  CHECK(contains(lock_error(shop.git_layer("r")), "no URL in .gitmodules"));
  for (const std::string& url : {"ext::sh -c touch% " + executed,
                                 "--upload-pack=touch " + executed,
                                 std::string("ssh://-oProxyCommand=touch/x"),
                                 std::string("git@example.org:x"),
                                 std::string("/somewhere")}) {
    auto layer = shop.git_layer("r");
    layer.origin.git = url;
    CHECK(contains(lock_error(layer), "is not a URL of a git repository"));
  }
  auto layer = shop.git_layer("r");
  layer.origin.git = "https://me:secret@127.0.0.1:1/r";
  const auto said = lock_error(layer);
  CHECK(contains(said, "holds a login"));
  CHECK_FALSE(contains(said, "secret"));
  CHECK_FALSE(fs::exists(executed));
}

TEST_CASE("fetched source: hooks and filters of a repository and of the user run nothing") {
  Shop shop;
  const std::string touch = "touch " + (shop.home / "executed").string();
  shop.commit("r", Shop::makefile_saying("x") + "\necho '* filter=evil' >.gitattributes");
  shop.shell("templates/hooks",
             "printf '#!/bin/sh\\n" + touch +
                 "\\n' >post-checkout\n"
                 "cp post-checkout reference-transaction\ncp post-checkout fsmonitor\nchmod +x *");
  base::write_file_atomically(
      shop.home / ".gitconfig",
      "[init]\n\ttemplateDir = " + (shop.home / "templates").string() +
          "\n[core]\n\thooksPath = " + (shop.home / "templates/hooks").string() +
          "\n[filter \"evil\"]\n\tsmudge = " + touch + "\n");
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  shop.lock(spec);
  shop.build(spec);
  CHECK_FALSE(fs::exists(shop.home / "executed"));
}

TEST_CASE("fetched source: what is not there is told by what it is") {
  Shop shop;
  const auto commit = shop.commit("r", Shop::makefile_saying("x"));
  auto error = error_of([&] { shop.lock({{}, {shop.git_layer("r", "nowhere")}}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), shop.url("r") + " has no branch and no tag 'nowhere'"));
  CHECK(contains(error.hint(), "40 digits"));

  error = error_of([&] { shop.lock({{}, {shop.git_layer("nowhere")}}); });
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK(contains(error.what(), "asking " + shop.url("nowhere") + " failed"));

  auto unreachable = shop.git_layer("r");
  unreachable.origin.git = "http://127.0.0.1:1/r.git";
  error = error_of([&] { shop.lock({{}, {unreachable}}); });
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK(contains(error.what(), "127.0.0.1"));
  CHECK(contains(error.hint(), "check the URL"));

  const std::string lost(40, 'a');
  error = error_of([&] { shop.lock({{}, {shop.git_layer("r", lost)}}); });
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK(contains(error.what(), "has no commit " + lost));
  CHECK(commit.size() == 40);
}

TEST_CASE(
    "fetched source: a server that asks who it is, or ends midway, is told and not waited for") {
  Shop shop;
  test::FaultServer server;
  const std::string question = "/r/info/refs?service=git-upload-pack";
  auto layer = shop.git_layer("r");
  layer.origin.git = server.url("/r");
  SECTION("a login") {
    server.always(question, {401, {{"WWW-Authenticate", "Basic realm=\"x\""}}, "who?"});
    const auto error = error_of([&] { shop.lock({{}, {layer}}); });
    CAPTURE(error.what());
    CHECK(error.kind() == base::ErrorKind::transfer);
    CHECK(contains(error.what(), "Authentication failed"));
  }
  SECTION("the end, in the middle of the list of branches") {
    test::Reply reply{200,
                      {{"Content-Type", "application/x-git-upload-pack-advertisement"}},
                      "001e# service=git-upload-pack\n0000" + std::string(4000, 'x')};
    reply.cut_after_bytes = 60;
    server.always(question, reply);
    const auto error = error_of([&] { shop.lock({{}, {layer}}); });
    CAPTURE(error.what());
    CHECK(error.kind() == base::ErrorKind::transfer);
    CHECK(contains(error.what(), "asking " + server.url("/r") + " failed"));
  }
  CHECK_FALSE(server.requests().empty());
}

TEST_CASE("fetched source: a commit that was rewritten is told when it is to be fetched") {
  Shop shop;
  shop.commit("r", Shop::makefile_saying("x"));
  const spec::EnvironmentSpec spec{{}, {shop.git_layer("r")}};
  auto lock = shop.lock(spec);
  SECTION("its bytes are others than those that were locked") {
    lock.layers[0].platforms[0].packages[0].digest = base::sha256_of("other");
    shop.write_lock(lock);
    const auto error = error_of([&] { shop.build(spec); });
    CHECK(error.kind() == base::ErrorKind::integrity);
    CHECK(contains(error.what(), "was locked as"));
  }
  SECTION("the lock was edited by hand") {
    std::string text = base::read_file(shop.lock_file());
    const auto at = text.find(shop.locked(lock).version);
    REQUIRE(at != std::string::npos);
    text.replace(at, 4, "0000");
    base::write_file_atomically(shop.lock_file(), text);
    const auto error = error_of([&] { shop.build(spec); });
    CHECK(error.kind() == base::ErrorKind::usage);
    CHECK(contains(error.what(), "the lock was edited or merged"));
  }
  SECTION("the recipe asks for another branch since") {
    const auto error = error_of([&] { shop.build({{}, {shop.git_layer("r", "other")}}); });
    CHECK(error.kind() == base::ErrorKind::environment);
    CHECK(contains(error.what(), "is out of date: the requirements have changed"));
  }
}

TEST_CASE("fetched source: git's own server and plain files over http serve as well") {
  Shop shop;
  const auto commit = shop.commit("r", Shop::makefile_saying("served"));
  shop.shell("r", "echo later >later; git add -A; git commit -q -m later; git update-server-info");
  const auto port = test::unused_port();
  const test::Daemon daemon({"git",
                             "daemon",
                             "--export-all",
                             "--reuseaddr",
                             "--listen=127.0.0.1",
                             "--port=" + std::to_string(port),
                             "--base-path=" + shop.home.path().string()},
                            port);
  const auto web = test::unused_port();
  const test::Daemon server({"python3",
                             "-m",
                             "http.server",
                             "--bind",
                             "127.0.0.1",
                             "--directory",
                             shop.home.path().string(),
                             std::to_string(web)},
                            web);
  auto layer = shop.git_layer("r", commit);
  const auto digest = shop.locked(shop.lock({{}, {layer}})).digest;
  for (const std::string& url : {"git://127.0.0.1:" + std::to_string(port) + "/r",
                                 "http://127.0.0.1:" + std::to_string(web) + "/r/.git"}) {
    CAPTURE(url);
    layer.origin.git = url;
    CHECK(shop.locked(shop.lock({{}, {layer}})).digest == digest);
    shop.objects.clear();
    CHECK(shop.said_by(shop.build({{}, {layer}})) == "served\n");
  }
}

TEST_CASE(
    "fetched source: an archive with its digest needs no lock, its one folder is the source") {
  Shop shop;
  shop.shell("made/thing-1.0", Shop::makefile_saying("archived"));
  shop.shell("made", "tar czf ../thing-1.0.tar.gz thing-1.0");
  const auto layer = shop.archive_layer("thing-1.0.tar.gz");
  const spec::EnvironmentSpec spec{{}, {layer}};
  const auto built = shop.build(spec);
  CHECK(shop.said_by(built) == "archived\n");
  CHECK(built.layers[0].lock.facts.at("source.archive") == layer.origin.digest->text());
  CHECK_FALSE(shop.store().lock_packages(spec, shop.recipe(), {}, {}, shop.observer));

  INFO("from another place it is the same");
  auto mirrored = layer;
  mirrored.origin.archive = "http://127.0.0.1:1/elsewhere/thing-1.0.tar.gz";
  CHECK(shop.store().lock({{}, {mirrored}}, shop.recipe()).layers[0].key == built.key());
}

TEST_CASE("fetched source: all files of an archive have one time: what it has ready is not older") {
  Shop shop;
  shop.shell("made",
             "printf 'all:\\ninstall:\\n\\tmkdir -p $(PREFIX)/share\\n"
             "\\tstat -c %%Y configure configure.ac >$(PREFIX)/share/times\\n' >Makefile\n"
             "touch configure configure.ac; tar cf ../ready.tar *");
  const auto built = shop.build({{}, {shop.archive_layer("ready.tar")}});
  CHECK(base::read_file(fs::path(*built.prefix()) / "share/times") == "315532800\n315532800\n");
}

TEST_CASE(
    "fetched source: an archive of many folders is the source itself, \"path\" leads within") {
  Shop shop;
  shop.shell("made/sub", Shop::makefile_saying("within"));
  shop.shell("made", "echo x >README; tar cJf ../flat.tar.xz README sub");
  auto layer = shop.archive_layer("flat.tar.xz");
  const auto error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "No targets specified and no makefile found"));
  layer.path = "sub";
  const auto built = shop.build({{}, {layer}});
  CHECK(shop.said_by(built) == "within\n");
  CHECK(built.layers[0].lock.facts.at("source.path") == "sub");
  layer.path = "nowhere";
  CHECK(contains(error_of([&] { shop.build({{}, {layer}}); }).what(), "nowhere: no such folder"));
}

TEST_CASE("fetched source: an archive that is not what the recipe says, or leads out, is refused") {
  Shop shop;
  shop.shell("made",
             "echo x >Makefile; tar cf ../a.tar Makefile; tar cf ../b.tar -P ../made/Makefile");
  auto other = shop.archive_layer("a.tar");
  other.origin.digest = base::sha256_of("other");
  auto error = error_of([&] { shop.build({{}, {other}}); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  error = error_of([&] { shop.build({{}, {shop.archive_layer("b.tar")}}); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the path leads out of its folder"));
  base::write_file_atomically(shop.home / "c.tar", "no archive at all");
  error = error_of([&] { shop.build({{}, {shop.archive_layer("c.tar")}}); });
  CHECK(error.kind() == base::ErrorKind::environment);
}

TEST_CASE("fetched source: patches are applied in order, and are part of the key") {
  Shop shop;
  shop.commit("r", Shop::makefile_saying("zero"));
  shop.shell("r2",
             "cp ../r/Makefile .; git init -q .; git add -A; git commit -q -m x\n"
             "sed -i 's/echo zero/echo one/' Makefile; git diff >" +
                 (shop.recipe() / "1.patch").string() +
                 "; git commit -q -a -m y\nsed -i 's/echo one/echo two/' Makefile; git diff >" +
                 (shop.recipe() / "2.patch").string());
  auto layer = shop.git_layer("r");
  shop.lock({{}, {layer}});
  const auto plain = shop.store().lock({{}, {layer}}, shop.recipe()).layers[0];
  layer.patches = {"{recipe}/1.patch", "{recipe}/2.patch"};
  const auto built = shop.build({{}, {layer}});
  CHECK(shop.said_by(built) == "two\n");
  const auto& facts = built.layers[0].lock.facts;
  CHECK(facts.at("patch.1") == base::digest_file(shop.recipe() / "1.patch").text());
  CHECK(facts.at("patch.2") == base::digest_file(shop.recipe() / "2.patch").text());
  CHECK(built.key() != plain.key);

  INFO("the wrong way round: the place that does not fit is told");
  layer.patches = {"{recipe}/2.patch", "{recipe}/1.patch"};
  auto error = error_of([&] { shop.build({{}, {layer}}); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the patch 2.patch does not apply"));
  CHECK(contains(error.what(), "Makefile:"));

  layer.patches = {"{recipe}/3.patch"};
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(error.kind() == base::ErrorKind::not_found);
  CHECK(contains(error.what(), "3.patch: no such file"));
  fs::create_symlink("/etc/hostname", shop.recipe() / "3.patch");
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "lies outside of the recipe"));
  fs::remove(shop.recipe() / "3.patch");
  shop.write("3.patch", "--- a/../../x\n+++ b/../../x\n@@ -0,0 +1 @@\n+A\n");
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "the patch 3.patch does not apply"));
}

TEST_CASE(
    "fetched source: patches are applied without git, and where folders lie in a repository") {
  Shop shop;
  shop.write("code/Makefile", test::script_makefile());
  auto layer = test::source_layer("make", {"c"});
  shop.write("fix.patch",
             "--- a/Makefile\n+++ b/Makefile\n@@ -1,3 +1,3 @@\n all:\n"
             "-\t@echo compiling\n+\t@echo mended\n install:\n");
  layer.patches = {"{recipe}/fix.patch"};
  SECTION("a repository around") {
    // Of this form git leaves out what is not beneath its root, and says nothing.
    const std::string text = base::read_file(shop.recipe() / "fix.patch");
    shop.write("fix.patch", "diff --git a/Makefile b/Makefile\n" + text);
    shop.shell("", "git init -q .");
    shop.build({{}, {layer}});
    CHECK(contains(base::read_file(shop.store().list().front().log), "mended"));
  }
  SECTION("only patch is here") {
    base::make_directories(shop.home / "bin");
    for (const char* name :
         {"make", "cc", "ldd", "sh", "mkdir", "printf", "chmod", "patch", "echo"}) {
      if (const auto program = base::find_program(name))
        fs::create_symlink(*program, shop.home / "bin" / name);
    }
    if (!fs::exists(shop.home / "bin/patch")) {
      WARN("no patch here: not tested");
      return;
    }
    shop.options.environment["PATH"] = (shop.home / "bin").string();
    shop.build({{}, {layer}});
    CHECK(contains(base::read_file(shop.store().list().front().log), "mended"));
    shop.write("fix.patch",
               "--- a/Makefile\n+++ b/Makefile\n@@ -1,2 +1,2 @@\n all:\n-\tno\n+\ta\n");
    const auto error = error_of([&] { shop.build({{}, {layer}}); });
    CHECK(contains(error.what(), "fix.patch does not apply"));
    CHECK(contains(error.what(), "Hunk #1 FAILED at 1"));
  }
}

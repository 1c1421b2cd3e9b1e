// Source layers that are built with autotools or by steps, and with compilers of MPI.

#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

std::string output_of(const std::vector<std::string>& argv,
                      const base::Environment& environment = base::current_environment()) {
  base::SystemProcessRunner processes;
  base::Command command;
  command.argv = argv;
  command.environment = environment;
  const auto result = processes.run(command);
  INFO(result.errors);
  CHECK(result.ok());
  return result.output;
}

/// A configure that is none of autoconf's: it takes down what it is given.
void write_own_configure(const test::EnvWorkshop& shop) {
  shop.write(
      "code/configure",
      "#!/bin/sh\n"
      "for word; do\n"
      "  case $word in --prefix=*) prefix=${word#--prefix=};; *) echo \"$word\" >>words;; esac\n"
      "done\n"
      "printf 'all:\\n\\ninstall:\\n\\tmkdir -p %s/share\\n\\tcp words %s/share\\n' "
      "$prefix $prefix >Makefile\n"
      "echo LDFLAGS=$LDFLAGS >>words\n");
  fs::permissions(shop.recipe() / "code/configure", fs::perms::owner_all);
}

/// A program with a library of its own, by autoconf and automake.
void write_autotools_project(const test::EnvWorkshop& shop) {
  shop.write("code/configure.ac",
             "AC_INIT([greeter], [1.0])\n"
             "AC_CONFIG_SRCDIR([main.c])\n"
             "AM_INIT_AUTOMAKE([foreign])\n"
             "AC_PROG_CC\n"
             "AC_ARG_ENABLE([shouting], [], [], [enable_shouting=no])\n"
             "AS_IF([test \"x$enable_shouting\" != xno],\n"
             "  [AC_DEFINE_UNQUOTED([GREETING], [\"HELLO $enable_shouting\"], [what is said])],\n"
             "  [AC_DEFINE([GREETING], [\"hello\"], [what is said])])\n"
             "AC_CONFIG_FILES([Makefile])\n"
             "AC_OUTPUT\n");
  shop.write("code/Makefile.am",
             "bin_PROGRAMS = greeter\n"
             "greeter_SOURCES = main.c\n"
             "greeter_LDADD = -lgreet\n"
             "greeter_LDFLAGS = -L.\n"
             "greeter_DEPENDENCIES = libgreet.so\n"
             "libgreet.so: greet.c\n"
             "\t$(CC) $(DEFS) $(CPPFLAGS) $(CFLAGS) -shared -fPIC -o $@ $(srcdir)/greet.c\n"
             "install-exec-local:\n"
             "\tmkdir -p $(DESTDIR)$(libdir)\n\tcp libgreet.so $(DESTDIR)$(libdir)\n");
  shop.write("code/greet.c", "const char* greet(void) { return GREETING \" from \" __FILE__; }\n");
  shop.write("code/main.c",
             "#include <stdio.h>\nconst char* greet(void);\n"
             "int main(void) { puts(greet()); return 0; }\n");
}

}  // namespace

TEST_CASE("source layer: autotools gets prefix and options as configure has them") {
  test::EnvWorkshop shop;
  write_own_configure(shop);
  auto layer = test::source_layer("autotools", {"c"});
  layer.options = {{"enable-shared", ""}, {"with-x", "no"}, {"with-cuda", "/opt/cuda"}};
  const auto built = shop.build({{}, {layer}});
  const std::string words = base::read_file(fs::path(*built.prefix()) / "share/words");
  CHECK(contains(words, "--enable-shared\n--with-cuda=/opt/cuda\n--with-x=no\n"));
  CHECK(contains(words, "-Wl,-rpath," + *built.prefix() + "/lib"));
  CHECK(built.layers[0].lock.facts.at("option.with-cuda") == "/opt/cuda");
  CHECK(contains(shop.store().show(built.key().hex).present.at("tool.make"), "Make"));
}

TEST_CASE("source layer: autotools makes configure where there is only configure.ac") {
  if (!base::find_program("autoreconf") || !base::find_program("automake")) {
    WARN("no autoconf and automake here: not tested");
    return;
  }
  test::EnvWorkshop shop;
  write_autotools_project(shop);
  auto layer = test::source_layer("autotools", {"c"});
  layer.options = {{"enable-shouting", ""}};
  const auto built = shop.build({{}, {layer}});
  INFO("the library in the prefix is found by its rpath, and the build's folder does not show");
  const std::string said = output_of({*built.prefix() + "/bin/greeter"});
  CHECK(contains(said, "HELLO yes from "));
  CHECK_FALSE(contains(said, shop.cache().string()));
  CHECK(contains(shop.store().show(built.key().hex).present.at("tool.autoreconf"), "autoreconf"));
}

TEST_CASE("source layer: a configure that fails, or is not there, is told") {
  test::EnvWorkshop shop;
  const auto layer = test::source_layer("autotools", {"c"});
  shop.write("code/main.c", "int main(void) { return 0; }\n");
  auto error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the source has no configure script"));
  shop.write("code/configure", "#!/bin/sh\necho 'configure: error: no fortune' >&2\nexit 77\n");
  fs::permissions(shop.recipe() / "code/configure", fs::perms::owner_all);
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "failed while configuring"));
  CHECK(contains(error.what(), "configure: error: no fortune"));
}

TEST_CASE("source layer: steps are run one after another in the source") {
  test::EnvWorkshop shop;
  shop.write("code/words", "steps ran\n");
  auto layer = test::source_layer("steps", {"c"});
  layer.steps = {{"mkdir", "-p", "{prefix}/share"},
                 {"sh", "-c", "echo {jobs} '{{x}}' \"$0\" >>words", "{source}"},
                 {"cp", "words", "{prefix}/share/"}};
  const auto built = shop.build({{}, {layer}});
  const std::string words = base::read_file(fs::path(*built.prefix()) / "share/words");
  CHECK(contains(words, "steps ran\n"));
  CHECK(contains(words, " {x} /"));
  const auto& facts = built.layers[0].lock.facts;
  CHECK(facts.at("step.1") == "mkdir -p '{prefix}/share'");
  auto other = layer;
  other.steps[0][2] = "{prefix}/other";
  CHECK(shop.store().lock({{}, {other}}, shop.recipe()).layers[0].key != built.key());
}

TEST_CASE("source layer: a step that fails, is silent, or cannot be understood is told") {
  test::EnvWorkshop shop;
  shop.write("code/words", "x\n");
  auto layer = test::source_layer("steps", {"c"});
  layer.steps = {{"true"}, {"sh", "-c", "echo broken; exit 3"}};
  auto error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "failed while running step 2 of 2"));
  CHECK(contains(error.what(), "broken"));
  layer.steps = {{"sh", "-c", "sleep 600"}};
  shop.options.limits.silence = std::chrono::seconds(1);
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "running step 1 of 1"));
  CHECK(contains(error.hint(), "waits for input"));
  layer.steps = {{"cp", "{prefx}"}};
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "step 1: unknown placeholder '{prefx}'"));
  layer.steps = {{"no-such-program", "x"}};
  error = error_of([&] { shop.build({{}, {layer}}); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "environment layer 'code': "));
  CHECK(contains(error.what(), "no-such-program"));
  CHECK(contains(error.what(), "running step 1 of 1"));
  layer.steps = {{"true"}};
  error = error_of([&] { shop.build({{}, {layer}}); });
  CHECK(contains(error.what(), "the build installed nothing"));
}

TEST_CASE(
    "source layer: a compiler of MPI is told from its compiler, and builds what mpirun runs") {
  if (!base::find_program("mpicc") || !base::find_program("mpirun")) {
    WARN("no MPI here: not tested");
    return;
  }
  test::EnvWorkshop shop;
  shop.write("code/Makefile",
             "all:\n\t$(CC) -o ranks ranks.c\n"
             "install:\n\tinstall -D ranks $(PREFIX)/bin/ranks\n");
  shop.write("code/ranks.c",
             "#include <mpi.h>\n#include <stdio.h>\n"
             "int main(int n, char** w) {\n  int rank, sum = 0;\n  MPI_Init(&n, &w);\n"
             "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n  ++rank;\n"
             "  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);\n"
             "  if (rank == 1) printf(\"%d\\n\", sum);\n  return MPI_Finalize();\n}\n");
  auto host = test::host_layer({"mpirun", "mpicc"});
  host.variables = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                    {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
  auto layer = test::source_layer("make", {"c"});
  const auto plain = shop.store().lock({{}, {host, layer}}, shop.recipe()).layers[1];
  layer.options["CC"] = "mpicc";
  const auto built = shop.build({{}, {host, layer}});
  const auto& identity = built.layers[1].lock.facts.at("compiler.c");
  CAPTURE(identity);
  CHECK(contains(identity, "mpicc"));
  CHECK(identity != plain.facts.at("compiler.c"));
  CHECK(output_of({"mpirun", "-n", "2", *built.prefix() + "/bin/ranks"},
                  env::run_variables(built, base::current_environment())) == "3\n");
}

TEST_CASE("source layer: a compiler of MPI that an earlier layer brings is the toolchain") {
  test::EnvWorkshop shop;
  shop.write("mpi/mpicc",
             "#!/bin/sh\n"
             "[ \"$1\" = --showme:version ] && { echo 'mpicc: Own MPI 1.0'; exit 0; }\n"
             "exec cc -DWRAPPED=7 \"$@\"\n");
  fs::permissions(shop.recipe() / "mpi/mpicc", fs::perms::owner_all);
  shop.write("code/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.22)\nproject(seven LANGUAGES C)\n"
             "add_executable(seven main.c)\ninstall(TARGETS seven)\n");
  shop.write("code/main.c",
             "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", WRAPPED); return 0; }\n");
  auto mpi = test::source_layer("steps", {});
  mpi.name = "mpi";
  mpi.path = "{recipe}/mpi";
  mpi.steps = {{"mkdir", "{prefix}/bin"}, {"cp", "mpicc", "{prefix}/bin/"}};
  auto code = test::source_layer("cmake", {"c"});
  code.options["CMAKE_C_COMPILER"] = "mpicc";
  const auto built = shop.build({{}, {mpi, code}});
  CHECK(output_of({*built.prefix() + "/bin/seven"}) == "7\n");
  CHECK(contains(built.layers[1].lock.facts.at("compiler.c"), "; mpicc: Own MPI 1.0"));
}

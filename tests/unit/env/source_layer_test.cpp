#include "conformance/layer_conformance.hpp"
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

std::string output_of(const fs::path& program) {
  base::SystemProcessRunner processes;
  base::Command command;
  command.argv = {program.string()};
  const auto result = processes.run(command);
  CHECK(result.ok());
  return result.output;
}

/// A shared library in C and a program in C++ that uses it.
void write_cmake_project(test::EnvWorkshop& shop) {
  shop.write(
      "code/CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.22)\n"
      "project(greeter LANGUAGES C CXX)\n"
      "add_library(greet SHARED greet.c)\n"
      "add_executable(greeter main.cpp)\n"
      "target_link_libraries(greeter greet)\n"
      "target_compile_definitions(greeter PRIVATE KIND=\"${KIND}\" TYPE=\"${CMAKE_BUILD_TYPE}\")\n"
      "install(TARGETS greet greeter)\n");
  shop.write("code/greet.c", "const char* greet(void) { return __FILE__; }\n");
  shop.write("code/main.cpp",
             "#include <iostream>\n"
             "extern \"C\" const char* greet();\n"
             "int main() { std::cout << greet() << ' ' << KIND << ' ' << TYPE << '\\n'; }\n");
}

}  // namespace

TEST_CASE("source layer: passes the conformance suite of layers") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile", test::script_makefile());
  auto impossible = test::source_layer("cmake", {"c++"});
  impossible.path = "{recipe}/nowhere";
  const auto layers = env::builtin_layers(shop.processes, shop.clock);
  test::check_layer_conformance({*layers.at(2),
                                 test::source_layer("make", {"c"}),
                                 impossible,
                                 shop.recipe(),
                                 {{"PATH", base::current_environment().at("PATH")}}});
}

TEST_CASE("source layer: its key is the same for another user at another place") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile", test::script_makefile());
  shop.write("code/main.c", "int main(void) { return 0; }\n");
  test::check_key_travels(
      {{}, {test::source_layer("make", {"c", "c++"})}}, shop.recipe(), shop.options);
}

TEST_CASE(
    "source layer: cmake builds C and C++, in release, with the options that were asked for") {
  test::EnvWorkshop shop;
  write_cmake_project(shop);
  spec::EnvironmentSpec spec{{}, {test::source_layer("cmake", {"c", "c++"})}};
  spec.layers[0].options["KIND"] = "warm";
  const auto built = shop.build(spec);
  const fs::path prefix = *built.prefix();
  INFO("its own library is found without any variable, and no path of the build shows");
  CHECK(output_of(prefix / "bin/greeter") == "source/greet.c warm Release\n");
  const auto& facts = built.layers[0].lock.facts;
  CHECK(facts.at("option.CMAKE_BUILD_TYPE") == "Release");
  CHECK(facts.at("option.KIND") == "warm");
  CHECK_FALSE(facts.at("compiler.c").empty());
  CHECK_FALSE(facts.at("compiler.c++").empty());
  const auto present = shop.store().show(built.key().hex).present;
  CHECK(contains(present.at("tool.cmake"), "cmake version"));
  CHECK(present.contains("tool.generator"));
  CHECK(contains(present.at("library.libgreet.so"), prefix.string()));
}

TEST_CASE("source layer: cmake without ninja builds with make, to the same key") {
  test::EnvWorkshop shop;
  write_cmake_project(shop);
  const spec::EnvironmentSpec spec{{}, {test::source_layer("cmake", {"c", "c++"})}};
  const std::string key = shop.store().lock(spec, shop.recipe()).layers[0].key.hex;
  base::make_directories(shop.home / "bin");
  for (const char* name :
       {"cmake", "make", "cc", "c++", "ldd", "sh", "ar", "ranlib", "ld", "as", "nm"}) {
    const auto program = base::find_program(name);
    if (program) fs::create_symlink(*program, shop.home / "bin" / name);
  }
  shop.options.environment = {{"PATH", (shop.home / "bin").string()}};
  const auto built = shop.build(spec);
  CHECK(built.key().hex == key);
  CHECK(shop.store().show(key).present.at("tool.generator") == "Unix Makefiles");
}

TEST_CASE("source layer: make builds C with the options as variables") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile",
             "all: adder\n"
             "adder: adder.c\n\t$(CC) $(CFLAGS) -o $@ $<\n"
             "install:\n\tinstall -D adder $(PREFIX)/bin/adder\n");
  shop.write("code/adder.c",
             "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", ONE + ONE); return 0; }\n");
  spec::EnvironmentSpec spec{{}, {test::source_layer("make", {"c"})}};
  spec.layers[0].options["CFLAGS"] = "-DONE=1";
  CHECK(output_of(fs::path(*shop.build(spec).prefix()) / "bin/adder") == "2\n");
}

TEST_CASE("source layer: Fortran is built with cmake") {
  if (!base::find_program("gfortran")) {
    WARN("no gfortran here: not tested");
    return;
  }
  test::EnvWorkshop shop;
  shop.write("code/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.22)\n"
             "project(flow LANGUAGES Fortran)\n"
             "add_executable(flow flow.f90)\n"
             "install(TARGETS flow)\n");
  shop.write("code/flow.f90", "program flow\n  print '(a)', 'flows'\nend program\n");
  const auto built = shop.build({{}, {test::source_layer("cmake", {"fortran"})}});
  CHECK(output_of(fs::path(*built.prefix()) / "bin/flow") == "flows\n");
  CHECK(contains(built.layers[0].lock.facts.at("compiler.fortran"), "Fortran"));
}

TEST_CASE("source layer: what does not compile is reported with what the compiler said") {
  test::EnvWorkshop shop;
  write_cmake_project(shop);
  shop.write("code/main.cpp", "int main() { return undeclared_thing; }\n");
  const auto error = error_of([&] {
    shop.build({{}, {test::source_layer("cmake", {"c", "c++"})}});
  });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the build failed while compiling"));
  CHECK(contains(error.what(), "undeclared_thing"));
}

TEST_CASE("source layer: a library that is not found at run time is found out after the build") {
  if (!base::find_program("ldd")) {
    WARN("no ldd here: not tested");
    return;
  }
  test::EnvWorkshop shop;
  write_cmake_project(shop);
  shop.write(
      "code/CMakeLists.txt",
      base::read_file(shop.recipe() / "code/CMakeLists.txt") +
          "install(CODE \"file(REMOVE \\\"${CMAKE_INSTALL_PREFIX}/lib/libgreet.so\\\")\")\n");
  const auto error = error_of([&] {
    shop.build({{}, {test::source_layer("cmake", {"c", "c++"})}});
  });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "shared libraries are not found: bin/greeter needs libgreet.so"));
}

TEST_CASE("source layer: one that is linked with a library that went away is built again") {
  if (!base::find_program("ldd")) {
    WARN("no ldd here: not tested");
    return;
  }
  test::EnvWorkshop shop;
  shop.write("code/lib.c", "int answer(void) { return 42; }\n");
  shop.write("code/main.c", "int answer(void);\nint main(void) { return answer() != 42; }\n");
  const std::string elsewhere = shop.home / "elsewhere";
  shop.write("code/Makefile",
             "all:\n\tmkdir -p " + elsewhere + "\n\t$(CC) -shared -fPIC -o " + elsewhere +
                 "/libanswer.so lib.c\n\t$(CC) -o main main.c -L" + elsewhere + " -Wl,-rpath," +
                 elsewhere + " -lanswer\ninstall:\n\tmkdir -p $(PREFIX)/bin\n" +
                 "\tcp main $(PREFIX)/bin/main\n");
  const spec::EnvironmentSpec spec{{}, {test::source_layer("make", {"c"})}};
  shop.build(spec);
  REQUIRE(shop.find(spec));
  fs::remove(elsewhere + "/libanswer.so");
  CHECK_FALSE(shop.find(spec));
  CHECK(contains(shop.store().list().front().problem, "libanswer.so, which is gone"));
  // Its own build brings the library back, so either prefix is good then.
  CHECK(shop.build(spec).prefix());
  CHECK(fs::exists(elsewhere + "/libanswer.so"));
  CHECK(shop.find(spec));
}

TEST_CASE("source layer: a later layer finds the packages of an earlier one") {
  test::EnvWorkshop shop;
  write_cmake_project(shop);
  shop.write("user/CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.22)\n"
             "project(user LANGUAGES C)\n"
             "find_library(GREET greet REQUIRED)\n"
             "add_executable(user main.c)\n"
             "target_link_libraries(user ${GREET})\n"
             "install(TARGETS user)\n");
  shop.write("user/main.c",
             "#include <stdio.h>\nconst char* greet(void);\nint main(void) { puts(greet()); return "
             "0; }\n");
  spec::EnvironmentSpec spec{
      {}, {test::source_layer("cmake", {"c", "c++"}), test::source_layer("cmake", {"c"})}};
  spec.layers[1].name = "user";
  spec.layers[1].path = "{recipe}/user";
  CHECK(output_of(fs::path(*shop.build(spec).prefix("user")) / "bin/user") == "source/greet.c\n");
}

TEST_CASE("source layer: a compiler that the user chose is taken, and its options are in the key") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile",
             "CC = false\n"
             "all: one.c\n\t$(CC) -o one one.c\n"
             "install:\n\tinstall -D one $(PREFIX)/bin/one\n");
  shop.write("code/one.c", "#include <stdio.h>\nint main(void) { puts(WORD); return 0; }\n");
  const spec::EnvironmentSpec spec{{}, {test::source_layer("make", {"c"})}};
  const auto plain = shop.store().lock(spec, shop.recipe()).layers[0];
  shop.options.environment["CC"] = "cc -DWORD=\"chosen\"";
  const auto chosen = shop.store().lock(spec, shop.recipe()).layers[0];
  CHECK(chosen.facts.at("compiler.c") == plain.facts.at("compiler.c") + " -DWORD=\"chosen\"");
  CHECK(chosen.key != plain.key);
  shop.options.environment["CC"] = "cc -DWORD=__func__";
  CHECK(output_of(fs::path(*shop.build(spec).prefix()) / "bin/one") == "main\n");
}

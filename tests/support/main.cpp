// Catch's main alone in one file: it is the slowest thing to compile here.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

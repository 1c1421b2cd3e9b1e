# Copy this file to packages/sabath/package.py of a Spack repository.
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Sabath(CMakePackage):
    """Asset manager and benchmark harness for surrogate models in science:
    fetches data and models, runs benchmarks, and says whether two runs agree."""

    license("BSD-3-Clause")

    # No release is published: `spack dev-build sabath@0.1.0` builds a checkout.
    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("rapidjson", type="build")
    depends_on("boost@1.71:", type="build")
    depends_on("curl@7.85:")
    depends_on("fmt@8:")
    depends_on("hdf5@1.10:~mpi")
    depends_on("hwloc@2.5:")
    depends_on("libarchive@3.5:")
    depends_on("openssl@1.1.1:")
    depends_on("pcre2@10.34:")
    depends_on("spdlog@1.9: +fmt_external")
    depends_on("sqlite@3.37:")
    depends_on("sqlitecpp@3.1:")
    depends_on("xxhash@0.8:")
    depends_on("yaml-cpp@0.6:")
    depends_on("zlib-api")
    depends_on("git", type="run")
    depends_on("python@3.9:", type="run")

    conflicts("%gcc@:11", msg="sabath is C++20: GCC 12 or newer")
    conflicts("platform=darwin", msg="sabath needs Linux")

    generator("ninja")

    def cmake_args(self):
        return [self.define("SABATH_TESTS", False), self.define("CMAKE_UNITY_BUILD", True)]

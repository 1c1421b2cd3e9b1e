#pragma once

// Compiles a function once for every x86-64 CPU and once more for those with wider vectors; the
// loader picks one. Sums are never reordered and never fused with products (-ffp-contract=off), so
// both give the same bits. Sanitizers instrument the loader's choice before they are ready for it.
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#  define SUPERCELL_CLONES __attribute__((target_clones("avx2", "default")))
#else
#  define SUPERCELL_CLONES
#endif

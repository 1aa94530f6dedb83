// Exists to own the precompiled header; see KilnMLIR.cmake.

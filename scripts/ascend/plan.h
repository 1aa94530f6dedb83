// What a run is given: a file with one line for each kernel and each tensor.
//   kernel NUMBER ROLE SHARED_OBJECT DIRECTIONS
//   tensor DTYPE BYTES_OF_ELEMENT DIRECTION FILE EXTENT...
//   scalar BITS
// Tensors are read from their files, and written back.
#pragma once

#include <tensor.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

struct PlannedKernel {
  int number;
  std::string role, file, directions;
};
struct PlannedTensor {
  ChipTensor tensor;
  std::vector<char> bytes;
  std::string direction, file;
};
struct Plan {
  std::vector<PlannedKernel> kernels;
  std::vector<std::unique_ptr<PlannedTensor>> tensors;
  std::vector<uint64_t> scalars;
};

inline DataType dataTypeNamed(const std::string &name) {
  static const char *names[] = {"f32", "f16", "i32", "i16", "i8", "u8", "bf16", "i64"};
  for (int i = 0; i < 8; ++i)
    if (name == names[i])
      return static_cast<DataType>(i);
  std::cerr << "there is no type " << name << "\n";
  exit(2);
}

inline Plan readPlan(const char *path) {
  Plan plan;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "kernel") {
      PlannedKernel kernel;
      words >> kernel.number >> kernel.role >> kernel.file >> kernel.directions;
      plan.kernels.push_back(kernel);
    } else if (what == "tensor") {
      auto tensor = std::make_unique<PlannedTensor>();
      std::string type;
      uint64_t size = 0;
      words >> type >> size >> tensor->direction >> tensor->file;
      std::vector<uint32_t> extents;
      for (uint32_t extent; words >> extent;) {
        extents.push_back(extent);
        size *= extent;
      }
      tensor->bytes.resize(size + 64); // never empty
      std::ifstream(tensor->file, std::ios::binary).read(tensor->bytes.data(), size);
      tensor->bytes.resize(size + 64);
      tensor->tensor.init_external(tensor->bytes.data(), size, extents.data(), extents.size(),
                                   dataTypeNamed(type), 0);
      plan.tensors.push_back(std::move(tensor));
    } else if (what == "scalar") {
      uint64_t bits = 0;
      words >> bits;
      plan.scalars.push_back(bits);
    }
  }
  return plan;
}

inline void writeBack(const Plan &plan) {
  for (const auto &tensor : plan.tensors)
    if (tensor->direction != "in")
      std::ofstream(tensor->file, std::ios::binary)
          .write(tensor->bytes.data(), tensor->bytes.size() - 64);
}

// Tiles for the tests of matrix instructions, made once per program.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "gpu_check/backend.hpp"
#include "gpu_check/prepare/prepare.hpp"

namespace halfulp::gpu {

inline const std::string& data_folder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "halfulp_gpu_mma_" + std::to_string(::getpid());
    prepare_mma(path, std::string(HALFULP_SOURCE_DIR) + "/tests/data/mma_hardware", 2);
    return path;
  }();
  return folder;
}

class Cleanup : public ::testing::Environment {
  void TearDown() override {
    set_modelled_architecture(90);
    std::filesystem::remove_all(data_folder());
  }
};
[[maybe_unused]] inline const auto* const kCleanup = ::testing::AddGlobalTestEnvironment(new Cleanup);

/// One tile of a kind: the first of a class, on its first family of GPUs; the shim models that family from then on.
struct OneTile {
  MmaKind kind;
  std::vector<std::uint32_t> a, b, c, scale_a, scale_b, right_a, right_b;

  OneTile(MmaInstruction instruction, const std::string& class_name) : kind(kind_of(instruction)) {
    int family = 0;
    while (kind.models[static_cast<std::size_t>(family)].empty()) ++family;
    set_modelled_architecture(kFamilies[family]);
    const MmaTiles tiles = read_tiles(tiles_path(data_folder(), kind, family), kind);
    std::size_t tile = 0, at = 0;
    while (at < tiles.classes.size() && tiles.classes[at].name.find(class_name) == std::string::npos) tile += tiles.classes[at++].tiles;
    if (at == tiles.classes.size()) throw std::runtime_error("no tiles of class " + class_name);
    const auto part = [tile](const std::vector<std::uint32_t>& all, int per_tile) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(tile) * per_tile;
      return std::vector<std::uint32_t>(begin, begin + per_tile);
    };
    a = part(tiles.a, kind.m * 8);
    b = part(tiles.b, kind.n * 8);
    c = part(tiles.c, kind.outputs());
    right_a = part(tiles.right_a, kind.outputs());
    right_b = part(tiles.right_b, kind.outputs());
    if (kind.scales() != 0) {
      scale_a = part(tiles.scale_a, kind.m);
      scale_b = part(tiles.scale_b, kind.n);
    }
  }
  /// How many outputs are not those of zero rule a.
  int mismatches(const std::vector<std::uint32_t>& got) const {
    int count = 0;
    for (std::size_t i = 0; i < right_a.size(); ++i) count += got.at(i) != right_a[i] ? 1 : 0;
    return count;
  }
};

}  // namespace halfulp::gpu

#include "gpu_check/mma_kinds.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace halfulp::gpu {
namespace {
constexpr const char* kHeader = "halfulp-mma-tiles-1";
constexpr std::uint32_t kMostTiles = 1 << 24;
}

void write_tiles(const std::string& path, const MmaTiles& tiles) {
  std::string text = std::string(kHeader) + "\n";
  for (const MmaTiles::Class& one : tiles.classes) {
    text += std::to_string(one.tiles) + " " + std::to_string(one.diagonal) + " " + one.name + "\n";
  }
  std::vector<std::uint32_t> words;
  for (const auto* part : {&tiles.a, &tiles.b, &tiles.c, &tiles.scale_a, &tiles.scale_b, &tiles.right_a, &tiles.right_b}) {
    words.insert(words.end(), part->begin(), part->end());
  }
  write_words(path + ".bin", words);
  write_prepared(path + ".txt", text);
}

MmaTiles read_tiles(const std::string& path, const MmaKind& kind) {
  std::istringstream text(read_prepared(path + ".txt"));
  std::string line;
  if (!std::getline(text, line) || line != kHeader) throw std::runtime_error(path + ".txt is no list of tiles");
  MmaTiles tiles;
  while (std::getline(text, line)) {
    std::istringstream fields(line);
    MmaTiles::Class one;
    fields >> one.tiles >> one.diagonal;
    std::getline(fields >> std::ws, one.name);
    if (!fields || one.tiles == 0 || one.tiles > kMostTiles - tiles.tiles() || one.diagonal > static_cast<std::uint32_t>(std::min(kind.m, kind.n))) {
      throw std::runtime_error(path + ".txt has a class of tiles that cannot be, '" + line + "'; make the data again with gpu_check_prepare");
    }
    tiles.classes.push_back(one);
  }
  const std::vector<std::uint32_t> words = read_words(path + ".bin");
  const std::size_t count = tiles.tiles(), m = static_cast<std::size_t>(kind.m), n = static_cast<std::size_t>(kind.n), scales = kind.scales() != 0 ? 1 : 0;
  struct Part {
    std::vector<std::uint32_t>* into;
    std::size_t per_tile;
  };
  std::size_t at = 0;
  for (const Part& part : {Part{&tiles.a, m * 8}, {&tiles.b, n * 8}, {&tiles.c, m * n}, {&tiles.scale_a, m * scales}, {&tiles.scale_b, n * scales},
                           {&tiles.right_a, m * n}, {&tiles.right_b, m * n}}) {
    const std::size_t end = at + count * part.per_tile;
    if (end > words.size()) throw std::runtime_error(path + ".bin is cut off");
    part.into->assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  if (at != words.size() || count == 0) throw std::runtime_error(path + ".bin does not fit its list");
  return tiles;
}

}  // namespace halfulp::gpu

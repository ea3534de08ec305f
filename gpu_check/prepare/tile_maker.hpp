// Rows of codes become tiles, with the exact models' answers.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "gpu_check/mma_kinds.hpp"
#include "halfulp/accumulation/models.hpp"
#include "halfulp/accumulation/sum_exact.hpp"

namespace halfulp::gpu {

/// Tiles of one kind, class after class.
class TileMaker {
 public:
  TileMaker(const MmaKind& kind, std::string_view model) : kind_(kind), spec_(make(kind, model)) {
    other_ = spec_;
    other_.zero_rule = accumulation::ZeroRule::b;
  }

  /// A tile from functions of (row, k) and (column, k) giving codes, of (row, column) giving c, and of (row, block) and (column, block)
  /// giving scales.
  template <class A, class B, class C, class ScaleA, class ScaleB>
  void add(A a_code, B b_code, C c_word, ScaleA scale_a, ScaleB scale_b) {
    std::vector<Line> a, b;
    for (int row = 0; row < kind_.m; ++row) {
      a.push_back(line([&](int k) { return a_code(row, k); }, [&](int block) { return scale_a(row, block); }, tiles_.a, tiles_.scale_a));
    }
    for (int column = 0; column < kind_.n; ++column) {
      b.push_back(line([&](int k) { return b_code(column, k); }, [&](int block) { return scale_b(column, block); }, tiles_.b, tiles_.scale_b));
    }
    for (int row = 0; row < kind_.m; ++row) {
      for (int column = 0; column < kind_.n; ++column) {
        const Line &left = a[size(row)], &right = b[size(column)];
        const accumulation::Row work{left.codes, right.codes, c_word(row, column), left.scales, right.scales};
        tiles_.c.push_back(work.c);
        tiles_.right_a.push_back(dot_exact(spec_, work));
        tiles_.right_b.push_back(accumulation::has_zero_rule(spec_.model) ? dot_exact(other_, work) : tiles_.right_a.back());
      }
    }
    ++open_;
  }
  /// Without scales.
  template <class A, class B, class C>
  void add(A a_code, B b_code, C c_word) {
    const auto none = [](int, int) { return 0u; };
    add(a_code, b_code, c_word, none, none);
  }
  void close_class(std::string name, std::uint32_t diagonal = 0) {
    if (open_ != 0) tiles_.classes.push_back({std::move(name), open_, diagonal});
    open_ = 0;
  }
  /// Replaces the model's answer of the last tile by a measured one; they must agree.
  void measured(int row, int column, std::uint32_t result) {
    const std::size_t at = tiles_.right_a.size() - size(kind_.outputs()) + size(row * kind_.n + column);
    if (tiles_.right_a[at] != result || tiles_.right_b[at] != result) throw std::runtime_error("a measured row and its model disagree");
  }
  const MmaTiles& tiles() const { return tiles_; }
  const MmaKind& kind() const { return kind_; }

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }
  static accumulation::MmaSpec make(const MmaKind& kind, std::string_view model) {
    accumulation::SpecRequest request;
    request.model = model;
    request.format_a = kind.a;
    request.format_b = kind.b;
    request.output = kind.output;
    return accumulation::make_spec(request);
  }
  /// A row of a, or a column of b.
  struct Line {
    std::vector<std::uint32_t> codes, scales;
  };
  template <class Code, class Scale>
  Line line(Code code, Scale scale, std::vector<std::uint32_t>& packed, std::vector<std::uint32_t>& packed_scales) {
    Line made;
    const int per_word = 32 / kind_.element_bits;
    for (int k = 0; k < kind_.k(); ++k) {
      made.codes.push_back(code(k));
      if (k % per_word == 0) packed.push_back(0);
      packed.back() |= made.codes.back() << (kind_.element_bits * (k % per_word));
    }
    for (int block = 0; block < kind_.scales(); ++block) {
      made.scales.push_back(scale(block));
      if (block == 0) packed_scales.push_back(0);
      packed_scales.back() |= made.scales.back() << (8 * block);
    }
    return made;
  }

  const MmaKind& kind_;
  accumulation::MmaSpec spec_, other_;
  MmaTiles tiles_;
  std::uint32_t open_ = 0;
};

}  // namespace halfulp::gpu

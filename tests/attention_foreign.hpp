// A kernel that keeps to a budget and to nothing else: order of channels and keys, tiles, parts, lanes, always or rarely rescaled,
// exp2 and reciprocal off by as much as the budget allows. Written for the tests of enclosures; shares no code with the engine of
// attention (the chunks of a model come from the engine of accumulation).
#pragma once

#include "attention_foreign_steps.hpp"

namespace attention_foreign {

class ForeignKernel : ForeignSteps {
 public:
  using ForeignSteps::ForeignSteps;

  /// Tiles in this order instead of random ones, in one part.
  void lay_out(std::vector<std::vector<std::size_t>> tiles) { layout_ = std::move(tiles); }

  /// O of one row as float32, before its cast.
  std::vector<float> row(std::size_t row) {
    choose_row(row);
    seen_.clear();
    for (std::size_t j = 0; j < shape_.keys; ++j) {
      if (sees(j)) seen_.push_back(j);
    }
    S_.assign(shape_.keys, 0.0f);
    for (const std::size_t j : seen_) S_[j] = score(j);
    Part total = !layout_.empty() ? laid_out() : budget_.tiles == Tiles::stated ? stated() : any();
    return finish(total);
  }

 private:
  struct Part {
    float m = -std::numeric_limits<float>::infinity();
    std::vector<float> lanes = {0.0f};
    std::vector<std::uint32_t> O;
  };

  Part empty() const {
    Part part;
    part.O.assign(shape_.value_dim, 0);
    return part;
  }
  /// The sink as a key without V.
  void open_with_sink(Part& part) {
    if (problem_.sink.empty()) return;
    part.m = problem_.sink[head_];
    part.lanes[0] = weight(part.m, part.m);
  }

  Part stated() {
    const std::size_t keys = shape_.keys, size = spec_.split == 0 ? std::max<std::size_t>(keys, 1) : static_cast<std::size_t>(spec_.split);
    Part total = empty();
    open_with_sink(total);
    for (std::size_t first = 0; first < keys; first += size) {
      Part part = first == 0 ? total : empty();
      std::vector<std::vector<std::size_t>> tiles;
      for (std::size_t begin = first; begin < std::min(keys, first + size); begin += static_cast<std::size_t>(spec_.tile)) {
        tiles.emplace_back();
        for (std::size_t j = begin; j < std::min({keys, first + size, begin + static_cast<std::size_t>(spec_.tile)}); ++j) tiles.back().push_back(j);
      }
      if (spec_.order == TileOrder::descending) std::reverse(tiles.begin(), tiles.end());
      for (auto& tile : tiles) {
        shuffle(tile);
        one_tile(part, tile);
      }
      total = first == 0 ? part : joined(total, part);
    }
    return total;
  }

  Part laid_out() {
    Part part = empty();
    open_with_sink(part);
    for (const auto& tile : layout_) one_tile(part, tile);
    return part;
  }

  /// Seen keys in any order, cut anywhere into tiles and parts, with a few masked columns between them.
  Part any() {
    std::vector<std::size_t> order = seen_;
    shuffle(order);
    Part total = empty();
    if (random_.one_in(2)) open_with_sink(total);
    const bool sink_late = !problem_.sink.empty() && total.m == -std::numeric_limits<float>::infinity();
    const std::size_t typical = 1 + random_.below(order.size() + 1);
    std::vector<Part> parts = {total};
    for (std::size_t at = 0; at < order.size();) {
      std::vector<std::size_t> tile;
      const std::size_t size = std::min(order.size() - at, 1 + random_.below(2 * typical));
      for (std::size_t i = 0; i < size; ++i) tile.push_back(order[at++]);
      for (std::size_t j = 0; j < shape_.keys && random_.one_in(3); ++j) {
        if (!sees(j)) tile.insert(tile.begin() + static_cast<long>(random_.below(tile.size() + 1)), j);
      }
      if (random_.one_in(4)) parts.push_back(empty());
      one_tile(parts.back(), tile);
    }
    if (sink_late) {
      Part sink = empty();
      open_with_sink(sink);
      parts.push_back(sink);
    }
    shuffle(parts);
    while (parts.size() > 1) {
      const Part last = parts.back();
      parts.pop_back();
      Part& other = parts[random_.below(parts.size())];
      other = joined(other, last);
    }
    return parts[0];
  }

  void rescale(Part& part, float m) {
    const bool changed = m != part.m;
    if (part.m == -std::numeric_limits<float>::infinity() || (!changed && random_.one_in(2))) return;
    const float alpha = power((part.m - m) * L_);
    for (float& l : part.lanes) l = l * alpha;
    for (std::uint32_t& O : part.O) O = bits(real(O) * alpha);
  }

  void one_tile(Part& part, const std::vector<std::size_t>& tile) {
    float candidate = part.m;
    for (const std::size_t j : tile) {
      if (sees(j)) candidate = std::max(candidate, S_[j]);
    }
    if (candidate == -std::numeric_limits<float>::infinity()) return;
    const bool stays = spec_.threshold && part.m != -std::numeric_limits<float>::infinity() && !((candidate - part.m) * L_ > *spec_.threshold);
    const float m = stays ? part.m : candidate;
    rescale(part, m);
    part.m = m;
    while (part.lanes.size() < 4 && random_.one_in(2)) part.lanes.push_back(0.0f);

    std::vector<std::uint32_t> codes(tile.size()), zeros(tile.size());
    for (std::size_t i = 0; i < tile.size(); ++i) {
      if (!sees(tile[i])) continue;
      const float P = weight(S_[tile[i]], m);
      codes[i] = code_word(spec_.prescale ? P * *spec_.prescale : P);
      float& lane = part.lanes[random_.below(part.lanes.size())];
      lane = lane + (spec_.sum_of == SumOf::f32 ? P : static_cast<float>(value_of(pv_, false, codes[i])));
    }
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      std::vector<std::uint32_t> V(tile.size());
      for (std::size_t i = 0; i < tile.size(); ++i) {
        if (sees(tile[i])) V[i] = problem_.v[(kv_head_ * shape_.keys + tile[i]) * shape_.value_dim + d];
      }
      part.O[d] = product(part.O[d], codes, V);
    }
  }

  Part joined(Part a, Part b) {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    if (b.m == kNone) return a;
    if (a.m == kNone) return b;
    const float m = std::max(a.m, b.m);
    for (Part* part : {&a, &b}) {
      part->lanes = {tree(part->lanes)};
      rescale(*part, m);
    }
    a.m = m;
    a.lanes[0] = a.lanes[0] + b.lanes[0];
    for (std::size_t d = 0; d < a.O.size(); ++d) a.O[d] = bits(real(a.O[d]) + real(b.O[d]));
    return a;
  }

  std::vector<float> finish(const Part& part) {
    const float l = tree(part.lanes);
    const auto scales = problem_.v_scale;
    std::vector<float> out;
    const bool divides = budget_.reciprocal_error <= 0x1p-24 || manner_ == Manner::mild;
    const float inverse = l == 0 ? 0 : divides ? 1 / l : static_cast<float>(1 / static_cast<double>(l) * off(budget_.reciprocal_error));
    for (std::size_t d = 0; d < shape_.value_dim; ++d) {
      float scale = 1;
      if (scales.size() == 1) scale = scales[0];
      else if (!scales.empty()) scale = scales[scales.size() == shape_.kv_heads ? kv_head_ : kv_head_ * shape_.value_dim + d];
      out.push_back(real(part.O[d]) * (inverse * scale));
    }
    return out;
  }

  std::vector<std::size_t> seen_;
  std::vector<std::vector<std::size_t>> layout_;
  std::vector<float> S_;
};

}  // namespace attention_foreign

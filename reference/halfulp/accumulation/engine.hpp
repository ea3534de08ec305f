// Engine: accumulation models in fixed-width integers, one row at a time. Twin: sum_exact.hpp. Matrices: gemm.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "halfulp/accumulation/model.hpp"

namespace halfulp::accumulation {

namespace detail {
struct EnginePlan;
}

/// A spec prepared for many rows. Copies share the tables; dot() may be called from many threads.
class Engine {
 public:
  /// Throws std::invalid_argument for a model whose numbers do not fit the integers of the engine: F beyond 35, an F below
  /// the fraction bits of a product, chunks of more than 2^20 products.
  explicit Engine(const MmaSpec& spec);

  /// As dot_exact (sum_exact.hpp), bit for bit.
  std::uint32_t dot(const Row& row) const;

  const MmaSpec& spec() const;
  const detail::EnginePlan& plan() const { return *plan_; }

 private:
  std::shared_ptr<const detail::EnginePlan> plan_;
};

}  // namespace halfulp::accumulation

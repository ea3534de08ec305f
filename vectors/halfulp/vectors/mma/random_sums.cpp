// Rows by bits, extremes, subnormals, ends of the scales; see sum_builder.hpp.
#include <algorithm>
#include <cmath>

#include "halfulp/vectors/mma/sum_builder.hpp"

namespace halfulp::vectors {

using accumulation::Output;

MmaRow SumBuilder::subnormal() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::subnormal);
  const int smallest = plan_.spec.output == Output::f16 ? -14 : -126;
  const bool few = coin();
  for (std::size_t k = 0; k < plan_.k; ++k) {
    if (few && random_.below(4) != 0) continue;
    switch (random_.below(3)) {
      case 0:
        row.a[k] = a_.subnormal(random_);
        row.b[k] = b_.with_exponent(random_.between(b_.lowest(), b_.highest()), coin(), random_);
        break;
      case 1:
        row.a[k] =
            a_.with_exponent(random_.between(a_.lowest(), std::min(0, a_.highest())), coin(), random_);
        row.b[k] = b_.subnormal(random_);
        break;
      default: set_product(row, k, smallest - random_.between(-2, 20), coin());
    }
  }
  row.c = coin() ? c_.subnormal(random_) : 0;
  return row;
}

MmaRow SumBuilder::by_bits() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::random);
  const std::uint64_t rarely = coin() ? 0 : 2 * plan_.k;
  for (std::size_t k = 0; k < plan_.k; ++k) {
    row.a[k] = a_.bits(random_, rarely);
    row.b[k] = b_.bits(random_, rarely);
  }
  row.c = c_.bits(random_, rarely);
  for (std::size_t i = 0; i < row.scale_a.size(); ++i) {
    row.scale_a[i] = scale_.bits(random_, rarely);
    row.scale_b[i] = scale_.bits(random_, rarely);
  }
  return row;
}

MmaRow SumBuilder::extremes() {
  MmaRow row = empty();
  row.flags = bit(MmaFlag::extreme);
  const bool sparse = coin();
  for (std::size_t k = 0; k < plan_.k; ++k) {
    if (sparse && random_.below(8) != 0) continue;
    row.a[k] = a_.extreme(random_);
    row.b[k] = coin() ? b_.extreme(random_)
                      : b_.with_exponent(random_.between(b_.lowest(), b_.highest()), coin(), random_);
  }
  row.c = coin() ? c_.extreme(random_) : c_.bits(random_, 0);
  return row;
}

MmaRow SumBuilder::scale_ends() {
  MmaRow row = filled(false);
  if (plan_.scales() == 0) return row;
  row.flags = bit(MmaFlag::scale_end);
  const bool with_zeros = coin();
  for (std::size_t k = 0; with_zeros && k < plan_.k; ++k) {
    if (random_.below(4) == 0) row.a[k] = a_.word(0);
  }
  if (plan_.spec.model.scale.block != 0 &&
      random_.below(4) == 0) {  // a block of zeros with large scales, which may push c out
    const std::size_t length = static_cast<std::size_t>(plan_.spec.model.scale.block),
                      block = below(row.scale_a.size());
    for (std::size_t k = block * length; k < std::min(plan_.k, (block + 1) * length); ++k)
      row.a[k] = a_.word(0);
    row.scale_a[block] = scale_.word(std::ldexp(1.0, scale_.highest() - static_cast<int>(below(6))));
    row.scale_b[block] = scale_.word(std::ldexp(1.0, scale_.highest() - static_cast<int>(below(6))));
    return row;
  }
  for (std::size_t i = 0; i < row.scale_a.size(); ++i) {
    if (coin())
      row.scale_a[i] = random_.below(3) == 0
                           ? scale_.bits(random_, 2)
                           : scale_.word(std::fabs(scale_.value(scale_.extreme(random_))));
    if (coin())
      row.scale_b[i] = random_.below(3) == 0
                           ? scale_.bits(random_, 2)
                           : scale_.word(std::fabs(scale_.value(scale_.extreme(random_))));
  }
  return row;
}

MmaRow SumBuilder::normal() {
  MmaRow row = empty(plan_.spec.model.scale.format == "e8m0");
  row.flags = bit(MmaFlag::random);
  const double of_a = a_.is_integer() ? 0x1p5 : 1, of_b = b_.is_integer() ? 0x1p5 : 1;
  for (std::size_t k = 0; k < plan_.k; ++k) {
    row.a[k] = a_.word(random_.normal() * of_a);
    row.b[k] = b_.word(random_.normal() * of_b);
  }
  row.c = c_.word(random_.normal() * of_a * of_b);
  return row;
}

}  // namespace halfulp::vectors

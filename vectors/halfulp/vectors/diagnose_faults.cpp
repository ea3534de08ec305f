// Wrong ways to read a source, to write a code, and to treat NaN and Inf.
#include "halfulp/vectors/diagnose_behaviour.hpp"
#include "halfulp/vectors/fault_predicates.hpp"

namespace halfulp::vectors {
namespace {

bool is_signed_floating(const FormatSpec& format) {
  return is_floating(format) && format.is_signed;
}
bool is_number(const FormatSpec& to, std::uint64_t code) {
  const NumberClass reached = unpack(to, code).number_class;
  return reached != NumberClass::nan && reached != NumberClass::infinity;
}
// ---- reading ----

std::uint64_t swap_bytes(std::uint64_t word, int bytes) {
  std::uint64_t swapped = 0;
  for (int i = 0; i < bytes; ++i) swapped |= (word >> (8 * i) & 0xff) << (8 * (bytes - 1 - i));
  return swapped;
}
std::uint64_t swap_nibbles(std::uint64_t word) {
  return (word & 0x0f) << 4 | (word >> 4 & 0x0f);
}
bool has_bytes(const FormatSpec& format) {
  return format.storage_bytes() > 1;
}
bool is_a_byte(const FormatSpec& format) {
  return format.width == 8;
}

Unpacked read_swapped(const FormatSpec& from, std::uint64_t word) {
  return unpack(from, swap_bytes(word, from.storage_bytes()));
}
Unpacked read_nibbles_swapped(const FormatSpec& from, std::uint64_t word) {
  return unpack(from, swap_nibbles(word));
}
Unpacked read_without_sign(const FormatSpec& from, std::uint64_t word) {
  Unpacked x = unpack(from, word);
  x.negative = false;
  return x;
}
/// Exponent field 0 read like any other.
Unpacked read_hidden_bit(const FormatSpec& from, std::uint64_t word) {
  Unpacked x = unpack(from, word);
  if (x.number_class != NumberClass::subnormal) return x;
  x.number_class = NumberClass::normal;
  x.significand |= std::uint64_t{1} << from.fraction_bits;
  x.exponent -= 1;
  return x;
}
/// Subnormals without the hidden bit, but with the exponent that field 0 would have.
Unpacked read_half_subnormals(const FormatSpec& from, std::uint64_t word) {
  Unpacked x = unpack(from, word);
  if (x.number_class == NumberClass::subnormal) x.exponent -= 1;
  return x;
}
/// The codes of NaN and Inf taken as the numbers that they would be.
Unpacked read_all_numbers(const FormatSpec& from, std::uint64_t word) {
  FormatSpec numbers = from;
  numbers.non_finite = NonFinite::none;
  return unpack(numbers, word);
}
bool has_specials(const FormatSpec& format) {
  return is_floating(format) && format.has_nan() && format.subnormals == Subnormals::gradual;
}
/// A code shifted into the exponent field of a wider format: field 0 is zero there, and all ones is Inf.
Unpacked read_scale_shifted(const FormatSpec& from, std::uint64_t word) {
  Unpacked x = unpack(from, word);
  if (x.number_class == NumberClass::nan) x.number_class = NumberClass::infinity;
  if (word == 0) x = {};
  return x;
}
bool is_scale(const FormatSpec& format) {
  return is_floating(format) && format.zeros == Zeros::absent;
}

// clang-format off
constexpr ReadFault kReadFaults[] = {
    {"source=bytes_swapped", "the source's bytes are in the other order", has_bytes, read_swapped},
    {"source=nibbles_swapped", "the source's nibbles are in the other order", is_a_byte, read_nibbles_swapped},
    {"source=sign_dropped", "the source's sign is lost", is_signed_floating, read_without_sign},
    {"source-subnormals=hidden_bit", "subnormal sources get a hidden bit", has_fraction, read_hidden_bit},
    {"source-subnormals=halved", "subnormal sources are taken one binade too low", has_fraction, read_half_subnormals},
    {"source-specials=numbers", "NaN and Inf codes are read as numbers", has_specials, read_all_numbers},
    {"source=exponent_field", "the scale is moved into an exponent field: 00 gives 0, FF gives Inf", is_scale, read_scale_shifted},
};
// clang-format on

// ---- output ----

std::uint64_t minus_zero_lost(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return (code >> to.storage_shift & to.magnitude_mask()) == 0 ? 0 : code;
}
bool has_minus_zero(const FormatSpec& format) {
  return is_floating(format) && format.zeros == Zeros::plus_and_minus;
}
/// The top exponent kept for Inf and NaN, as in IEEE 754, where the format has numbers there.
std::uint64_t top_binade_lost(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  const std::uint64_t top = (low_mask(to.exponent_bits) << to.fraction_bits) - 1;
  const std::uint64_t magnitude = code & to.magnitude_mask();
  return !is_number(to, code) || magnitude <= top ? code : (code & to.sign_mask()) | top;
}
bool has_numbers_on_top(const FormatSpec& format) {
  return is_floating(format) && format.storage_shift == 0 && format.fraction_bits > 0 &&
         format.largest_magnitude() >= low_mask(format.exponent_bits) << format.fraction_bits;
}
std::uint64_t sign_extended(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return (code & to.sign_mask()) ? code | (0xff & ~low_mask(to.width)) : code;
}
bool is_below_a_byte(const FormatSpec& format) {
  return format.width < 8 && format.is_signed;
}
std::uint64_t into_high_bits(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return code << (8 - to.width);
}
std::uint64_t nibbles_swapped(const Unpacked&, std::uint64_t code, const FormatSpec&) {
  return swap_nibbles(code);
}
std::uint64_t bytes_swapped(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return swap_bytes(code, to.storage_bytes());
}
std::uint64_t sign_dropped(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return code & ~(to.sign_mask() << to.storage_shift);
}
std::uint64_t sign_inverted(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  return code ^ (to.sign_mask() << to.storage_shift);
}
template <int Step>
std::uint64_t code_off(const Unpacked&, std::uint64_t code, const FormatSpec& to) {
  const std::uint64_t moved = (code >> to.storage_shift) + static_cast<std::uint64_t>(std::int64_t{Step});
  return (moved & low_mask(to.width)) << to.storage_shift;
}
/// onnxruntime 1.21, saturate = 0: 480 .. 496 come back as 448 although 465 .. 480 overflow.
std::uint64_t above_480_is_largest(const Unpacked& x, std::uint64_t code, const FormatSpec& to) {
  const bool here = x.number_class == NumberClass::normal && binade_of(x) == 8 &&
                    bit_width(x.significand) >= 5 &&
                    x.significand >> (bit_width(x.significand) - 5) == 0b11110;
  return here ? to.largest_magnitude() | (x.negative ? to.sign_mask() : 0) : code;
}
bool is_e4m3(const FormatSpec& format) {
  return format == spec_of("e4m3");
}
/// ggml: 78 .. 7D are never produced, NaN gives 00.
std::uint64_t top_codes_skipped(const Unpacked& x, std::uint64_t code, const FormatSpec&) {
  if (x.number_class == NumberClass::nan) return 0;
  return code >= 0x78 ? 0x7e : code;
}
bool is_ue4m3(const FormatSpec& format) {
  return format == spec_of("ue4m3");
}

// clang-format off
constexpr OutputFault kOutputFaults[] = {
    {"minus-zero=lost", "-0 becomes +0", has_minus_zero, minus_zero_lost},
    {"top-binade=lost", "the top binade gives the largest number below it", has_numbers_on_top, top_binade_lost},
    {"output=sign_dropped", "the result's sign is lost", is_signed_floating, sign_dropped},
    {"output=sign_inverted", "the result's sign is inverted", is_signed_floating, sign_inverted},
    {"output=sign_extended", "bits above the code are copies of the sign", is_below_a_byte, sign_extended},
    {"output=high_bits", "the code stands in the high bits of its byte", is_below_a_byte, into_high_bits},
    {"output=nibbles_swapped", "the result's nibbles are in the other order", is_a_byte, nibbles_swapped},
    {"output=bytes_swapped", "the result's bytes are in the other order", has_bytes, bytes_swapped},
    {"output=code_plus_1", "every code is one too large", any_format, code_off<1>},
    {"output=code_minus_1", "every code is one too small", any_format, code_off<-1>},
    {"defect=above_480_is_largest", "480..496 come back as 448", is_e4m3, above_480_is_largest},
    {"defect=top_codes_skipped", "78..7D are never produced, NaN gives 00", is_ue4m3, top_codes_skipped},
};
// clang-format on

// ---- NaN and Inf ----

std::uint64_t plus_largest(const Unpacked&, const FormatSpec& to) {
  return detail::largest_code(to, false);
}
std::uint64_t signed_largest(const Unpacked& x, const FormatSpec& to) {
  return detail::largest_code(to, x.negative && to.is_signed);
}
std::uint64_t plus_zero(const Unpacked&, const FormatSpec& to) {
  return detail::zero_code(to, false);
}
std::uint64_t signed_zero(const Unpacked& x, const FormatSpec& to) {
  return detail::zero_code(to, x.negative && to.is_signed);
}
std::uint64_t signed_infinity(const Unpacked& x, const FormatSpec& to) {
  return detail::with_sign(to, to.infinity_magnitude(), x.negative && to.is_signed);
}
std::uint64_t plus_infinity(const Unpacked&, const FormatSpec& to) {
  return detail::with_sign(to, to.infinity_magnitude(), false);
}
std::uint64_t quiet_nan(const Unpacked& x, const FormatSpec& to) {
  return detail::nan_code(to, x.negative && to.is_signed, 0, {.nan_code = NanCode::quiet});
}
bool has_infinity(const FormatSpec& format) {
  return is_floating(format) && format.has_infinity();
}
bool has_nan(const FormatSpec& format) {
  return is_floating(format) && format.has_nan();
}
bool has_zero(const FormatSpec& format) {
  return format.zeros != Zeros::absent;
}
bool has_payload(const FormatSpec& format) {
  return is_floating(format) && format.non_finite == NonFinite::ieee;
}
/// The payload's top bits without a quiet bit: an Inf when they are all zero.
std::uint64_t payload_cut(const Unpacked& x, const FormatSpec& to) {
  return detail::with_sign(to, to.infinity_magnitude() | x.payload >> (64 - to.fraction_bits), x.negative);
}
/// The word rounded as if it were a number: the payload may carry into the exponent and the sign.
std::uint64_t payload_rounded(const Unpacked& x, const FormatSpec& to) {
  const std::uint64_t kept = x.payload >> (64 - to.fraction_bits);
  const std::uint64_t rest = x.payload << to.fraction_bits;
  const std::uint64_t half = std::uint64_t{1} << 63;
  const std::uint64_t code = (to.infinity_magnitude() | kept | (x.negative ? to.sign_mask() : 0)) +
                             (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
  return (code & low_mask(to.width)) << to.storage_shift;
}

constexpr SpecialFault kNanFaults[] = {
    {"nan_to_max", any_format, plus_largest},
    {"nan_to_signed_max", any_format, signed_largest},
    {"nan_to_zero", has_zero, plus_zero},
    {"nan_to_signed_zero", has_zero, signed_zero},
    {"nan_to_inf", has_infinity, signed_infinity},
    {"payload_cut", has_payload, payload_cut},
    {"payload_rounded", has_payload, payload_rounded},
};

constexpr SpecialFault kInfinityFaults[] = {
    {"max", any_format, signed_largest},
    {"positive_max", any_format, plus_largest},
    {"zero", has_zero, plus_zero},
    {"signed_zero", has_zero, signed_zero},
    {"inf", has_infinity, signed_infinity},
    {"positive_inf", has_infinity, plus_infinity},
    {"nan", has_nan, quiet_nan},
};

}  // namespace

std::span<const ReadFault> read_faults() {
  return kReadFaults;
}
std::span<const OutputFault> output_faults() {
  return kOutputFaults;
}
std::span<const SpecialFault> nan_faults() {
  return kNanFaults;
}
std::span<const SpecialFault> infinity_faults() {
  return kInfinityFaults;
}
const ReadFault& read_fault(std::string_view name) {
  return fault_named(read_faults(), name);
}
const OutputFault& output_fault(std::string_view name) {
  return fault_named(output_faults(), name);
}
const SpecialFault& nan_fault(std::string_view name) {
  return fault_named(nan_faults(), name);
}

}  // namespace halfulp::vectors

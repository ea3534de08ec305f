// Flags of cast and decode packs; see cast_facts.hpp.
#include "halfulp/vectors/pack/cast_facts.hpp"

#include <bit>

#include "halfulp/oracle/limits.hpp"
#include "halfulp/unpacked.hpp"

namespace halfulp::vectors {
namespace {

// Bits of the two tables below. The first seven are facts of the source alone and stand in both.
enum Bit : int {
  kZero,
  kMinusZero,
  kInfinity,
  kNan,
  kSignallingNan,
  kSubnormalSource,
  kPowerOfTwo,
  kLargest,
  kSmallest,
  kExact,
  kTieRow,
  kJustBelow,
  kJustAbove,
  kSubnormalResult,
  kToZero,
  kOverflowRow,
  kToNan,
  kCarry,
};

constexpr std::uint32_t bit(Bit b, bool set = true) {
  return set ? 1u << b : 0u;
}

const FlagNote kSourceNotes[] = {
    {"zero", "a source that is +0 or -0", "zeros are the most frequent values of real tensors",
     "the exponent of a zero is taken for that of a number, or a zero becomes the smallest number"},
    {"minus_zero", "the source -0",
     "its sign survives in formats that have -0, and must not become NaN in those that have not",
     "the sign is lost, or the code 0x80 of a format without -0 comes out as NaN"},
    {"infinity", "an infinite source", "what becomes of Inf is the overflow rule's, not arithmetic's",
     "Inf becomes NaN or the largest number where the rule says otherwise"},
    {"nan", "a NaN source", "one NaN that turns into a number hides a broken computation",
     "a payload is rounded as if it were a number, carries into Inf, or loses its sign"},
    {"signalling_nan", "a NaN whose quiet bit is clear",
     "its payload may lie wholly in the bits that are cut off", "truncation leaves the code of Inf"},
    {"subnormal_source", "a source below the smallest normal number of its format",
     "hardware in flush-to-zero mode reads it as zero",
     "it is flushed, or read with a hidden bit that it has not"},
    {"power_of_two", "a source whose trailing significand is zero", "the spacing of numbers changes here",
     "the lower neighbour is taken to be as far away as the upper one"},
};

const FlagNote kCastOnly[] = {
    {"largest", "a result that is the largest finite number",
     "values saturate here, and the next step is Inf or NaN",
     "the top code is taken for Inf or NaN, or the top binade is lost"},
    {"smallest", "a result that is the smallest number above zero in magnitude",
     "below it lies only the decision between zero and it",
     "subnormal results are flushed, or a half rounds the wrong way"},
    {"exact", "a source that the target holds", "nothing may change",
     "a rounding constant is added to a value that needs none"},
    {"tie", "a source half way between two neighbours", "only here do the nearest roundings differ",
     "ties go away from zero, or always up, instead of to the even code"},
    {"just_below_threshold", "the last source, going away from zero, before the code changes",
     "together with the first one behind it proves the place of the threshold",
     "the threshold lies too low"},
    {"just_above_threshold", "the first source, going away from zero, of a new code",
     "together with the last one before it proves the place of the threshold",
     "the threshold lies too high"},
    {"subnormal_result", "a result in the subnormal range of the target",
     "the rounding position moves with the exponent",
     "results are flushed to zero, or rounded at the position of normal numbers"},
    {"underflow_to_zero", "a number that becomes zero", "its sign is all that is left of it",
     "the sign is lost, or a directed rounding fails to give the smallest number"},
    {"overflow", "a number whose rounded magnitude exceeds the largest finite one",
     "the overflow rule decides",
     "it wraps around, becomes NaN instead of the largest number, or the other way round"},
    {"number_to_nan", "a source that is no NaN and becomes one",
     "formats without Inf have no other answer under some rules", "the largest number or zero comes out"},
    {"carry", "rounding that reaches the next binade", "the exponent has to grow with the significand",
     "the significand wraps around and the exponent stays: the result is half of what it should be"},
};

const FlagNote kDecodeOnly[] = {
    {"largest", "the largest finite code",
     "its neighbour is Inf or NaN in some formats and a number in others",
     "it is read as Inf or NaN, or by another bias"},
    {"smallest", "the smallest code above zero in magnitude", "its value has no hidden bit",
     "a hidden bit is added"},
};

template <std::size_t N>
std::vector<FlagNote> with_source_notes(const FlagNote (&more)[N]) {
  std::vector<FlagNote> notes(std::begin(kSourceNotes), std::end(kSourceNotes));
  notes.insert(notes.end(), std::begin(more), std::end(more));
  return notes;
}

bool is_number(const Unpacked& x) {
  return x.number_class == NumberClass::subnormal || x.number_class == NumberClass::normal;
}

/// Exponent of the first bit of a nonzero number.
int binade(const Unpacked& x) {
  return x.exponent + static_cast<int>(std::bit_width(x.significand));
}

}  // namespace

const std::vector<FlagNote>& cast_notes() {
  static const std::vector<FlagNote> notes = with_source_notes(kCastOnly);
  return notes;
}

const std::vector<FlagNote>& decode_notes() {
  static const std::vector<FlagNote> notes = with_source_notes(kDecodeOnly);
  return notes;
}

FactsOf::FactsOf(const Expected& expected, FactsKind kind)
    : expected_(expected), from_(*expected.plan().from), to_(expected.plan().to), kind_(kind) {
  const FormatSpec& ends = kind == FactsKind::cast ? to_ : from_;
  const oracle::Limits& limits = oracle::limits_of(ends);
  largest_ = limits.largest.code;
  smallest_ = limits.smallest_positive.code;
  if (limits.lowest) lowest_ = limits.lowest->code;
  if (ends.encoding == Encoding::floating) extremes_sign_ = ends.sign_mask() << ends.storage_shift;
}

std::uint32_t FactsOf::source_flags(std::uint64_t word) const {
  const Unpacked x = unpack(from_, word);
  const bool nan = x.number_class == NumberClass::nan;
  const bool quiet_bit = from_.non_finite == NonFinite::ieee && from_.fraction_bits > 1;
  return bit(kZero, x.number_class == NumberClass::zero) |
         bit(kMinusZero, x.number_class == NumberClass::zero && x.negative) |
         bit(kInfinity, x.number_class == NumberClass::infinity) | bit(kNan, nan) |
         bit(kSignallingNan, nan && quiet_bit && x.payload >> 63 == 0) |
         bit(kSubnormalSource, x.number_class == NumberClass::subnormal) |
         bit(kPowerOfTwo, is_number(x) && std::has_single_bit(x.significand));
}

/// True when the source bits are no NaN and have another answer. Requires bits of the format.
bool FactsOf::differs(std::uint64_t bits, const Run& from) const {
  if (from.first <= bits && bits <= from.last) return false;
  const std::uint64_t word = bits << from_.storage_shift;
  if (unpack(from_, word).number_class == NumberClass::nan) return false;
  const CastResult other = expected_.plan()(word);
  return other.refusal != from.result.refusal || other.code != from.result.code;
}

std::uint32_t FactsOf::cast_flags(std::uint64_t word, const Run& run, std::uint8_t status) const {
  const Unpacked x = unpack(from_, word), y = unpack(to_, run.result.code);
  const std::uint64_t code = run.result.code, magnitude = code & ~extremes_sign_;
  std::uint32_t flags =
      bit(kLargest, magnitude == largest_ || (lowest_ && code == *lowest_)) |
      bit(kSmallest, magnitude == smallest_) | bit(kExact, is_number(x) && !(status & kInexact)) |
      bit(kTieRow, status & kTie) | bit(kSubnormalResult, status & kSubnormal) |
      bit(kToZero, is_number(x) && y.number_class == NumberClass::zero) |
      bit(kOverflowRow, status & kOverflow) |
      bit(kToNan, x.number_class != NumberClass::nan && y.number_class == NumberClass::nan) |
      bit(kCarry, is_number(x) && is_number(y) && binade(y) > binade(x) && !(status & kOverflow));
  if (from_.encoding == Encoding::floating &&
      x.number_class != NumberClass::nan) {  // going up is going away from zero
    const std::uint64_t bits = word >> from_.storage_shift, size = bits & from_.magnitude_mask();
    flags |= bit(kJustBelow, size < from_.magnitude_mask() && differs(bits + 1, run)) |
             bit(kJustAbove, size > 0 && differs(bits - 1, run));
  }
  return flags;
}

std::uint32_t FactsOf::decode_flags(std::uint64_t word) const {
  const std::uint64_t magnitude = word & ~extremes_sign_;
  return bit(kLargest, magnitude == largest_ || (lowest_ && word == *lowest_)) |
         bit(kSmallest, magnitude == smallest_);
}

CastFacts FactsOf::operator()(std::uint64_t word, const Run& run) const {
  const CastResult engine = expected_.plan()(word);
  if (engine.code != run.result.code || engine.refusal != run.result.refusal) {
    throw Disagreement("oracle and integer engine disagree on " + spec_text(expected_.plan()) +
                       " for source " + std::to_string(word) +
                       "; this is a fault of halfulp, please report it");
  }
  const std::uint32_t more =
      kind_ == FactsKind::cast ? cast_flags(word, run, engine.flags) : decode_flags(word);
  return {run.result.code, run.alternative, source_flags(word) | more, engine.flags};
}

}  // namespace halfulp::vectors

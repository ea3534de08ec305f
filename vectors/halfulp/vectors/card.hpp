// The failure card: everything about one wrong code on one screen.
#pragma once

#include <string>
#include <vector>

#include "halfulp/oracle/exact.hpp"
#include "halfulp/vectors/tally.hpp"
#include "halfulp/vectors/verify.hpp"

namespace halfulp::vectors {

/// The card as data: lines are `label` and `text`; the number line comes in several lines under one label.
struct CardLine {
  std::string label;
  std::string text;
};

/// The card of one finding of a plan. Holds no diagnosis: that belongs to the whole run.
std::vector<CardLine> card(const CastPlan& plan, const Finding& finding);

/// `halfulp cast …` with every policy option, and this input.
std::string reproduce_command(const CastPlan& plan, std::uint64_t word);

/// Verdict, card, diagnosis and grouped table. `color`: with ANSI colours.
std::string verdict_text(const Verdict& verdict, bool color);

/// A positive distance in ulp: a fraction, `1 - 2^-125`, or a rounded decimal behind `≈`. Never a decimal
/// that hides on which side of 1/2 or 1 it lies.
std::string ulp_text(const oracle::Exact& ulps);

/// `0x` and as many digits as the format's container word has.
std::string word_text(const FormatSpec& format, std::uint64_t word);

}  // namespace halfulp::vectors

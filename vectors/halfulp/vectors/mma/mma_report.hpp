// Verdicts on accumulation models as a Report and as JSON.
#pragma once

#include <string>

#include "halfulp/vectors/mma/mma_verify.hpp"

namespace halfulp::vectors {

/// The card of one wrong row: what was given and expected, the exact sum, the results after each chunk, the
/// rule.
std::vector<CardLine> mma_card(const MmaPlan& plan, const MmaRow& row, const MmaCase& one);

/// `echo … | halfulp mma …` that computes the row again; for rows of more than 64 products, and for those
/// whose int32 c is no float32, `halfulp mma --rows-of …`, which makes it again.
std::string reproduce_row(const MmaRun& run, std::size_t row);

/// What the command prints: a result as `halfulp mma` writes it.
std::string printed_result(const MmaPlan& plan, std::uint32_t word);

Report report_of(const MmaRun& run);

/// One object and a line end.
std::string verdict_json(const MmaRun& run);

/// What `halfulp diagnose` prints.
std::string diagnosis_text(const MmaRun& run);
std::string diagnosis_json(const MmaRun& run);

}  // namespace halfulp::vectors

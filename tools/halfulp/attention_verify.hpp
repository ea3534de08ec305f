// `halfulp verify` and `halfulp diagnose` on attention: SPECs `attention:…` and packs of them.
#pragma once

#include <string>

#include "halfulp/vectors/attention/verify.hpp"
#include "halfulp/vectors/pack/pack.hpp"
#include "halfulp/vectors/verify.hpp"
#include "plug_options.hpp"

namespace halfulp::tool {

/// Who answers: a built-in kernel by name, or, where the name is empty, what was plugged in.
struct AttentionSubject {
  std::string implementation;
  PlugArguments plug;
};

/// Rows of a level of the options. Throws InputError.
vectors::AttentionRun verify_attention_spec(const AttentionSubject& subject, const std::string& spec, const vectors::VerifyOptions& options);

/// The rows of a pack of kind attention.
vectors::AttentionRun verify_attention_pack(const AttentionSubject& subject, const vectors::PackReader& pack, const std::string& path,
                                            const vectors::VerifyOptions& options);

/// What `halfulp diagnose` prints.
std::string attention_diagnosis_text(const vectors::AttentionRun& run);

}  // namespace halfulp::tool

// Explanations as text for a terminal and as one self-contained HTML page.
#pragma once

#include <string>

#include "halfulp/explain/value.hpp"

namespace halfulp::explain {

/// Text of at most about 110 columns; ANSI colours for the code's fields when `color`.
std::string to_text(const ValueExplanation& explanation, bool color);

/// One HTML page with everything inside: works offline, follows the reader's light or dark setting, prints.
std::string to_html(const ValueExplanation& explanation);

}  // namespace halfulp::explain

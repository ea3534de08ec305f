// Lessons about attention, computed when asked: what quantized keys do to scores, and what the weights must survive.
#pragma once

#include <span>
#include <string>

namespace halfulp::tool {

struct AttentionLesson {
  const char *name, *title;
  std::string (*text)();  ///< every line, the point last
};
std::span<const AttentionLesson> attention_lessons();

}  // namespace halfulp::tool

// InputError: what a user wrote that cannot be used. Printed as `halfulp: error: WHAT: WHY; HOW TO MEND`.
#pragma once

#include <stdexcept>
#include <string>

namespace halfulp {

class InputError : public std::runtime_error {
 public:
  InputError(const std::string& what, const std::string& why, const std::string& mend)
      : std::runtime_error(what + ": " + why + "; " + mend) {}
};

}  // namespace halfulp

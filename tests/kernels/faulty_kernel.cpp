// A kernel library for f32 to e4m3 that is right, or wrong as $HALFULP_TEST_KERNEL says. Faults come on the
// row whose input is 1.0, so that the rows before and behind it are right.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "halfulp/cast.hpp"
#include "halfulp/formats.hpp"
#include "halfulp/kernel.h"

namespace {

constexpr halfulp::FormatSpec kFrom = halfulp::spec_of("f32"), kTo = halfulp::spec_of("e4m3");
constexpr std::uint32_t kOne = 0x3f800000;

std::string fault() {
  const char* name = std::getenv("HALFULP_TEST_KERNEL");
  return name == nullptr ? "" : name;
}

void fail_on_one(const std::string& what) {
  if (what == "segv") std::raise(SIGSEGV);
  if (what == "abort") std::abort();
  if (what == "exit") std::exit(3);
  for (volatile bool hangs = what == "hang"; hangs;) {
  }
}

#ifndef HALFULP_TEST_NO_INFO
const char* const kSpecs[] = {"cast:f32:float8_e4m3fn"};
const halfulp_kernel_description kDescription = {sizeof(halfulp_kernel_description),
                                                 HALFULP_TEST_ABI,
                                                 HALFULP_HOST_MEMORY,
                                                 "faulty\033kernel",
                                                 1,
                                                 kSpecs};
#endif

}  // namespace

#ifndef HALFULP_TEST_NO_INFO
const halfulp_kernel_description* halfulp_kernel_info() {
  if (fault() == "crash_at_start") std::abort();
  if (fault() == "cannot_run") return nullptr;
  return &kDescription;
}
#endif

std::int32_t halfulp_kernel_run(const halfulp_job* job, halfulp_result* result) {
  static int calls = 0;
  ++calls;
  const std::string what = fault();
  const auto* in = static_cast<unsigned char*>(job->inputs[0].data);
  auto* out = static_cast<unsigned char*>(job->outputs[0].data);
  for (std::uint64_t i = 0; i < job->rows; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, in + i * job->inputs[0].stride, sizeof word);
    if (word == kOne) fail_on_one(what);
    if (word >= kOne && what == "crash_often") std::abort();
    if (word == kOne && what == "skip") continue;
    if (what == "write_nothing") continue;
    out[i] = static_cast<unsigned char>(halfulp::cast(kFrom, word, kTo, {}).code);
    if (word == kOne && what == "random") out[i] = static_cast<unsigned char>(out[i] ^ (calls & 1));
  }
  if (what == "overrun") out[job->rows] = 0;
  if (what == "stray") out[job->rows + 5000] = 0;
  if (what == "overrun_by_the_pattern") out[job->rows] = 0xcc;  // what lies there in the first run
  if (what == "underrun") out[-1] = 0;
  if (what == "far_overrun") std::memset(out, 0, job->rows + 100000);
  if (what == "input_written") *static_cast<unsigned char*>(job->inputs[0].data) = 1;
  if (what == "error") {
    std::strncpy(result->message, "no\tdevice", result->message_size);
    result->error = 12;
  }
  return result->error;
}

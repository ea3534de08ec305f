/* A shared library behind halfulp/kernel.h.
 *   cc -O2 -shared -fPIC c_library.c -o c_library.so
 *   halfulp verify cast:f32:e4m3 --lib ./c_library.so
 */
#include <halfulp/kernel.h>
#include <stdio.h>

#include "e4m3_cast.h"

static const char* const kSpecs[] = {"cast:f32:e4m3"};
static const halfulp_kernel_description kDescription = {
    sizeof(halfulp_kernel_description), HALFULP_KERNEL_ABI, HALFULP_HOST_MEMORY, "example in C", 1, kSpecs};

const halfulp_kernel_description* halfulp_kernel_info(void) { return &kDescription; }

int32_t halfulp_kernel_run(const halfulp_job* job, halfulp_result* result) {
  const halfulp_column* in = &job->inputs[0];
  const halfulp_column* out = &job->outputs[0];
  uint64_t row;
  if (job->memory != HALFULP_HOST_MEMORY) {
    snprintf(result->message, result->message_size, "host memory only");
    return result->error = 1;
  }
  for (row = 0; row < job->rows; ++row) {
    const uint32_t* word = (const uint32_t*)((const char*)in->data + row * in->stride);
    uint8_t* code = (uint8_t*)out->data + row * out->stride;
    *code = cast_e4m3(*word);
  }
  return result->error = 0;
}

/* A filter: float32 words on standard input, E4M3 codes on standard output.
 *   cc -O2 c_filter.c -o c_filter
 *   halfulp verify cast:f32:e4m3 --exec ./c_filter
 */
#include <stdio.h>

#include "e4m3_cast.h"

int main(void) {
  static uint32_t words[4096];
  static uint8_t codes[4096];
  size_t count;
  while ((count = fread(words, sizeof words[0], 4096, stdin)) > 0) {
    size_t i;
    for (i = 0; i < count; ++i) codes[i] = cast_e4m3(words[i]);
    if (fwrite(codes, 1, count, stdout) != count) return 1;
  }
  return 0;
}

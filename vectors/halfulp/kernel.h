/* A kernel under test as a shared library: what `halfulp verify --lib ./my_kernel.so` loads.
 *
 * Plain C99, usable from C++. Export two functions, halfulp_kernel_info() and halfulp_kernel_run(). The command loads
 * the library in a process of its own, so a crash or a hang is a finding and ends nothing else.
 *
 * Every struct begins with its size in bytes, as the side that filled it knows it. A later version only appends
 * fields: read no field that lies beyond that size. All words are little-endian, as in a pack. No C++ exception may
 * leave either function.
 */
#ifndef HALFULP_KERNEL_H
#define HALFULP_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Put before the two functions, so that a library built with hidden symbols exports them. */
#if defined(_WIN32)
#define HALFULP_KERNEL_EXPORT __declspec(dllexport)
#else
#define HALFULP_KERNEL_EXPORT __attribute__((visibility("default")))
#endif

/* Rises when the meaning of a field changes; the command refuses a library of another version. */
#define HALFULP_KERNEL_ABI 1u

/* Where a job's columns lie: what the library asks for in its description. Device memory is CUDA's, in the primary context of
 * device 0; the command copies columns there and back, and waits for the device after halfulp_kernel_run(). */
enum { HALFULP_HOST_MEMORY = 0, HALFULP_DEVICE_MEMORY = 1 };

/* What a library says of itself. It must stay valid until the library is unloaded. */
typedef struct halfulp_kernel_description {
  size_t size;        /* sizeof(halfulp_kernel_description) */
  uint32_t abi;       /* HALFULP_KERNEL_ABI */
  uint32_t memory;    /* HALFULP_HOST_MEMORY: the memory that its jobs must lie in */
  const char* name;   /* shown in the verdict; UTF-8, not NULL */
  size_t spec_count;  /* 0: it decides on each job by itself */
  const char* const* specs; /* e.g. "cast:f32:e4m3": casts by their formats, recipes by their name; what follows is free */
} halfulp_kernel_description;

/* One column of a job: `rows` rows of `row_bytes` bytes, the next row `stride` bytes after the one before.
 * A row holds words of the format one after another, 1, 2, 4 or 8 bytes each; a code narrower than its word stands in
 * the low bits (tf32: in the high 19 of 32). */
typedef struct halfulp_column {
  size_t size;        /* sizeof(halfulp_column) */
  const char* name;   /* e.g. "input", "expected": of the pack's manifest */
  const char* format; /* e.g. "f32", "e4m3" */
  void* data;         /* inputs must not be written */
  size_t row_bytes;
  size_t stride;      /* >= row_bytes */
} halfulp_column;

/* Rows to compute. Valid during the call only. */
typedef struct halfulp_job {
  size_t size;         /* sizeof(halfulp_job) */
  uint32_t abi;        /* HALFULP_KERNEL_ABI */
  uint32_t memory;     /* HALFULP_HOST_MEMORY or HALFULP_DEVICE_MEMORY */
  const char* spec;    /* the whole SPEC, e.g. "cast:f32:e4m3,overflow=overflow" */
  uint64_t first_row;  /* index of the first row in the pack */
  uint64_t rows;       /* > 0 */
  size_t input_count;
  const halfulp_column* inputs;
  size_t output_count;
  const halfulp_column* outputs; /* to be filled */
} halfulp_job;

/* What a library answers. The command sets size, message and message_size before the call. */
typedef struct halfulp_result {
  size_t size;         /* sizeof(halfulp_result) */
  int32_t error;       /* 0: every output row is filled; anything else stops the run and is a finding */
  uint32_t reserved;   /* 0 */
  char* message;       /* buffer for the reason, NUL-terminated UTF-8 */
  size_t message_size; /* bytes in the buffer */
} halfulp_result;

/* Describes the library; NULL when it cannot run here. Called once, before any job. */
HALFULP_KERNEL_EXPORT const halfulp_kernel_description* halfulp_kernel_info(void);

/* Computes one job; the same rows must always give the same answers. Called from one thread. Returns result->error. */
HALFULP_KERNEL_EXPORT int32_t halfulp_kernel_run(const halfulp_job* job, halfulp_result* result);

#ifdef __cplusplus
}
#endif

#endif

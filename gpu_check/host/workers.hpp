// CPU threads that stay, with what they keep in thread_local storage (stacks of fibers, tables of models).
#pragma once

#include <functional>

namespace halfulp::gpu::host {

/// Calls task(0) ... task(count - 1), each on a CPU thread of its own, the n-th always on the n-th; returns when all have. A task must not throw.
/// One caller at a time.
void on_cpu_threads(unsigned count, const std::function<void(unsigned)>& task);

}  // namespace halfulp::gpu::host

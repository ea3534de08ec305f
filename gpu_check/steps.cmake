# The steps, shared by the host tier and the device build.
set(HALFULP_GPU_STEPS data casts mma mufu attention libraries)

#include "gpu_check/main.hpp"

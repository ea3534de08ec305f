"""PyTorch's cast through files: reads the inputs of a pack, writes the codes.

    halfulp gen cast:f32:e4m3@torch_2_11 -o pack
    python3 torch_cast.py pack/input.bin out.bin
    halfulp verify pack --got out.bin
"""
import sys

import numpy as np
import torch

x = torch.from_numpy(np.fromfile(sys.argv[1], dtype="<f4"))
x.to(torch.float8_e4m3fn).view(torch.uint8).numpy().tofile(sys.argv[2])

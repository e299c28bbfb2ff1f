#!/usr/bin/python3
"""Training speed against PyTorch's: same net (3x32, six inputs, ReLU), same loss without gradient term, Adam, batch 1024,
one thread, processor time. Usage: torch_speed.py BENCH_NN   (Debian: python3-torch; BENCH_NN: build/tests/bench_nn)
Runs BENCH_NN before and after PyTorch in one go, prints both speeds and their ratio."""
import re
import subprocess
import sys
import time

import torch

ROWS, BATCH, STEPS = 20000, 1024, 1500


def torch_speed():
    """Million rows per second of processor time, the best of three runs."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, y = torch.randn(ROWS, 6), torch.randn(ROWS, 1)
    layers = [torch.nn.Linear(6, 32), torch.nn.ReLU()]
    for _ in range(2):
        layers += [torch.nn.Linear(32, 32), torch.nn.ReLU()]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(32, 1))
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-2)
    best = 0.0
    for _ in range(3):
        start, order, at = time.process_time(), torch.randperm(ROWS), 0
        for _ in range(STEPS):
            if at + BATCH > ROWS:
                order, at = torch.randperm(ROWS), 0
            rows = order[at:at + BATCH]
            at += BATCH
            optimiser.zero_grad(set_to_none=True)
            loss = torch.nn.functional.mse_loss(net(x[rows]), y[rows])
            loss.backward()
            optimiser.step()
        best = max(best, BATCH * STEPS / (time.process_time() - start) * 1e-6)
    return best


def cem_speed(bench):
    """The same of libnn, from the first line of its training table."""
    text = subprocess.run([bench, "speed"], capture_output=True, text=True, check=True).stdout
    return float(re.search(r"adam: ([0-9.]+) ", text).group(1))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    before = cem_speed(sys.argv[1])
    theirs = torch_speed()
    ours = max(before, cem_speed(sys.argv[1]))
    print("million rows a second, one thread: libnn %.2f, PyTorch %s %.2f; ratio %.2f"
          % (ours, torch.__version__, theirs, ours / theirs))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workloads of `bandwidth` through PyTorch, Triton and CUDA C++ (CuPy), beside the C library, in one run.

What is measured comes from `bandwidth --list --json`. Every peer offers several ways; each is compared with a
reference that PyTorch makes in another way, the fastest right one takes part. Then all take turns, five rounds,
and a ratio is the median over the rounds.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import types

import tileptx_library

LAUNCHES = 5     # of each kind, a round
TRIALS = 3       # to find a peer's fastest way
EQUAL = 0.98     # of the best peer counts as equal
GUARD = 4096     # bytes behind a result: stay as they are
POISON = 0xA5
HEAD_START = 3_000_000  # cycles that the device waits while the host queues a round's launches


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", default="build/.libs/libtileptx.so.0", help="the C library")
    parser.add_argument("--bandwidth", default="build/bench/bandwidth", help="the program that knows the workloads")
    parser.add_argument("--only", default="", metavar="NAME", help="workloads whose names begin so; several by commas")
    parser.add_argument("--peers", default="torch,triton,cupy", help="which peers (default: %(default)s)")
    parser.add_argument("--mib", default="1024", help="size of a span (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="an eighth of the size, two rounds")
    parser.add_argument("--limit", type=float, default=230, metavar="SECONDS", help="start no workload later (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    parser.add_argument("--list", action="store_true", help="name the workloads and stop")
    parser.add_argument("--cpu", action="store_true", help="no GPU: ours on the emulated driver, Triton interpreted; compares, does not time")
    options = parser.parse_args()
    if options.quick:
        options.mib, options.rounds = str(float(options.mib) / 8), 2
    return options


def read_workloads(options):
    listed = subprocess.run([options.bandwidth, "--list", "--json", "--mib", options.mib],
                            check=True, capture_output=True, text=True).stdout
    works = [types.SimpleNamespace(**entry, rank=len(entry["extents"]))
             for entry in json.loads(listed)["workloads"]]
    wanted = tuple(options.only.split(","))
    return [work for work in works if work.name.startswith(wanted)]


# ---- Operands and references ----


def addends(work, count, device):
    """Small whole numbers whose sums are exact in any order; bf16 is exact up to 256 only."""
    if work.type == "bf16":
        return (torch.randint(0, 2, (count,), device=device, dtype=torch.int8) * 2 - 1).to(torch.bfloat16)
    return torch.randint(-8, 8, (count,), device=device, dtype=torch.int8).to(torch.float32)


def contents(work, count, device):
    if work.operation == "add":
        return addends(work, count, device)
    if work.type == "u8":
        return torch.randint(0, 256, (count,), device=device, dtype=torch.uint8)
    return torch.randn(count, device=device, dtype=TYPES[work.type])


def bits(tensor):
    return tensor.view({4: torch.int32, 2: torch.int16, 1: torch.uint8}[tensor.element_size()])


class Operands:
    """Span, tiles and index array of a workload, flat and as what they are."""

    def __init__(self, work, device):
        self.work = work
        size = work.element_bytes
        guard = GUARD // size
        whole_span = contents(work, work.span_bytes // size + guard, device)
        whole_tile = contents(work, work.tile_bytes // size + guard, device)
        self.span = whole_span[:-guard]
        self.tile = whole_tile[:-guard]
        self.result = whole_tile if work.operation == "load" else whole_span
        self.guard = guard
        self.start = None if work.operation != "add" else whole_span.clone()
        self.span_array = self.span.as_strided(work.extents, work.strides)
        self.tiles = (self.tile.view(work.chunks + work.shape) if work.packed else
                      self.tile.as_strided(work.tile_extents, work.tile_strides))
        self.index = self._draw_indices(device)

    def _draw_indices(self, device):
        if self.work.dim < 0:
            return torch.zeros(1, dtype=torch.int32, device=device)
        reach = self.work.extents[self.work.dim]
        if self.work.index_count > reach:
            return torch.randint(0, reach, (self.work.index_count,), device=device, dtype=torch.int32)
        return torch.randperm(reach, device=device)[:self.work.index_count].to(torch.int32)

    def reset(self):
        """The result as it is before a launch: poison, and for sums what they start with."""
        if self.start is not None:
            self.result.copy_(self.start)
        else:
            self.result.view(torch.uint8).fill_(POISON)
        self.result[-self.guard:].view(torch.uint8).fill_(POISON)

    def reference(self):
        """What the result must be, its guard included; made in other ways than the peers' own."""
        self.reset()
        result = self.result.clone()
        flat = result[:-self.guard]
        work, long_index = self.work, self.index.long()
        if work.operation == "load":
            self._reference_load(flat, long_index)
            return result
        array = flat.as_strided(work.extents, work.strides)
        if work.operation == "store" and work.dim == 0:
            array[long_index] = self.tiles
        elif work.operation == "store":
            # Partitions only: the tiles of a whole array, put side by side.
            order = [axis for k in range(work.rank) for axis in (k, work.rank + k)]
            padded = [c * s for c, s in zip(work.chunks, work.shape)]
            side_by_side = self.tiles.permute(order).reshape(padded)
            array.copy_(side_by_side[tuple(slice(0, extent) for extent in work.extents)])
        elif work.dim == 0:
            sums = array.double()
            for first in range(0, work.index_count, 1 << 18):
                part = slice(first, first + (1 << 18))
                sums.index_add_(0, long_index[part], self.tiles[part].double())
            array.copy_(sums)
        else:
            self._reference_fold(array)
        return result

    def _reference_load(self, flat, long_index):
        work = self.work
        if work.dim >= 0:
            picked = self.span_array[long_index] if work.dim == 0 else self.span_array[:, long_index]
            flat.as_strided(work.tile_extents, work.tile_strides).copy_(picked)
        elif not work.packed:
            flat.as_strided(work.tile_extents, work.tile_strides).copy_(self.span_array)
        else:
            reach = [(c - 1) * t + s for c, t, s in zip(work.chunks, work.steps, work.shape)]
            padded = torch.zeros([max(r, e) for r, e in zip(reach, work.extents)],
                                 dtype=self.span.dtype, device=self.span.device)
            padded[tuple(slice(0, extent) for extent in work.extents)] = self.span_array
            for k in range(work.rank):
                padded = padded.unfold(k, work.shape[k], work.steps[k])
            flat.view(work.chunks + work.shape).copy_(padded)

    def _reference_fold(self, array):
        work = self.work
        reach = [(c - 1) * t + s for c, t, s in zip(work.chunks, work.steps, work.shape)]
        blocks = self.tiles.permute(2, 3, 0, 1).reshape(1, work.shape[0] * work.shape[1], -1)
        summed = torch.nn.functional.fold(blocks, reach, work.shape, stride=work.steps)
        array.add_(summed[0, 0][:work.extents[0], :work.extents[1]])


# ---- Devices: a GPU, or what stands in for one ----


class Gpu:
    name = "cuda"

    def __init__(self, options):
        torch.cuda.init()
        torch.zeros(1, device="cuda")  # makes the primary context current
        self.library = tileptx_library.Library(options.library)
        print(f"{torch.cuda.get_device_name()}; torch {torch.__version__}, CUDA {torch.version.cuda}")

    def ours(self, work, o):
        launch, signature = self.library.kernel(work, o.span.data_ptr(), o.tile.data_ptr(),
                                                o.index.data_ptr())
        stream = torch.cuda.current_stream().cuda_stream
        return [(signature, lambda: launch(stream))]

    def synchronize(self):
        torch.cuda.synchronize()

    def milliseconds(self, launches):
        """Each launch's time. The device waits at first, so that no time of the host's is in them."""
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(launches) + 1)]
        torch.cuda._sleep(HEAD_START)
        events[0].record()
        for launch, event in zip(launches, events[1:]):
            launch()
            event.record()
        torch.cuda.synchronize()
        return [before.elapsed_time(after) for before, after in zip(events, events[1:])]


class Cpu:
    """Compares only. Ours works on copies in the emulated driver's memory."""

    name = "cpu"

    def __init__(self, options):
        os.environ["TRITON_INTERPRET"] = "1"
        path = os.environ["TILEPTX_EMU_PATH"]
        self.driver = tileptx_library.ctypes.CDLL(path)
        c = tileptx_library.ctypes
        context, device = c.c_void_p(), c.c_int()
        self.driver.cuInit(0)
        self.driver.cuDeviceGet(c.byref(device), 0)
        self.driver.cuDevicePrimaryCtxRetain(c.byref(context), device)
        self.driver.cuCtxSetCurrent(context)
        self.library = tileptx_library.Library(options.library, driver=path)
        print("no GPU: results are compared, nothing is timed")

    def ours(self, work, o):
        c = tileptx_library.ctypes
        tensors = (o.span, o.tile, o.index)
        address = [c.c_uint64() for _ in tensors]
        for at, tensor in zip(address, tensors):
            self.driver.cuMemAlloc_v2(c.byref(at), c.c_size_t(tensor.nbytes))
        launch, signature = self.library.kernel(work, *(at.value for at in address))

        def run():
            for at, tensor in zip(address, tensors):
                self.driver.cuMemcpyHtoD_v2(at, c.c_void_p(tensor.data_ptr()), c.c_size_t(tensor.nbytes))
            launch(0)
            self.driver.cuCtxSynchronize()
            for at, tensor in zip(address[:2], tensors[:2]):
                self.driver.cuMemcpyDtoH_v2(c.c_void_p(tensor.data_ptr()), at, c.c_size_t(tensor.nbytes))

        return [(signature, run)]

    def synchronize(self):
        pass

    def milliseconds(self, launches):
        for launch in launches:
            launch()
        return [1.0] * len(launches)


# ---- Measuring ----


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"


def choose(name, offered, o, expected, device, notes):
    """The fastest right way of those offered, and whether all were right; what fails is noted."""
    best, right = None, True
    for label, launch in offered:
        try:
            o.reset()
            launch()
            device.synchronize()
            if not torch.equal(bits(o.result), bits(expected)):
                wrong = (bits(o.result) != bits(expected)).nonzero()[0].item()
                notes.append(f"{name} ({label}) is WRONG at element {wrong}")
                right = False
                continue
            taken = min(device.milliseconds([launch] * TRIALS))
        except Exception as error:  # a peer may be missing something; the others go on
            notes.append(f"{name} ({label}): {first_line(error)}")
            continue
        if best is None or taken < best[0]:
            best = (taken, label, launch)
    return best, right


def take_turns(device, ways, rounds):
    """Milliseconds of every way in every round."""
    times = {name: [] for name in ways}
    for _ in range(rounds):
        order = [(name, launch) for _ in range(LAUNCHES) for name, launch in ways.items()]
        taken = device.milliseconds([launch for _, launch in order])
        for name in ways:
            times[name].append(statistics.median(t for (n, _), t in zip(order, taken) if n == name))
    return times


def copier(work, device):
    """A plain copy of as many bytes, which nothing needs afterwards."""
    half = work.moved_bytes // 2 // 4096 * 4096 or 4096
    source = torch.randint(0, 256, (half,), dtype=torch.uint8, device=device.name)
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def measure(work, device, peers, options):
    result = {"workload": work.name, "bytes": work.moved_bytes, "bar": work.bar, "notes": [], "right": {},
              "ways": {}, "rates": {}, "ratios": {}}
    o = Operands(work, device.name)
    expected = o.reference()
    ways = {}
    for name, offer in {"ours": device.ours, **peers}.items():
        try:
            offered = [way for way in offer(work, o) if way[1] is not None]
        except Exception as error:
            result["notes"].append(f"{name}: {first_line(error)}")
            continue
        best, right = choose(name, offered, o, expected, device, result["notes"])
        if offered:
            result["right"][name] = right if best is not None or not right else None
        if best is not None:
            _, result["ways"][name], ways[name] = best
    del expected
    if "ours" not in ways or options.cpu:
        return result
    ways["copy"] = copier(work, device)
    times = take_turns(device, ways, options.rounds)
    for name, taken in times.items():
        result["rates"][name] = work.moved_bytes / 1e9 / statistics.median(taken)
        result["ratios"][name] = statistics.median(t / own for t, own in zip(taken, times["ours"]))
    return result


# ---- The table ----


def print_head(names):
    print("TB/s; ratios are medians of the rounds' own; right: " + " ".join(["ours", *names]))
    print(f"{'workload':27s} {'right':>5s} {'ours':>6s} {'copy':>6s} " +
          " ".join(f"{name:>6s}" for name in names) + "   best   ratio  enough  of copy")


def print_line(result, names):
    def rate(name):
        return f"{result['rates'][name]:6.3f}" if name in result["rates"] else f"{'-':>6s}"

    right = "".join({True: "y", False: "N", None: "-"}[result["right"].get(name)] for name in ["ours", *names])
    ratios = {name: result["ratios"][name] for name in names if name in result["ratios"]}
    best = min(ratios, key=ratios.get) if ratios else None
    verdict = (f"{best:>6s}  {ratios[best]:6.3f}  {'yes' if ratios[best] >= EQUAL else 'NO':>6s}" if best else
               f"{'-':>6s}  {'-':>6s}  {'-':>6s}")
    of_copy = f"{result['ratios']['copy']:7.3f}" if "copy" in result["ratios"] else f"{'-':>7s}"
    print(f"{result['workload']:27s} {right:>5s} {rate('ours')} {rate('copy')} " +
          " ".join(rate(name) for name in names) + f" {verdict}  {of_copy}")
    for note in result["notes"]:
        print(f"    {note}")
    sys.stdout.flush()


def load_peers(wanted):
    peers = {}
    for name in wanted:
        try:
            peers[name] = __import__(f"peer_{name}").candidates
        except Exception as error:
            print(f"{name} is left out: {first_line(error)}")
    return peers


def main():
    global torch, TYPES
    options = parse_arguments()
    works = read_workloads(options)
    if not works:
        sys.exit(f"peers.py: no workload begins with {options.only}")
    if options.list:
        for work in works:
            print(f"{work.name:27s} {work.moved_bytes:12d}  {work.signature}")
        return
    if options.cpu:
        os.environ["TRITON_INTERPRET"] = "1"
    try:
        import torch
    except ImportError as error:
        print(f"peers.py: {error}", file=sys.stderr)
        sys.exit(77)
    TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "u8": torch.uint8}
    begun = time.monotonic()
    device = (Cpu if options.cpu else Gpu)(options)
    names = [name for name in options.peers.split(",") if name]
    peers = load_peers(names)
    results = []
    print_head(names)
    for work in works:
        if time.monotonic() - begun > options.limit:
            print(f"{work.name} and what follows: left out, {options.limit:.0f} seconds are over")
            break
        try:
            results.append(measure(work, device, peers, options))
            print_line(results[-1], names)
        except Exception as error:
            print(f"{work.name}: {first_line(error)}")
        if not options.cpu:
            torch.cuda.empty_cache()
    print("# the fastest way of each")
    for result in results:
        print(f"# {result['workload']:27s} " + "; ".join(f"{name}: {way}" for name, way in result["ways"].items()))
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"schema": 1, "results": results}, file, indent=1)
    wrong = [result["workload"] for result in results if result["right"].get("ours") is not True]
    if wrong:
        sys.exit(f"peers.py: ours is wrong: {', '.join(wrong)}")


if __name__ == "__main__":
    main()

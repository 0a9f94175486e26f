"""How training grows with machines: the model of `docs/evidence/scaling.md`, for 8 to 1,024 devices, 8 on each machine.

    python benchmarks/growth.py

A step takes between max(c, t) and c + t, see there. Nothing is measured here: c, the time that a device computes, and
the speeds of links are assumed, and printed. `benchmarks/workers.py` measures up to four processes.
"""

from __future__ import annotations

from typing import NamedTuple

ON_A_MACHINE = 8
DEVICES = (8, 16, 64, 256, 1024)
INSIDE = 250e9  # bytes a second between the devices of a machine: NVLink of an A100
NETWORKS = {"10 Gb/s": 1.1e9, "100 Gb/s": 11e9}


class Model(NamedTuple):
    """A model of the table.

    Attributes:
        name: its name.
        weights: bytes.
        seconds: that a device computes in a step.
    """

    name: str
    weights: float
    seconds: float


MODELS = (
    Model("MLP 784-1024-1024-10, 128 samples a device", 7.5e6, 0.002),
    Model("ResNet-50, 32 samples a device", 102e6, 0.080),
    Model("VGG16, 32 samples a device", 553e6, 0.130),
)


def sending(model: Model, devices: int, network: float) -> float:
    """Return the seconds that a step sends: inside of each machine from one device, then a ring of the machines.

    Args:
        model: the model.
        devices: in all, `ON_A_MACHINE` on each machine.
        network: bytes a second that a machine sends, and receives at the same time.
    """
    machines = devices // ON_A_MACHINE
    inside = 2 * (ON_A_MACHINE - 1) * model.weights / INSIDE
    return inside + 2 * model.weights * (machines - 1) / machines / network


def main() -> None:
    columns = " | ".join(map(str, DEVICES))
    print(f"| model | W | c | network | {columns} | meet at c = |")
    print("|---|--:|--:|---|" + "--:|" * (len(DEVICES) + 1))
    for model in MODELS:
        for name, network in NETWORKS.items():
            row = []
            for devices in DEVICES:
                t, c = sending(model, devices, network), model.seconds
                row.append(f"{100 * c / (c + t):.0f} to {100 * c / max(c, t):.0f}%")
            meet = sending(model, DEVICES[-1], network) * 1000
            about = f"{model.weights / 1e6:.3g} MB | {model.seconds * 1000:.0f} ms"
            print(f"| {model.name} | {about} | {name} | {' | '.join(row)} | {meet:.0f} ms |")


if __name__ == "__main__":
    main()

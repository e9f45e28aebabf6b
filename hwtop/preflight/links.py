"""What joins the GPUs to each other and to the host."""

from __future__ import annotations

from hwtop.job.cpu_list import cpus_of
from hwtop.preflight.check import Check, Family, Outcome, passed, skipped, warned
from hwtop.preflight.machine import Machine
from hwtop.preflight.symptoms import absent
from hwtop.symptoms.gpu.words import named_gpus


def _pcie(machine: Machine) -> Outcome:
    """The width alone: an idle GPU lowers its generation to save power."""
    known = [gpu for gpu in machine.gpus if gpu.pcie_width and gpu.pcie_width_max]
    for gpu in known:
        if (gpu.pcie_width or 0) < (gpu.pcie_width_max or 0):
            words = f"GPU {gpu.index}: PCIe x{gpu.pcie_width} instead of x{gpu.pcie_width_max}"
            return warned(words, f"sudo lspci -vv -s {gpu.pci_bus_id} | grep -E 'LnkCap|LnkSta'; reseat the card")
    for gpu in known:
        best = max(peer.pcie_gen_max or 0 for peer in known if peer.name == gpu.name)
        if gpu.pcie_gen_max is not None and gpu.pcie_gen_max < best:
            words = f"GPU {gpu.index}: PCIe generation {gpu.pcie_gen_max} at most, its peers reach {best}"
            return warned(words, f"sudo lspci -vv -s {gpu.pci_bus_id} | grep -E 'LnkCap|LnkSta'")
    widths = sorted({f"x{gpu.pcie_width}" for gpu in known})
    return (
        passed(f"PCIe {', '.join(widths)}: full width", compares=True) if known else skipped("PCIe link not reported")
    )


def _fabric(machine: Machine) -> Outcome:
    states = {gpu.index: gpu.fabric for gpu in machine.gpus if gpu.fabric is not None}
    waiting = [index for index, state in states.items() if state != "completed"]
    if waiting:
        words = f"NVLink fabric of {named_gpus(waiting)}: {states[waiting[0]]}; CUDA fails with error 802"
        return warned(words, "sudo systemctl restart nvidia-fabricmanager")
    return passed("NVLink fabric completed") if states else skipped("no NVSwitch system")


def _topology(machine: Machine) -> Outcome:
    topology = machine.state.topology
    if topology is None or len(topology.indexes) < 2:
        return skipped("fewer than two GPUs" if len(machine.gpus) < 2 else "topology not reported")
    pairs = {
        (topology.indexes[row], topology.indexes[column]): topology.paths[row][column]
        for row in range(len(topology.indexes))
        for column in range(row)
    }
    joined = [pair for pair, path in pairs.items() if path in ("NVLINK", "XGMI")]
    apart = [pair for pair in pairs if pair not in joined]
    if joined and apart:
        first, second = apart[0]
        words = (
            f"{len(apart)} of {len(pairs)} pairs of GPUs have no link, e.g. {second} and {first} ({pairs[apart[0]]})"
        )
        return warned(words, "nvidia-smi topo -m   # choose GPUs that are joined by links with CUDA_VISIBLE_DEVICES")
    paths = ", ".join(sorted(set(pairs.values())))
    return passed(
        f"all pairs of GPUs are joined alike: {paths}"
        if len(set(pairs.values())) == 1
        else f"paths between GPUs: {paths}",
        compares=True,
    )


def _numa(machine: Machine) -> Outcome:
    """Cores that the run may use must include some near to each GPU; of a job's process, near to its own."""
    own = [
        gpu
        for gpu in machine.gpus
        if not machine.is_job or any(entry.pid == machine.pid for entry in gpu.processes or ())
    ]
    near = {gpu.index: cpus_of(gpu.cpus) for gpu in own if gpu.cpus}
    if not near:
        return skipped("cores near to the GPUs not reported")
    far = [index for index, cpus in near.items() if cpus and cpus.isdisjoint(machine.cores)]
    if far:
        words = f"the run may not use any core near to {named_gpus(far)}: copies to them cross sockets"
        return warned(words, "numactl --show; ask Slurm for --gpu-bind=closest, or start with numactl --cpunodebind")
    return passed(f"cores near to {named_gpus(near)} may be used")


LINKS = Family(
    "Links of the GPUs",
    (
        Check(
            id="gpu-pcie",
            about="A PCIe link is narrower than it could be, or slower than that of its peers",
            look=_pcie,
        ),
        Check(
            id="gpu-nvlink",
            about="An NVLink is down that its peers have, or links count errors",
            look=absent("nvlink-errors", lambda machine: machine.gpus, "no NVLink is down"),
        ),
        Check(id="gpu-fabric", about="The fabric manager has not completed the NVLink fabric", look=_fabric),
        Check(id="gpu-topology", about="Some pairs of GPUs are joined by links and others are not", look=_topology),
        Check(id="gpu-numa", about="The run may use no core near to a GPU", look=_numa),
    ),
)

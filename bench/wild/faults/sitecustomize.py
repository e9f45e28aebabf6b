"""Plants a fault into any Python program that has this folder in PYTHONPATH; without WILD_DO it does nothing.

WILD_DO     what happens: a name of `plants.PLANTS`
WILD_AT     where: module:qualified.name, called before each call of that function; `dataset` = the __getitem__ of every torch Dataset,
            `optimizer` = before each step of every torch optimizer
WILD_AFTER  only after so many calls (of one process)        WILD_UNTIL  no longer after so many calls
WILD_EVERY  only each so many calls                          WILD_ARG    amount: seconds, bytes, factor
WILD_RANK   only in this rank                                WILD_WORKER only in this loader worker
"""

import functools
import importlib.abc
import importlib.util
import os
import sys

PLACES = {"dataset": "torch.utils.data.dataset", "optimizer": "torch.optim.optimizer"}


class Planter(importlib.abc.MetaPathFinder):
    """Patches one module as soon as it has been imported."""

    def __init__(self, module, patch):
        self.module, self.patch = module, patch

    def find_spec(self, fullname, path, target=None):
        if fullname != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                self.patch(module)

            spec.loader.exec_module = exec_module
        return spec


class Turn:
    """Counts calls, and says when it is time."""

    def __init__(self, do):
        self.do, self.calls = do, 0
        self.after = int(os.environ.get("WILD_AFTER", "0"))
        self.until = int(os.environ.get("WILD_UNTIL", "1000000000"))
        self.every = int(os.environ.get("WILD_EVERY", "1"))

    def __call__(self, subject=None):
        self.calls += 1
        if self.after < self.calls <= self.until and self.calls % self.every == 0 and is_here():
            self.do(float(os.environ.get("WILD_ARG", "0")), subject)


def is_here():
    rank, worker = os.environ.get("WILD_RANK"), os.environ.get("WILD_WORKER")
    if rank is not None and rank != own_rank():
        return False
    if worker is not None:
        data = sys.modules.get("torch.utils.data")
        info = data.get_worker_info() if data else None
        return info is not None and str(info.id) == worker
    return True


def own_rank():
    dist = sys.modules.get("torch.distributed")
    if "RANK" in os.environ:
        return os.environ["RANK"]
    return str(dist.get_rank()) if dist and dist.is_available() and dist.is_initialized() else None


def before(function, turn):
    @functools.wraps(function)
    def call(*args, **kwargs):
        turn(args[0] if args else None)
        return function(*args, **kwargs)

    return call


def patch_function(qualified, turn):
    def patch(module):
        *path, name = qualified.split(".")
        owner = functools.reduce(getattr, path, module)
        setattr(owner, name, before(getattr(owner, name), turn))

    return patch


def patch_dataset(turn):
    def wrap(cls):
        for name in ("__getitem__", "__getitems__"):
            if name in vars(cls):
                setattr(cls, name, before(vars(cls)[name], turn))

    def patch(module):
        module.Dataset.__init_subclass__ = classmethod(lambda cls, **_: wrap(cls))
        for each in (module.TensorDataset,):
            wrap(each)

    return patch


def patch_optimizer(turn):
    return lambda module: module.register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: turn(optimizer))


def plant():
    from plants import PLANTS

    at = os.environ["WILD_AT"]
    turn = Turn(PLANTS[os.environ["WILD_DO"]])
    module, _, name = at.partition(":")
    patches = {"dataset": patch_dataset, "optimizer": patch_optimizer}
    patch = patches[module](turn) if module in patches else patch_function(name, turn)
    sys.meta_path.insert(0, Planter(PLACES.get(module, module), patch))


if "WILD_DO" in os.environ:
    plant()

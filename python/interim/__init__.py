"""Interim: nonsmooth multibody dynamics coupled to hydraulics, controllers and other mechanisms.

    import interim

    model = interim.load("examples/crane.yaml", set={"cosim.macro_step": "10 ms"})
    results = model.run(until=2.0)
    results.plot("crane.cyl1.length")

    sim = model.simulation()
    sim["hydraulics.valve1"] = 0.3
    sim.step()

Guide: docs/guide/python.md. Everything is SI; times may be text such as "10 ms".
"""

from interim._files import compare, read
from interim._library import lib as _lib
from interim._library import text as _text
from interim.errors import Error, ModelError, StepError
from interim.mlcp import Friction, MlcpResult, mlcp_residual, solve_mlcp
from interim.model import Check, Model, load
from interim.results import Results, Signal
from interim.simulation import Body, Contact, Interface, Linear, Simulation, State
from interim.subsystem import Controller, Subsystem
from interim.sweeps import Table, sweep

__version__ = _text(_lib.itm_version())

__all__ = [
    "Body", "Check", "Contact", "Controller", "Error", "Friction", "Interface", "Linear", "MlcpResult", "Model", "ModelError",
    "Results", "Signal", "Simulation", "State", "StepError", "Subsystem", "Table", "compare", "load", "mlcp_residual", "read",
    "solve_mlcp", "sweep",
]

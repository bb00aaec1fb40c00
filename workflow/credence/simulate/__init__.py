"""A simulated world whose truth is known: for the demo, for tests, for verification."""

from credence.simulate.law import CLASS_NAMES, USE_PREVALENCE, WorldSettings, world_settings
from credence.simulate.world import NOTICE, World, make_world, render_files

__all__ = [
    "CLASS_NAMES",
    "NOTICE",
    "USE_PREVALENCE",
    "World",
    "WorldSettings",
    "make_world",
    "render_files",
    "world_settings",
]

"""The configuration of a run: read with its lines, checked, typed."""

from credence.configuration.commands import (
    CONFIGURATION_FILE,
    DEMO_FILES,
    DEMO_FOLDER,
    demo_text,
    environment_file,
    flag,
    for_workflow,
    option,
    options,
)
from credence.configuration.needs import memory, minutes, several
from credence.configuration.novelty import needs_places
from credence.configuration.reading import Document, read_document
from credence.configuration.scatter import Share, judged_alone, shares
from credence.configuration.settings import (
    Configuration,
    TableSet,
    check,
    from_mapping,
    load,
    load_schema,
    loads,
    slug,
    workflow_folder,
)
from credence.configuration.troves import Trove, trove_of

__all__ = [
    "CONFIGURATION_FILE",
    "DEMO_FILES",
    "DEMO_FOLDER",
    "Configuration",
    "Document",
    "Share",
    "TableSet",
    "Trove",
    "check",
    "demo_text",
    "environment_file",
    "flag",
    "for_workflow",
    "from_mapping",
    "judged_alone",
    "load",
    "load_schema",
    "loads",
    "memory",
    "minutes",
    "needs_places",
    "option",
    "options",
    "read_document",
    "several",
    "shares",
    "slug",
    "trove_of",
    "workflow_folder",
]

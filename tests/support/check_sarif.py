"""Holds SARIF files against the object model that is generated from the standard's schema (Debian's
python3-sarif-python-om).

usage: check_sarif.py FILE…
Each name must be a property of its object, and what the schema requires must be there. Values are not looked at.
"""
import json
import sys

import attr
import sarif_om

# The objects that heapprof writes, by the property that holds them.
CLASSES = {"runs": "Run", "tool": "Tool", "driver": "ToolComponent", "rules": "ReportingDescriptor",
           "results": "Result",
           "shortDescription": "MultiformatMessageString",
           "fullDescription": "MultiformatMessageString", "help": "MultiformatMessageString", "message": "Message", "locations": "Location",
           "physicalLocation": "PhysicalLocation", "artifactLocation": "ArtifactLocation", "region": "Region"}
BAGS = {"partialFingerprints"}  # of any names, with texts as values


def check(value, name, where):
    if name in BAGS:
        assert all(isinstance(text, str) for text in value.values()), where
        return
    fields = {field.metadata["schema_property_name"]: field.default is attr.NOTHING
              for field in attr.fields(getattr(sarif_om, name))}
    unknown = set(value) - set(fields)
    assert not unknown, f"{where}: {name} has no {unknown}"
    missing = {field for field, is_required in fields.items() if is_required} - set(value)
    assert not missing, f"{where}: {name} lacks {missing}"
    for key, part in value.items():
        for index, element in enumerate(part if isinstance(part, list) else [part]):
            if isinstance(element, dict):
                check(element, key if key in BAGS else CLASSES[key], f"{where}/{key}[{index}]")


for file in sys.argv[1:]:
    with open(file) as source:
        check(json.load(source), "SarifLog", file)

"""Checks reports with the parsers of other programs: JUnit, Checkstyle and GitLab's code quality.

Usage: check_reports.py DIRECTORY, which has junit.xml, checkstyle.xml and gitlab.json.
"""

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import junitparser

directory = Path(sys.argv[1])

# JUnit: the counts of every suite are those of its cases.
suites = junitparser.JUnitXml.fromfile(str(directory / "junit.xml"))
counts = (suites.tests, suites.failures, suites.errors, suites.skipped)
for suite in suites:
    declared = (suite.tests, suite.failures, suite.errors, suite.skipped)
    suite.update_statistics()
    assert declared == (suite.tests, suite.failures, suite.errors, suite.skipped), suite.name
    for case in suite:
        assert case.name and case.classname, case
        assert len(case.result) <= 1, case.result
suites.update_statistics()
assert counts == (suites.tests, suites.failures, suites.errors, suites.skipped), counts
assert suites.failures > 0, "the report has no failure"

# Checkstyle: files with errors.
root = ElementTree.parse(directory / "checkstyle.xml").getroot()
assert root.tag == "checkstyle" and root.get("version")
names = [file.get("name") for file in root]
assert len(names) == len(set(names)), "a file occurs twice"
for file in root:
    assert file.tag == "file" and file.get("name")
    for error in file:
        assert error.tag == "error" and error.get("severity") in ("error", "warning", "info")
        assert int(error.get("line")) >= 1 and int(error.get("column")) >= 1
        assert error.get("message") and error.get("source").startswith("krm.")

# GitLab: what its documentation requires of a code quality report.
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "not": {"pattern": "^(/|\\./)"}},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
content = (directory / "gitlab.json").read_bytes()
assert not content.startswith(b"\xef\xbb\xbf"), "GitLab reads no byte order mark"
issues = json.loads(content)
jsonschema.Draft202012Validator.check_schema(SCHEMA)
jsonschema.validate(issues, SCHEMA)
fingerprints = [issue["fingerprint"] for issue in issues]
assert len(fingerprints) == len(set(fingerprints)), "a fingerprint occurs twice"

print(f"{counts[0]} test cases, {len(names)} files, {len(issues)} issues")

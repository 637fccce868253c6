"""Takes the shell steps and the artifacts out of a CI service's file.

usage: ci_steps.py github|gitlab FILE FOLDER
Writes FOLDER/1.sh, 2.sh …: what the service would run, one shell each; and FOLDER/artifacts: the files that it would
keep.
"""
import sys
import yaml

service, file, folder = sys.argv[1:]
with open(file) as source:
    job = yaml.safe_load(source)
if service == "github":
    steps = job["jobs"]["memory"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    uploads = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    artifacts = "\n".join(uploads).split()
    # Whatever is not run must be an action with a version: a step is one or the other.
    assert all(("run" in step) != ("uses" in step) and "@" in step.get("uses", "@") for step in steps), steps
    kept = {step["with"]["path"] for step in steps if "actions/cache" in step.get("uses", "")}
else:
    job = job["memory"]
    scripts = ["\n".join(job["before_script"] + job["script"])]
    artifacts = job["artifacts"]["paths"] + list(job["artifacts"]["reports"].values())
    assert job["artifacts"]["when"] == "always"
    kept = set(job["cache"]["paths"])
assert kept == {"heapprof.jsonl"}, kept
for number, script in enumerate(scripts, 1):
    with open(f"{folder}/{number}.sh", "w") as target:
        target.write(script + "\n")
with open(f"{folder}/artifacts", "w") as target:
    target.write("\n".join(artifacts) + "\n")

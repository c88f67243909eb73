"""recipe.py github|gitlab EVENT < YAML: prints the commands of a recipe as a shell
script, as the service would run them for a push or a pull_request. What is not a
command (uses:, artifacts:) is left out. Every step must be understood."""

import shlex
import sys

import yaml

service, event = sys.argv[1:]
recipe = yaml.safe_load(sys.stdin)
(job,) = recipe["jobs"].values() if service == "github" else recipe.values()
if service == "gitlab":
    assert set(job) == {"image", "variables", "script", "artifacts"}, job
    commands = job["script"]
else:
    commands = []
    for step in job["steps"]:
        assert len({"uses", "run"} & set(step)) == 1, step
        assert set(step) <= {"uses", "with", "run", "if"}, step
        condition = step.get("if")
        assert condition in (None, "github.event_name == 'pull_request'"), condition
        if "run" in step and (not condition or event == "pull_request"):
            commands.append(step["run"])
# Each service ends at the first command that fails.
for command in commands:
    print("sh -ec %s || exit" % shlex.quote(command))

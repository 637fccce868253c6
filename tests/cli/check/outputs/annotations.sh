# Annotations: one a line, escaped; a file only where it lies in the project.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "an annotation is not one"
import re
lines = [line.rstrip("\n") for line in open("said.txt") if line.startswith("::")]
assert len(lines) == 7 and not any(line.startswith(("::error::", "::warning::")) for line in lines), lines
for line in lines:
    head, message = re.fullmatch(r"::(?:error|warning) ([^:]*)::(.*)", line).groups()
    keys = [part.split("=", 1)[0] for part in head.split(",")]
    assert set(keys) <= {"file", "line", "title"} and "title" in keys, head
    assert re.fullmatch(r"(?:[^%]|%25|%0A|%0D)*", message), message
assert any("file=src/a b%2Cc%3Ad%25.cc,line=7," in line for line in lines), lines
PY

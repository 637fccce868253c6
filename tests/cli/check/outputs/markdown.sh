# Markdown: no cell has a bar of its own, no name a mention or a tag.
made check_outputs write_check_outputs
"$PYTHON" - <<'PY' || fail "the Markdown is not one table a program"
import re
rows = [line for line in open("out.md") if line.startswith("|")]
assert len(rows) == 2 * (2 + 5) and all(len(re.findall(r"(?<!\\)\|", row)) == 7 for row in rows), rows
assert "@all" not in open("out.md").read() and "<&" not in open("out.md").read()
PY

# Who says which commit it is: CI, or git.
GITHUB_SHA=from-ci "$HEAPPROF_BIN" history -q --add --name nightly new.jsonl "$small"
expect_eq "by CI, under a name of its own" "$(tail -n 1 new.jsonl | jq -r '.commit + " " + .name')" "from-ci nightly"
if have git; then
  git init -q repo
  git -C repo -c user.name=x -c user.email=x@example.org commit -q --allow-empty -m x
  (cd repo && "$HEAPPROF_BIN" history -q --add ../new.jsonl "$small")
  expect_eq "by git" "$(tail -n 1 new.jsonl | jq -r .commit)" "$(git -C repo rev-parse HEAD)"
fi

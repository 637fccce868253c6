# tests/support/page/page_checks.sh: what the tests of pages in a browser begin with (sourced).
# Gives: browse NAME.mjs ARGUMENTS…, which runs a script of this folder; PAGE_TOOLS.
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  missing chromium "Chromium is not installed (apt-get install chromium)"
PAGE_TOOLS=$("$SOURCE/scripts/page" --tools 2>no_tools.txt) || missing page "$(tail -n 1 no_tools.txt)"
export PAGE_TOOLS

browse() {
  local script=$1
  shift
  node "$SOURCE/tests/support/page/$script" "$@" >browser.txt 2>&1 || { cat browser.txt >&2; fail "$script $*"; }
}

# Shared by the scripts of this folder: how they talk, how a step fails, how missing tools are installed.
# Sourced, not run.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }

# fail WHY [WHAT TO DO]
fail() {
  printf 'failed: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  to do: %s\n' "$2" >&2
  exit 1
}

# step WHAT COMMAND…: says what it does, is quiet when it works and shows everything when it does not.
step() {
  local what="$1" output
  shift
  say "$what"
  output="$(mktemp)"
  if ! "$@" >"$output" 2>&1; then
    cat "$output" >&2
    rm -f "$output"
    fail "$what: «$*» ended with an error (its output stands above)."
  fi
  rm -f "$output"
}

need_node() {
  command -v node >/dev/null || fail "Node.js is not installed." "install Node.js 20.19 or newer, with npm"
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node -v) is too old." "install Node.js 20.19 or newer"
  command -v npm >/dev/null || fail "npm is not installed." "install npm (it comes with Node.js)"
}

# need_packages PACKAGE…: installs the Debian packages that are missing.
need_packages() {
  local missing=() package as_root=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  command -v apt-get >/dev/null ||
    fail "these tools are missing and there is no apt-get to install them: ${missing[*]}" "install them with this system's package manager"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null && sudo -n true 2>/dev/null ||
      fail "these packages are missing: ${missing[*]}" "sudo apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  step "Refreshing the package lists" "${as_root[@]}" apt-get update
  step "Installing ${missing[*]}" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
  # Debian's package starts a server on every network of the machine, which nobody asked for: only its program is used.
  if [[ " ${missing[*]} " == *" nats-server "* ]] && [ -d /run/systemd/system ]; then
    step "Keeping Debian's own nats-server from running" "${as_root[@]}" systemctl disable --now nats-server.service
  fi
}

# Installs the npm packages when the lockfile changed since the last time, or when they are not whole.
need_npm_packages() {
  local stamp="$root/node_modules/.activityd-lock"
  if [ -f "$stamp" ] && cmp -s "$stamp" "$root/package-lock.json" && has_sqlite; then return 0; fi
  has_compiler || need_packages python3 make g++
  step "Installing the npm packages (SQLite is compiled here: a few minutes)" npm --prefix "$root" ci --no-fund --no-audit
  # npm versions that do not run install scripts by themselves leave SQLite unbuilt.
  has_sqlite || step "Compiling SQLite" npm --prefix "$root" rebuild better-sqlite3
  has_sqlite || fail "better-sqlite3 does not load after its installation." "look at: npm --prefix '$root' rebuild better-sqlite3 --foreground-scripts"
  cp "$root/package-lock.json" "$stamp"
}

has_sqlite() { (cd "$root" && node -e 'new (require("better-sqlite3"))(":memory:").close()' 2>/dev/null); }

has_compiler() { command -v python3 >/dev/null && command -v make >/dev/null && command -v g++ >/dev/null; }

# Builds dist/ when a source is newer than it.
need_build() {
  if [ -f "$root/dist/cli/main.js" ] &&
    [ -z "$(find "$root/src" "$root/package.json" "$root/tsconfig.json" "$root/tsconfig.build.json" -newer "$root/dist/cli/main.js" -print -quit)" ]; then
    return 0
  fi
  step "Building" npm --prefix "$root" run build
}

activityd() { node "$root/dist/cli/main.js" "$@"; }

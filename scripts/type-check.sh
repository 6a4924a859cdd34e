#!/bin/sh
# The type checks of `npm test`. A check keeps what it knows of unchanged files in the user's cache, and a clean clone begins with that: a sixth of the
# CPU time. The compiler compares the texts of all files, so an old cache only costs time.
set -eu
cd "$(dirname "$0")/.."
cache=${XDG_CACHE_HOME:-$HOME/.cache}/plexus/types
mkdir -p dist/types "$cache"
check() {
  name=$1
  shift
  # The paths in the file are relative to it, so each clone has a copy in the same place.
  [ -f "dist/types/$name" ] || cp "$cache/$name" "dist/types/$name" 2>/dev/null || true
  tsc --noEmit --incremental --tsBuildInfoFile "dist/types/$name" "$@"
  cp "dist/types/$name" "$cache/$name.$$"
  mv "$cache/$name.$$" "$cache/$name"
}
check all.tsbuildinfo
check page.tsbuildinfo -p host/programs/plexusctl/ui/page

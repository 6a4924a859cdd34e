// A headless Chromium for tests of `plexusctl ui`: Debian's package, driven by playwright-core.

import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import type { Requirement } from "./requires.ts";

const program = "/usr/bin/chromium";

/** Debian's Chromium. scripts/run.sh installs it (some 300 MB) only with PLEXUS_TEST_BROWSER=1. */
export const chromiumBrowser: Requirement = () =>
  existsSync(program) ? undefined : `no ${program}: apt-get install chromium, or PLEXUS_TEST_BROWSER=1 npm test as root`;

/** Starts the browser, which asks no other machine for anything. It keeps its profile in a temporary directory. */
export function startBrowser(): Promise<Browser> {
  // Root and the only user of a user namespace cannot have Chromium's own sandbox.
  const args = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"];
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath: program, args: [...args, ...quiet] });
}

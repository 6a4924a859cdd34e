// The Node release that the sandbox needs. A delegate that was made with an older Node has Node 26 among its packages.

import { createRequire } from "node:module";

/** True if this Node can run the sandbox: it meters a guest by the thread's CPU time, which Node has since 22.19 and 23.9. */
export function runsSandbox(): boolean {
  return typeof process.threadCpuUsage === "function";
}

/** The path of the installed Node package; undefined if it is not there. */
export function newerNode(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`node-${process.platform}-${process.arch}/bin/node`);
  } catch {
    return undefined;
  }
}

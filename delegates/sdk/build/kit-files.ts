// The places of the kit's own files: in Plexus' repository and in the package `@plexus-cni/sdk`, whose layouts differ.

import { fileURLToPath } from "node:url";

/** True in the published package, whose code is JavaScript in `dist/`. */
export const isPackaged = !import.meta.url.endsWith(".ts");

/** The path of a file of the kit: below `delegates/sdk/`, or below the package's directory. */
export function kitFile(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

/** The path of a file of a released WIT version, such as `1.0.0/delegate.wit`. */
export function witFile(path: string): string {
  return fileURLToPath(new URL(isPackaged ? `../wit/${path}` : `../../../wit/${path}`, import.meta.url));
}

/** The path of the compiler's options. */
export const asconfigFile = fileURLToPath(new URL(isPackaged ? "../asconfig.json" : "../../../asconfig.json", import.meta.url));

/** The module that runs in the compiler's threads. */
export const compileWorker = new URL(isPackaged ? "./compile-worker.js" : "./compile-worker.ts", import.meta.url);

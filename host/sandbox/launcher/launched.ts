// Reads the launcher's report: the first frame of a sandbox process.

import { controlsOf, type Control } from "./controls.ts";

/** The launcher's report: the process, and the controls that it has set up. */
export interface Launched {
  /** The sandbox process' pid in the engine's pid namespace. The engine's own child is the launcher, which waits for that process. */
  readonly pid: number;
  /** The process' uid in the engine's user namespace. */
  readonly uid: number;
  readonly controls: ReadonlySet<Control>;
}

/** The report, or what failed in one phrase. */
export function readLaunched(json: unknown): Launched | string {
  if (typeof json !== "object" || json === null) return "the launcher sent no report";
  if ("failed" in json && "error" in json) return `${String(json.failed)}: ${String(json.error)}`;
  if (!("pid" in json && "uid" in json && "controls" in json)) return "the launcher sent no report";
  const { pid, uid, controls } = json;
  if (typeof pid !== "number" || typeof uid !== "number" || typeof controls !== "number") return "the launcher sent no report";
  return { pid, uid, controls: controlsOf(controls) };
}

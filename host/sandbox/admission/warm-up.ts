// Runs the examination once before it is needed: the first one in a process takes ten times as long as the next ones, because V8 has not compiled the
// code and the ABI's types are not interned. The component is not one of the node: its author could take over a process that belongs to no
// component yet.

import { defaultLimits } from "../limits.ts";
import { examineComponent } from "./examine.ts";
import { warmUpComponent } from "./warm-up-component.ts";

/** Examines the component; answers whether it is admitted. */
export function warmUpExamination(): boolean {
  return examineComponent(Buffer.from(warmUpComponent, "base64"), defaultLimits).ok;
}

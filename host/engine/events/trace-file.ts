// The trace file of the configuration's `trace`: a line of JSON for each step.

import { appendLines } from "../../store/files/regular-file.ts";
import type { Subscriber } from "./call-events.ts";

/** Maximum bytes of the trace file. A longer file takes no more lines until the administrator rotates it. */
const maxBytes = 64 * 1024 * 1024;

/** The subscriber that writes the file. `warn` receives the first failure to write. */
export function traceFile(path: string, date: () => Date, warn: (text: string) => void): Subscriber {
  let hasWarned = false;
  return {
    recordsSpans: true,
    receive(event) {
      if (event.what !== "step-ended") return;
      const { step, ms, outcome, span } = event;
      const line = {
        time: date().toISOString(),
        ...step,
        ms: Math.round(ms * 1000) / 1000,
        ...(span === undefined
          ? {}
          : { traceId: span.context.traceId, spanId: span.context.spanId, parentSpanId: span.parentId }),
        ...(outcome.ok ? { ok: true } : { ok: false, code: outcome.fault.code, msg: outcome.fault.msg }),
      };
      try {
        appendLines(path, `${JSON.stringify(line)}\n`, { maxBytes, foreign: false, create: true });
      } catch (error) {
        // A failed trace is only a warning: the pod keeps its network.
        if (!hasWarned) warn(`trace file: ${error instanceof Error ? error.message : String(error)}; steps are missing in it`);
        hasWarned = true;
      }
    },
  };
}

// The chain traces that an administrator asks the daemon for: `/record` on the status socket.

import { type Page, plainText } from "../../host/telemetry/page-server.ts";
import type { ResidentContext, ResidentFeature, ResidentPart } from "../resident-part.ts";
import { RequestedTraces } from "./record/requested-traces.ts";
import { tracesIn } from "./record/trace-terms.ts";
import { readRecordingQuery } from "./rules/recording-request.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ sockets: [], make: async (init) => chainTracePart(init) }),
};

function chainTracePart({ stateDirectory, clock }: ResidentContext): ResidentPart {
  const traces = new RequestedTraces(tracesIn(stateDirectory), clock);
  return {
    recordCall: (call, _, clockOfCall) => {
      const terms = traces.terms(call);
      if (terms === undefined) return undefined;
      return import("./record/trace-recording.ts").then(({ TraceRecording }) => TraceRecording.begin(call, terms, clockOfCall));
    },
    pages: { "/record": (method, query) => recordPage(traces, method, query) },
  };
}

/** Begins, ends (`stop`) or shows the recording. */
function recordPage(traces: RequestedTraces, method: string, query: string): Page {
  const wanted = method !== "POST" ? undefined : query === "stop" ? query : readRecordingQuery(query);
  if (typeof wanted === "string" && wanted !== "stop") return { status: 400, type: plainText, body: `${wanted}\n` };
  const report = wanted === undefined ? traces.report() : wanted === "stop" ? traces.end() : traces.begin(wanted);
  return { status: 200, type: "application/json", body: `${JSON.stringify(report)}\n` };
}

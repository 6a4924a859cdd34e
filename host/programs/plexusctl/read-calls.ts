// The daemon's last calls.

import type { RecentCall } from "../../telemetry/recent-calls-document.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";
import { callsOf, unknownForm } from "./status-form.ts";

const timeoutMs = 5000;

/** The calls, or the reason why they are not known. Never rejects. */
export async function readCalls(
  socketPath: string,
): Promise<{ readonly value: readonly RecentCall[] } | { readonly why: string }> {
  const answer = await askDaemon({ socketPath, method: "GET", path: "/calls", timeoutMs });
  if ("why" in answer) return { why: answer.why.endsWith(" 404") ? "this daemon does not report its calls" : answer.why };
  const calls = callsOf(answer.body);
  return calls === undefined ? { why: unknownForm } : { value: calls };
}

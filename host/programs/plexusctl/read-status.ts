// The status of this node: from the daemon, or from the state directory if no daemon answers.

import { existsSync } from "node:fs";
import { NodeStateReader } from "../../node/state/node-state-reader.ts";
import type { StatusDocument } from "../../telemetry/status-document.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";
import { systemClock } from "../../system/clock.ts";
import { statusOf, unknownForm } from "./status-form.ts";

/** The status, and whether the daemon gave it. */
export interface ReadStatus {
  readonly document: StatusDocument;
  /** The reason why no daemon answered; undefined if a daemon answered. */
  readonly silent: string | undefined;
}

/** Longest wait for a daemon's answer, in ms. */
const timeoutMs = 5000;

/** Reads the status; never rejects. */
export async function readStatus(statusSocket: string, stateDir: string): Promise<ReadStatus> {
  const asked = await ask(statusSocket);
  if (typeof asked !== "string") return { document: asked, silent: undefined };
  const node = await new NodeStateReader(stateDir).read();
  const problems = existsSync(stateDir)
    ? node.problems
    : [
        `${stateDir} does not exist: no pod was attached yet, or the host configuration has another cniDir (see --state-dir)`,
        ...node.problems,
      ];
  const time = systemClock.date().toISOString();
  return {
    document: { apiVersion: "plexus/v1", kind: "NodeStatus", time, daemon: null, nodes: [{ ...node, problems }], failures: [] },
    silent: asked,
  };
}

/** The status document, or the reason why there is none. */
async function ask(socketPath: string): Promise<StatusDocument | string> {
  const answer = await askDaemon({ socketPath, method: "GET", path: "/status", timeoutMs });
  return "why" in answer ? answer.why : (statusOf(answer.body) ?? unknownForm);
}

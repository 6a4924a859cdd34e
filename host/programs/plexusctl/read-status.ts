// The status of this node: from the daemon, or, where none answers, from the disk.

import { existsSync } from "node:fs";
import { NodeStateReader } from "../node-state/node-state-reader.ts";
import type { StatusDocument } from "../telemetry/status-document.ts";
import { askDaemon } from "./ask-daemon.ts";
import { notOurs, statusOf } from "./status-form.ts";

export interface ReadStatusInit {
  readonly statusSocket: string;
  readonly stateDir: string;
}

export interface ReadStatus {
  readonly document: StatusDocument;
  /** Why no daemon answered; undefined where one did. */
  readonly silent: string | undefined;
}

/** How long a daemon may take to answer. */
const patienceMs = 5000;

export async function readStatus({ statusSocket, stateDir }: ReadStatusInit): Promise<ReadStatus> {
  const asked = await ask(statusSocket);
  if (typeof asked !== "string") return { document: asked, silent: undefined };
  const node = await new NodeStateReader(stateDir).read();
  const problems = existsSync(stateDir)
    ? node.problems
    : [
        `there is no ${stateDir}: no pod was attached yet, or --state-dir (cniDir of the host configuration) is another`,
        ...node.problems,
      ];
  const time = new Date().toISOString();
  return {
    document: { apiVersion: "plexus/v1", kind: "NodeStatus", time, daemon: null, nodes: [{ ...node, problems }], failures: [] },
    silent: asked,
  };
}

/** The document, or why there is none. */
async function ask(socketPath: string): Promise<StatusDocument | string> {
  const answer = await askDaemon({ socketPath, method: "GET", path: "/status", patienceMs });
  return "why" in answer ? answer.why : (statusOf(answer.body) ?? notOurs);
}

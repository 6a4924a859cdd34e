// Policy and events of the API server's audit log.

import { closeSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface AuditEvent {
  readonly user: string;
  /** The program's User-Agent. */
  readonly agent: string;
  readonly verb: string;
  /** `pods`, `pods/status`, `network-attachment-definitions`, or the request's URI if it names no resource. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** The HTTP status. */
  readonly code: number;
  /** Whether RBAC allowed the request. */
  readonly allowed: boolean;
  /** The body of a request of Plexus; undefined for other users. */
  readonly requestObject: unknown;
}

/** Writes the audit policy: bodies for `user`, metadata for other users, no events for the server itself. */
export function auditPolicy(directory: string, user: string): string {
  const path = join(directory, "audit-policy.yaml");
  const rules = [
    { level: "RequestResponse", users: [user] },
    { level: "None", users: ["system:apiserver"] },
    { level: "Metadata" },
  ];
  const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", omitStages: ["RequestReceived"], rules };
  writeFileSync(path, JSON.stringify(policy));
  return path;
}

/** The log's size in bytes. */
export const auditSize = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The events of the log from an offset in bytes, in order. An unfinished line is left out. */
export function readAudit(path: string, from = 0): readonly AuditEvent[] {
  const text = textFrom(path, from);
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter((line) => line !== "").map((line) => eventOf(JSON.parse(line)));
}

function textFrom(path: string, from: number): string {
  const size = auditSize(path);
  if (size <= from) return "";
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(size - from);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from)).toString();
  } finally {
    closeSync(file);
  }
}

function eventOf(value: unknown): AuditEvent {
  const reference = member(value, "objectRef");
  const subresource = textOf(member(reference, "subresource"));
  const resource = textOf(member(reference, "resource"));
  const decision = member(member(value, "annotations"), "authorization.k8s.io/decision");
  return {
    user: textOf(member(member(value, "user"), "username")),
    agent: textOf(member(value, "userAgent")),
    verb: textOf(member(value, "verb")),
    resource: resource === "" ? textOf(member(value, "requestURI")) : [resource, subresource].filter(Boolean).join("/"),
    namespace: textOf(member(reference, "namespace")),
    name: textOf(member(reference, "name")),
    code: Number(member(member(value, "responseStatus"), "code")),
    allowed: decision === "allow",
    requestObject: member(value, "requestObject"),
  };
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

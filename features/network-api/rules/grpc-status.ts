// The gRPC status of a fault, and its details (google.rpc.ErrorInfo).

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import type { Fault } from "../../../src/fault/fault.ts";

/** The status codes of gRPC that the service answers with. */
export const grpcCodes = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

const codes: Partial<Readonly<Record<FaultKind, keyof typeof grpcCodes>>> = {
  NETWORK_CONFIG_INVALID: "INVALID_ARGUMENT",
  ENVIRONMENT_INVALID: "INVALID_ARGUMENT",
  NETWORK_NAME_TAKEN: "ALREADY_EXISTS",
  NETWORK_OUTDATED: "FAILED_PRECONDITION",
  BOUND_EXCEEDED: "RESOURCE_EXHAUSTED",
  CONTAINER_UNKNOWN: "NOT_FOUND",
  STORE_FAILED: "UNAVAILABLE",
  SELECTION_INVALID: "INVALID_ARGUMENT",
  CAPABILITY_MISSING: "INVALID_ARGUMENT",
  NETWORK_NOT_FOUND: "NOT_FOUND",
  INTERFACE_NAME_TAKEN: "ALREADY_EXISTS",
  NETWORK_FORBIDDEN: "PERMISSION_DENIED",
  DEFINITION_FORBIDDEN: "PERMISSION_DENIED",
  HOT_PLUG_REFUSED: "FAILED_PRECONDITION",
  REQUEST_UNMET: "FAILED_PRECONDITION",
  HOT_PLUG_UNAVAILABLE: "UNAVAILABLE",
  CALL_BUSY: "UNAVAILABLE",
};

/** The status code of a fault; INTERNAL for kinds that no client causes. */
export function grpcCode(kind: FaultKind): number {
  return grpcCodes[codes[kind] ?? "INTERNAL"];
}

/** The ErrorInfo of a fault. */
export function errorInfo({ kind, code, details }: Fault): {
  readonly reason: FaultKind;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
} {
  return { reason: kind, domain: "plexus.dev", metadata: { cni_code: String(code), details: details ?? "" } };
}

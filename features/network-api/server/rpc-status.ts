// Faults as the trailers of gRPC, and back.

import type { Fault } from "../../../src/fault/fault.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { errorInfo, grpcCode } from "../rules/grpc-status.ts";
import { textOfHeader } from "../../../src/grpc/grpc-wire.ts";
import { codeTrailers } from "../../../host/node/grpc/rpc-trailers.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { errorInfoType, rpcErrorInfo, rpcStatus } from "./messages.ts";

/** A failed call as its client sees it. */
export interface RpcFailure {
  /** The status code of gRPC. */
  readonly code: number;
  readonly message: string;
  /** The fault's kind (docs/reference/errors.md); undefined if the server sent none. */
  readonly reason: string | undefined;
  /** The remedy; undefined if the server sent none. */
  readonly remedy: string | undefined;
}

const unknownCode = 2;
/** Maximum lengths in UTF-16 units: trailers are HTTP headers, which clients bound to 8 KiB. */
const maxMessage = 1024;
const maxDetails = 1024;

/** The trailers of a call that failed with this fault: its kind is the reason in google.rpc.ErrorInfo. */
export function faultTrailers(reason: Fault): Readonly<Record<string, string>> {
  const code = grpcCode(reason.kind);
  const message = inertLine(reason.msg, maxMessage);
  const info = errorInfo({ ...reason, details: inertLine(reason.details ?? "", maxDetails) });
  const details = [{ type_url: errorInfoType, value: rpcErrorInfo.encode(info) }];
  const status = Buffer.from(rpcStatus.encode({ code, message, details })).toString("base64");
  return { ...codeTrailers(code, message), "grpc-status-details-bin": status };
}

/** The failure in the trailers of an answer; undefined for a success. */
export function failureIn(trailers: Readonly<Record<string, unknown>>): RpcFailure | undefined {
  const code = trailers["grpc-status"] === undefined ? unknownCode : Number(trailers["grpc-status"]);
  if (code === 0) return undefined;
  const message = textOfHeader(String(trailers["grpc-message"] ?? "the server sent no status"));
  return { code, message, ...infoIn(trailers["grpc-status-details-bin"]) };
}

function infoIn(trailer: unknown): Pick<RpcFailure, "reason" | "remedy"> {
  try {
    const status = rpcStatus.decode(Buffer.from(String(trailer ?? ""), "base64"));
    const [detail]: readonly unknown[] = "details" in status && Array.isArray(status.details) ? status.details : [];
    const value = isJsonObject(detail) ? detail["value"] : undefined;
    const info: object = value instanceof Uint8Array ? rpcErrorInfo.decode(value) : {};
    const { reason, metadata } = { reason: undefined, metadata: undefined, ...info };
    return { reason: textOf(reason), remedy: textOf(isJsonObject(metadata) ? metadata["details"] : undefined) };
  } catch {
    // Another server may send other details.
    return { reason: undefined, remedy: undefined };
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

// The trailers with which a gRPC call ends.

import { headerText } from "../../../src/grpc/grpc-wire.ts";

/** The trailers of a call that succeeded. */
export const succeededTrailers: Readonly<Record<string, string>> = { "grpc-status": "0" };

/** The trailers of a call that failed with a status code of gRPC. */
export function codeTrailers(code: number, message: string): Readonly<Record<string, string>> {
  return { "grpc-status": String(code), "grpc-message": headerText(message) };
}

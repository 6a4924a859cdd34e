// Client of the kubelet's pod-resources service (k8s.io/kubelet/pkg/apis/podresources/v1), which lists each pod's allocated
// devices. One gRPC call over node:http2; a client library would cost more than the call.

import { connect } from "node:http2";
import type { Socket } from "node:net";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { AllocatedDevices } from "../../../src/npwg/device-id.ts";
import { quote } from "../../../src/json/quote.ts";
import { byteFields, text } from "./protobuf.ts";

/** Maximum size of the answer for a whole node, and its deadline. */
const maxBytes = 16 * 1024 * 1024;
const deadlineMs = 10_000;
const method = "/v1.PodResourcesLister/List";
/** An empty message, uncompressed: the five-byte gRPC prefix. */
const request = Buffer.alloc(5);

/** The devices of one pod, with containers in the kubelet's order. `connection`: to the service's socket, just opened. Fault KUBELET_UNREADABLE. */
export async function podResources(
  socket: string,
  connection: Socket,
  pod: { readonly namespace: string; readonly name: string },
): Promise<Result<readonly AllocatedDevices[]>> {
  const answer = await list(socket, connection);
  if (!answer.ok) return answer;
  const devices = devicesOf(answer.value, pod);
  return devices === undefined ? unreadable(socket, "its answer is malformed") : ok(devices);
}

function list(socket: string, connection: Socket): Promise<Result<Uint8Array>> {
  return new Promise((resolve) => {
    const session = connect("http://localhost", { createConnection: () => connection });
    const end = (result: Result<Uint8Array>): void => {
      clearTimeout(deadline);
      session.destroy();
      resolve(result);
    };
    const deadline = setTimeout(() => end(unreadable(socket, `no answer within ${deadlineMs} ms`)), deadlineMs);
    session.on("error", (error) => end(unreadable(socket, error.message)));
    const call = session.request({ ":method": "POST", ":path": method, "content-type": "application/grpc", te: "trailers" });
    const chunks: Buffer[] = [];
    let size = 0;
    let status: string | undefined;
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      const grpcStatus = headers["grpc-status"];
      if (grpcStatus !== undefined && grpcStatus !== "0")
        status = `gRPC status ${String(grpcStatus)}: ${grpcMessage(headers["grpc-message"])}`;
      else if (headers[":status"] !== undefined && headers[":status"] !== 200)
        status = `HTTP status ${String(headers[":status"])}`;
    };
    call.on("response", note);
    call.on("trailers", note);
    call.on("error", (error) => end(unreadable(socket, error.message)));
    call.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) end(unreadable(socket, `its answer has more than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    call.on("end", () => {
      const frame = Buffer.concat(chunks);
      if (status !== undefined) end(unreadable(socket, status));
      else if (frame.length < 5 || frame[0] !== 0 || frame.readUInt32BE(1) !== frame.length - 5) {
        end(unreadable(socket, "its answer is not one uncompressed message"));
      } else end(ok(frame.subarray(5)));
    });
    call.end(request);
  });
}

/** Undefined if a message is malformed. The numbers are the service's field numbers. */
function devicesOf(
  answer: Uint8Array,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly AllocatedDevices[] | undefined {
  const found: AllocatedDevices[] = [];
  for (const pod of byteFields(answer)?.get(1) ?? []) {
    const fields = byteFields(pod);
    if (fields === undefined) return undefined;
    if (text(fields.get(1)?.at(-1)) !== name || text(fields.get(2)?.at(-1)) !== namespace) continue;
    for (const container of fields.get(3) ?? []) {
      for (const devices of byteFields(container)?.get(2) ?? []) {
        const deviceFields = byteFields(devices);
        if (deviceFields === undefined) return undefined;
        found.push({ resourceName: text(deviceFields.get(1)?.at(-1)), deviceIds: (deviceFields.get(2) ?? []).map(text) });
      }
    }
  }
  return byteFields(answer) === undefined ? undefined : found;
}

/** Decodes gRPC's percent-encoded message. */
function grpcMessage(message: unknown): string {
  const encoded = typeof message === "string" ? message : "";
  try {
    return quote(decodeURIComponent(encoded), 200);
  } catch {
    return quote(encoded, 200);
  }
}

function unreadable(socket: string, why: string): Result<never> {
  return failed(fault("KUBELET_UNREADABLE", `the kubelet's pod-resources service at ${socket}: ${why}`));
}

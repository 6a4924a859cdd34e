// A client of the CRI Network API that a user could write: grpc-js with the .proto file, and nothing of Plexus.

import { join } from "node:path";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { loadSync, type MethodDefinition } from "@grpc/proto-loader";
import { root } from "../../../lab/compiled.ts";

const definitions = loadSync(join(root, "deploy/proto/network.proto"), {
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
});

/** A client with one connection. */
export interface RawClient {
  /** Answers the response; rejects with grpc-js' ServiceError. */
  call(name: string, request: object): Promise<Record<string, unknown>>;
  /** Collects a stream's answers into `into`; answers a function that cancels the stream. */
  stream(name: string, into: object[]): () => void;
  close(): void;
}

function methodOf(name: string): MethodDefinition<object, object> {
  for (const service of ["RuntimeService", "NetworkService"]) {
    const definition = definitions[`plexus.network.v1alpha1.${service}`];
    const method = definition === undefined || "format" in definition ? undefined : definition[name];
    if (method !== undefined) return method;
  }
  throw new Error(`network.proto has no ${name}`);
}

export function connectRaw(socket: string): RawClient {
  const client = new Client(`unix://${socket}`, credentials.createInsecure());
  return {
    call(name, request) {
      const { path, requestSerialize, responseDeserialize } = methodOf(name);
      return new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + 120_000 };
        client.makeUnaryRequest<object, object>(path, requestSerialize, responseDeserialize, request, options, (error, answer) =>
          error === null ? resolve({ ...answer }) : reject(error),
        );
      });
    },
    stream(name, into) {
      const { path, requestSerialize, responseDeserialize } = methodOf(name);
      const call = client.makeServerStreamRequest<object, object>(path, requestSerialize, responseDeserialize, {});
      call.on("data", (answer: object) => into.push(answer));
      call.on("error", (error: ServiceError) => into.push({ failed: error.code, details: error.details }));
      return () => call.cancel();
    },
    close: () => client.close(),
  };
}

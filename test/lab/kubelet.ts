// The kubelet's pod-resources service for tests: a real gRPC server on a unix socket.

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

export interface PodResources {
  readonly name: string;
  readonly namespace: string;
  readonly containers: readonly {
    readonly name: string;
    readonly cpuIds?: readonly number[];
    readonly devices: readonly {
      readonly resourceName: string;
      readonly deviceIds: readonly string[];
      readonly topology?: object;
    }[];
  }[];
}

export interface Kubelet {
  readonly socket: string;
  stop(): void;
}

/** Serves the answer of `pods` at `socket`. An error that `pods` throws becomes a gRPC status. */
export async function startKubelet(socket: string, pods: () => readonly PodResources[]): Promise<Kubelet> {
  mkdirSync(dirname(socket), { recursive: true });
  const definition = loadSync(join(import.meta.dirname, "pod-resources.proto"));
  const server = new Server({ "grpc.max_send_message_length": -1 });
  server.addService(definition["v1.PodResourcesLister"] as ServiceDefinition, {
    List(_: ServerUnaryCall<object, object>, answer: sendUnaryData<object>) {
      try {
        answer(null, { podResources: pods() });
      } catch (error) {
        answer({ code: 14, details: String(error) });
      }
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return { socket, stop: () => server.forceShutdown() };
}

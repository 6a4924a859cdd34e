// A client of gRPC's own library that plays the kubelet of a driver of dynamic resources.

import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

/** A claim as the kubelet names it. */
export interface NamedClaim {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The kubelet's side of a driver's socket. */
export interface KubeletClient {
  /** Calls a method of either service; rejects if the driver is gone. */
  readonly call: (method: string, request: object) => Promise<object>;
  readonly close: () => void;
}

const services = [
  ["plugin-registration.proto", "pluginregistration.Registration"],
  ["resource-driver.proto", "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"],
] as const;

/** Connects to the driver's socket. */
export function kubeletClient(socket: string): KubeletClient {
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  const methods = new Map(
    services.flatMap(([file, service]) =>
      Object.values(loadSync(join(import.meta.dirname, "../cluster", file))[service] as ServiceDefinition).map((each) => [
        each.path.split("/").at(-1) ?? "",
        each,
      ]),
    ),
  );
  return {
    call: (name, request) =>
      new Promise((resolve, reject) => {
        const method = methods.get(name);
        if (method === undefined) throw new Error(`no method ${name}`);
        const { path, requestSerialize, responseDeserialize } = method;
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, value) =>
          error === null ? resolve(value ?? {}) : reject(error),
        );
      }),
    close: () => client.close(),
  };
}

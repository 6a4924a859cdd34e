// A driver of dynamic resources on a node of a cluster, for tests: real gRPC servers, with which the node's kubelet prepares claims.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import { loadSync, type ServiceDefinition } from "@grpc/proto-loader";

import type { ClusterNode } from "./node.ts";

interface Claim {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

type ClaimsCall = ServerUnaryCall<{ readonly claims: readonly Claim[] }, object>;

export interface ResourceDriver {
  /** The claims that the kubelet has had prepared, as `namespace/name`. */
  readonly prepared: ReadonlySet<string>;
  stop(): void;
}

const kubelet = "/var/lib/kubelet";
const registrationMs = 60_000;

/** Registers the driver with the node's kubelet. A prepared claim gets no device file and no variable: a network's device needs none. */
export async function startResourceDriver(node: ClusterNode, name: string): Promise<ResourceDriver> {
  const prepared = new Set<string>();
  const registered = Promise.withResolvers<void>();
  const endpoint = `${kubelet}/plugins/${name}/dra.sock`;
  const service = new Server();
  service.addService(definition("resource-driver.proto", "k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin"), {
    NodePrepareResources({ request: { claims } }: ClaimsCall, answer: sendUnaryData<object>) {
      for (const claim of claims) prepared.add(`${claim.namespace}/${claim.name}`);
      answer(null, { claims: Object.fromEntries(claims.map(({ uid }) => [uid, { devices: [] }])) });
    },
    NodeUnprepareResources({ request: { claims } }: ClaimsCall, answer: sendUnaryData<object>) {
      for (const claim of claims) prepared.delete(`${claim.namespace}/${claim.name}`);
      answer(null, { claims: Object.fromEntries(claims.map(({ uid }) => [uid, {}])) });
    },
  });
  const registration = new Server();
  registration.addService(definition("plugin-registration.proto", "pluginregistration.Registration"), {
    GetInfo(_: ServerUnaryCall<object, object>, answer: sendUnaryData<object>) {
      answer(null, { type: "DRAPlugin", name, endpoint, supportedVersions: ["v1.DRAPlugin"] });
    },
    NotifyRegistrationStatus(
      { request }: ServerUnaryCall<{ readonly pluginRegistered: boolean; readonly error: string }, object>,
      answer: sendUnaryData<object>,
    ) {
      if (request.pluginRegistered) registered.resolve();
      else registered.reject(new Error(`the kubelet refused the driver ${name}: ${request.error}`));
      answer(null, {});
    },
  });
  const stop = (): void => {
    registration.forceShutdown();
    service.forceShutdown();
  };
  try {
    await listen(service, node.on(endpoint));
    // The kubelet finds this socket, which thus comes last.
    await listen(registration, node.on(`${kubelet}/plugins_registry/${name}-reg.sock`));
    const late = setTimeout(
      () => registered.reject(new Error(`the kubelet did not register the driver ${name}`)),
      registrationMs,
    );
    await registered.promise.finally(() => clearTimeout(late));
  } catch (error) {
    stop();
    throw error;
  }
  return { prepared, stop };
}

function definition(file: string, service: string): ServiceDefinition {
  return loadSync(join(import.meta.dirname, file))[service] as ServiceDefinition;
}

async function listen(server: Server, path: string): Promise<void> {
  mkdirSync(join(path, ".."), { recursive: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error)));
  });
}

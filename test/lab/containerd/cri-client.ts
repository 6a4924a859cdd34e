// A client of the Container Runtime Interface over a unix socket. cri.proto has the messages that the tests need.

import { join } from "node:path";

import { Client, credentials } from "@grpc/grpc-js";
import { loadSync, type PackageDefinition, type ServiceDefinition } from "@grpc/proto-loader";

import { root } from "../compiled.ts";

/** A pod as the kubelet describes it to the runtime. */
export interface SandboxConfig {
  readonly metadata: { readonly name: string; readonly uid: string; readonly namespace: string };
  readonly hostname?: string;
  /** `protocol`: 0 TCP, 1 UDP. */
  readonly portMappings?: readonly { readonly protocol: number; readonly containerPort: number; readonly hostPort: number }[];
  readonly annotations?: Readonly<Record<string, string>>;
  readonly linux?: { readonly cgroupParent: string };
}

/** A condition of the runtime, such as `RuntimeReady` or `NetworkReady`. */
export interface Condition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface SandboxStatus {
  readonly id: string;
  /** 0 ready, 1 not ready. */
  readonly state: number;
  readonly network: { readonly ip: string; readonly additionalIps: readonly { readonly ip: string }[] } | null;
}

/** A container as the kubelet describes it to the runtime. `CDIDevices`: names of devices of CDI specifications. */
export interface ContainerConfig {
  readonly metadata: { readonly name: string };
  readonly image: { readonly image: string };
  readonly CDIDevices?: readonly { readonly name: string }[];
}

interface Methods {
  Version: { request: object; answer: { readonly runtimeName: string; readonly runtimeVersion: string } };
  Status: {
    request: { readonly verbose: boolean };
    answer: { readonly status: { readonly conditions: readonly Condition[] }; readonly info: Readonly<Record<string, string>> };
  };
  RunPodSandbox: { request: { readonly config: SandboxConfig }; answer: { readonly podSandboxId: string } };
  StopPodSandbox: { request: { readonly podSandboxId: string }; answer: object };
  RemovePodSandbox: { request: { readonly podSandboxId: string }; answer: object };
  PodSandboxStatus: {
    request: { readonly podSandboxId: string; readonly verbose: boolean };
    answer: { readonly status: SandboxStatus; readonly info: Readonly<Record<string, string>> };
  };
  CreateContainer: {
    request: { readonly podSandboxId: string; readonly config: ContainerConfig; readonly sandboxConfig: SandboxConfig };
    answer: { readonly containerId: string };
  };
  StartContainer: { request: { readonly containerId: string }; answer: object };
  ContainerStatus: {
    request: { readonly containerId: string; readonly verbose: boolean };
    answer: { readonly info: Readonly<Record<string, string>> };
  };
  ListPodSandbox: { request: object; answer: { readonly items: readonly { readonly id: string; readonly state: number }[] } };
}

export interface CriClient {
  /** Makes one call. Throws grpc-js' ServiceError, whose `details` has the runtime's message. */
  call<Name extends keyof Methods>(name: Name, request: Methods[Name]["request"]): Promise<Methods[Name]["answer"]>;
  close(): void;
}

/** Longer than any call takes on a busy machine. The kubelet's timeout for a sandbox is 4 minutes. */
const deadlineMs = 120_000;

export function connectCri(socket: string): CriClient {
  const service = serviceOf(loadSync(join(root, "test/lab/containerd/cri.proto"), { longs: Number, defaults: true }));
  const client = new Client(`unix://${socket}`, credentials.createInsecure());
  return {
    call<Name extends keyof Methods>(name: Name, request: Methods[Name]["request"]): Promise<Methods[Name]["answer"]> {
      const method = service[name];
      if (method === undefined) throw new Error(`cri.proto has no ${name}`);
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest<object, Methods[Name]["answer"]>(
          method.path,
          method.requestSerialize,
          method.responseDeserialize,
          request,
          { deadline: Date.now() + deadlineMs },
          (error, answer) => {
            if (error === null && answer !== undefined) resolve(answer);
            else reject(error ?? new Error(`${name}: neither an answer nor an error`));
          },
        );
      });
    },
    close: () => client.close(),
  };
}

function serviceOf(definitions: PackageDefinition): ServiceDefinition {
  const service = definitions["runtime.v1.RuntimeService"];
  if (service === undefined || "format" in service) throw new Error("cri.proto has no service RuntimeService");
  return service;
}

// Networks as claims in the daemon: the driver's socket, the node's ResourceSlices, and the claims' statuses.

import { join, resolve } from "node:path";
import { ok } from "../../src/fault/result.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { maxSocketPath, type OptionValues, pathOf } from "../../host/node/command-line/option-values.ts";
import type { RpcServer } from "../../host/node/grpc/rpc-server.ts";
import type { ResidentFeature, ResidentInit, ResidentPart } from "../resident-part.ts";
import { driverName } from "./rules/names.ts";
import type { OfferedDevice } from "./rules/offered-devices.ts";
import type { ReachedNetworks } from "./slices/reached-networks.ts";

interface ClaimOptions {
  readonly socket: string;
  /** The file of the node's devices. */
  readonly devices: string;
  /** Whether PodNetworks name devices. */
  readonly podNetworks: boolean;
  readonly cdiDirectory: string | undefined;
}

/** The description. */
export const resident: ResidentFeature = {
  options: {
    "claims-devices": { type: "string" },
    "claims-kubelet-dir": { type: "string" },
    "claims-pod-networks": { type: "boolean" },
    "claims-cdi-dir": { type: "string" },
  },
  usage: `  --claims-devices FILE what this node offers to resource claims, as JSON
                        (none: the driver of resource claims is off)
  --claims-kubelet-dir PATH
                        the kubelet's directory plugins_registry
                        (/var/lib/kubelet/plugins_registry)
  --claims-pod-networks
                        PodNetworks name devices (spec.devices): needs the
                        right to list and watch podnetworks (off)
  --claims-cdi-dir PATH the runtime's directory of CDI specifications:
                        containers get the PCI addresses of exclusive devices
                        in their environment (none)
`,
  read: (values) => {
    const options = optionsOf(values);
    if (options === undefined) return undefined;
    const { socket, cdiDirectory } = options;
    const directories = cdiDirectory === undefined ? [] : [cdiDirectory];
    return { statusName: "claims", sockets: [socket], directories, make: (init) => claimsPart(options, init) };
  },
};

async function claimsPart(options: ClaimOptions, init: ResidentInit): Promise<ResidentPart> {
  const { nodeName, log, clock } = init;
  if (nodeName === undefined) {
    log("warn", "claims: the driver is off: the node's name in the Kubernetes API is not known (--node-name)");
    return { sentence: "off: the node's name is not known" };
  }
  const { ApiObjects: Objects } = await import("../../host/cluster/kube/api-objects.ts");
  const { NodeDevices } = await import("./slices/node-devices.ts");
  const { SlicePublisher } = await import("./slices/publish-slices.ts");
  const { ClaimStore } = await import("./node/claim-store.ts");
  const { DeviceFiles } = await import("./driver/device-files.ts");
  const { sweepClaims } = await import("./node/sweep-claims.ts");
  const { Journal } = await import("../../host/store/journal/journal.ts");
  const { ClaimReports } = await import("./status/report-claims.ts");
  let known: ApiObjects | undefined;
  const api = async (): Promise<ApiObjects | undefined> => {
    const source = known === undefined ? await init.apiFromStart() : undefined;
    if (source !== undefined) known = new Objects({ ...source, requestMs: 10_000 });
    return known;
  };
  let networks: ReachedNetworks | undefined;
  const warn = (text: string): void => log("warn", text);
  const node = new NodeDevices(options.devices, warn, () => networks?.all ?? []);
  const isReady = (): boolean => !options.podNetworks || networks?.isListed === true;
  const store = new ClaimStore(init.stateDirectory);
  const files = new DeviceFiles(options.cdiDirectory);
  const journal = new Journal(init.stateDirectory);
  const publisher = new SlicePublisher({ nodeName, api, look: () => node.look(), isReady, log, now: clock.now });
  const reports = new ClaimReports(store, api, journal, clock, log);
  let server: RpcServer | undefined;
  let isRegistered = false;
  return {
    get sentence() {
      const failure = isReady() ? publisher.failure : "the PodNetworks are not listed yet";
      const state = failure === "" ? "" : `; the slices are not current: ${failure}`;
      return `${isRegistered ? "registered with the kubelet" : "waits for the kubelet"}; ${node.devices.length} devices${state}`;
    },
    listen: async () => {
      store.removeTemporary();
      const { serveDriver } = await import("./driver/driver-server.ts");
      const served = await serveDriver({
        nodeName,
        api,
        store,
        files,
        device: (name) => {
          const isNamed = (each: OfferedDevice): boolean => each.name === name;
          // A link may have come since the last look, which reads sysfs for each link of the node.
          return node.devices.find(isNamed) ?? node.look().find(isNamed);
        },
        socket: options.socket,
        uids: init.uids,
        clock,
        log,
        onRegistered: () => {
          isRegistered = true;
          publisher.renew();
        },
      });
      if (!served.ok) return served;
      server = served.value;
      return ok(undefined);
    },
    start: async () => {
      if (options.podNetworks) {
        const { ReachedNetworks: Networks } = await import("./slices/reached-networks.ts");
        const access = await init.apiFromStart();
        if (access !== undefined) networks = new Networks({ ...access, warn }, () => void publisher.round());
      }
      publisher.start();
      await reports.start();
      const objects = await api();
      const swept = objects && (await sweepClaims({ store, files, journal, api: objects }));
      if (swept?.ok === false) warn(`claims: the sweep of prepared claims: ${swept.fault.msg}`);
      if (swept?.ok === true && swept.value > 0)
        log("info", `claims: removed ${swept.value} prepared claims that the API does not have`);
    },
    stop: async () => {
      publisher.stop();
      networks?.stop();
      reports.stop();
    },
    close: () => server?.close(),
    linksSeen: ({ stateDirectory, key, faults }) => {
      if (resolve(stateDirectory) === resolve(init.stateDirectory)) reports.noteLinks(key, faults);
    },
    noteCall: (configuration, environment, reply) => {
      if (configuration.claims) reports.noteCall(configuration, environment, reply);
    },
  };
}

function optionsOf(values: OptionValues): ClaimOptions | undefined {
  const devices = values["claims-devices"];
  const directory = values["claims-kubelet-dir"];
  if (typeof devices !== "string") {
    if (directory !== undefined) throw new Error("--claims-kubelet-dir needs --claims-devices");
    if (values["claims-cdi-dir"] !== undefined) throw new Error("--claims-cdi-dir needs --claims-devices");
    if (values["claims-pod-networks"] === true) throw new Error("--claims-pod-networks needs --claims-devices");
    return undefined;
  }
  const registry = typeof directory === "string" ? directory : "/var/lib/kubelet/plugins_registry";
  const cdi = values["claims-cdi-dir"];
  return {
    cdiDirectory: typeof cdi === "string" ? pathOf("claims-cdi-dir", cdi, 4095) : undefined,
    podNetworks: values["claims-pod-networks"] === true,
    devices: pathOf("claims-devices", devices, 4095),
    socket: join(
      pathOf("claims-kubelet-dir", registry, maxSocketPath - driverName.length - "/-reg.sock".length),
      `${driverName}-reg.sock`,
    ),
  };
}

// Networks as claims in the daemon: the options of the driver, and the daemon's events that the driver follows.

import { join, resolve } from "node:path";
import { maxSocketPath, type OptionValues, pathOf } from "../../host/node/command-line/option-values.ts";
import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";
import type { ClaimOptions } from "./driver/claim-driver.ts";
import { driverName } from "./rules/names.ts";

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
    return { statusName: "claims", sockets: [socket], directories, make: (context) => claimsPart(options, context) };
  },
};

async function claimsPart(options: ClaimOptions, context: ResidentContext): Promise<ResidentPart> {
  const { nodeName, log } = context;
  if (nodeName === undefined) {
    log("warn", "claims: the driver is off: the node's name in the Kubernetes API is not known (--node-name)");
    return { sentence: "off: the node's name is not known" };
  }
  const { ClaimDriver } = await import("./driver/claim-driver.ts");
  const driver = new ClaimDriver(options, { ...context, nodeName });
  return {
    get sentence() {
      return driver.sentence;
    },
    listen: () => driver.listen(),
    start: () => driver.start(),
    stop: async () => driver.stop(),
    close: () => driver.close(),
    linksSeen: ({ stateDirectory, key, faults }) => {
      if (resolve(stateDirectory) === resolve(context.stateDirectory)) driver.reports.noteLinks(key, faults);
    },
    noteCall: (configuration, environment, reply) => {
      if (configuration.claims) driver.reports.noteCall(configuration, environment, reply);
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

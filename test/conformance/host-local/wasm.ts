// The delegate as the brain serves it: admitted, in the sandbox's in-process runner, on the disk backend.

import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { runDelegateStep, type DelegateHost } from "../../../host/brain/delegate-step.ts";
import { answerAsPlugin } from "../../../host/brain/nested-call.ts";
import { runSync, type LeaseAnswer, type LeaseEffect } from "../../../host/leases/effect.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { ok } from "../../../src/fault/result.ts";
import { answerOf, type Ipam } from "./calls.ts";

const delegate = fileURLToPath(new URL("../../../delegates/ipam-host-local", import.meta.url));
const outFile = fileURLToPath(new URL("../../../dist/delegates/ipam-host-local.wasm", import.meta.url));

export interface WasmInit {
  /** Directories that a configuration may name; the first one is used where it names none. */
  readonly directories: readonly string[];
  readonly resolverFiles?: readonly string[];
  /** Does the lock effects. Nothing by default: then nothing else may run on the directory at the same time. */
  readonly perform?: (effect: LeaseEffect) => LeaseAnswer;
}

/** The delegate, built from its sources. */
export async function wasm({ directories, resolverFiles = [], perform = () => ({ errno: 0 }) }: WasmInit): Promise<Ipam> {
  const { bytes } = await buildDelegate({ dir: delegate, outFile });
  const sandbox = { admission: new Admission(), runner: new InProcessRunner() };
  const host: DelegateHost = {
    sandbox: async () => sandbox,
    read: async () => ok(bytes),
    lease: (operation) => runSync(operation, perform),
    log: () => {},
  };
  const grants = { "ipam-host-local": { log: {}, leases: { directories }, resolver: { files: resolverFiles } } };
  const configuration = { wasm: { prefer: true, isolation: "in-process", limits: {}, grants } } as const;
  return {
    name: "wasm",
    async call({ verb, containerId, ifname, args, stdin }) {
      const environment = new Map([
        ["CNI_COMMAND", verb],
        ["CNI_CONTAINERID", containerId],
        ["CNI_NETNS", "/var/run/netns/none"],
        ["CNI_IFNAME", ifname],
        ["CNI_ARGS", args],
        ["CNI_PATH", "/opt/cni/bin"],
      ]);
      const request = { name: "ipam-host-local", environment, stdin: Buffer.from(stdin) };
      const { status, stdout } = await answerAsPlugin(
        request,
        () => (step) => runDelegateStep(host, configuration, step, outFile),
      );
      return answerOf(verb, { status, stdout: Buffer.from(stdout).toString("utf8") });
    },
  };
}

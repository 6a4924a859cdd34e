// The cases of the reference macvlan's tests, in old and new versions, with the master on the node (configured or by
// default) and in the pod.

import { expect } from "vitest";
import type { Configuration } from "./side-by-side.ts";

export const macvlanNames = {
  /** The master on the node; the node's default route uses it. */
  parent: "wup0",
  /** The master in each pod; the pod's default route uses it. */
  podParent: "inpod0",
  namespaces: 4,
} as const;

export interface MacvlanDescribed {
  readonly title: string;
  readonly configurations: readonly Configuration[];
  readonly made: Readonly<Record<string, unknown>>;
  /** The number of the link's global addresses. */
  readonly has: number;
}

interface Title {
  readonly title: string;
  readonly step: (inPod: boolean, number: number) => Readonly<Record<string, unknown>>;
  readonly args?: string;
  readonly runtimeConfig?: object;
  readonly made?: Readonly<Record<string, unknown>>;
  readonly has: number;
}

const versions = ["0.2.0", "0.3.1", "1.1.0"];
/** The versions for steps without addresses: results before 0.3.0 contain only addresses. */
const versionsWithInterfaces = versions.slice(1);

const master = (inPod: boolean): string => (inPod ? macvlanNames.podParent : macvlanNames.parent);
const ipam = (number: number): object => ({ type: "ipam-host-local", subnet: `10.${100 + (number >> 8)}.${number & 255}.0/24` });

const titles: readonly Title[] = [
  {
    title: "creates an macvlan link in a non-default namespace",
    step: (inPod) => ({ master: master(inPod), mode: "bridge", mtu: 1500 }),
    has: 0,
  },
  {
    title: "configures and deconfigures a macvlan link with ADD/CHECK/DEL",
    step: (inPod, number) => ({ master: master(inPod), ipam: ipam(number) }),
    has: 1,
  },
  {
    title: "configures and deconfigures a l2 macvlan link with ADD/DEL",
    step: (inPod) => ({ master: master(inPod), ipam: {} }),
    has: 0,
  },
  {
    title: "configures and deconfigures a macvlan link with ADD/DEL, without master config",
    step: (_, number) => ({ ipam: ipam(number) }),
    has: 1,
  },
  {
    title: "configures and deconfigures l2 macvlan link with mac address (from CNI_ARGS) with ADD/DEL",
    step: (inPod) => ({ master: master(inPod) }),
    args: "IgnoreUnknown=true;MAC=c2:11:22:33:44:NN",
    made: { mac: expect.stringMatching(/^c2:11:22:33:44:/u) },
    has: 0,
  },
  {
    title: "configures and deconfigures l2 macvlan link with mac address (from RuntimeConfig) with ADD/DEL",
    step: (inPod) => ({ master: master(inPod), capabilities: { mac: true } }),
    runtimeConfig: { mac: "c2:11:22:33:55:NN" },
    made: { mac: expect.stringMatching(/^c2:11:22:33:55:/u) },
    has: 0,
  },
];

let made = 0;

export const macvlanDescribed: readonly MacvlanDescribed[] = titles.flatMap(
  ({ title, step, args, runtimeConfig, made: facts = {}, has }) =>
    [undefined, false, true].map((linkInContainer) => ({
      title: `${title}, linkInContainer ${linkInContainer ?? "absent"}, in old and new versions`,
      made: facts,
      has,
      configurations: (has === 0 ? versionsWithInterfaces : versions).map((cniVersion): Configuration => {
        const number = made++;
        const digits = number.toString(16).padStart(2, "0");
        return {
          name: `${title} ${linkInContainer ?? "absent"} ${cniVersion}`,
          cniVersion,
          ifname: `m${number}`,
          pod: number % macvlanNames.namespaces,
          step: { ...step(linkInContainer === true, number), ...(linkInContainer === undefined ? {} : { linkInContainer }) },
          ...(args === undefined ? {} : { args: args.replace("NN", digits) }),
          ...(runtimeConfig === undefined
            ? {}
            : { runtimeConfig: JSON.parse(JSON.stringify(runtimeConfig).replace("NN", digits)) }),
        };
      }),
    })),
);

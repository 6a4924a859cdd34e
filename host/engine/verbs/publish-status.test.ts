// The status annotation and the events of an ADD, with a cluster that records them.

import { beforeEach, describe, expect, test } from "vitest";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { profileNamed } from "../../../src/npwg/profile.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { Attached } from "../planned/attachment-plan.ts";
import { publishStatus } from "./publish-status.ts";

const pod: Pod = { namespace: "shop", name: "web", annotations: new Map() };
const profile = profileNamed("compat");
let published: unknown[] = [];
let events: string[] = [];
let answer: Result<void>;
beforeEach(() => {
  published = [];
  events = [];
  answer = ok(undefined);
});

const cluster: Pick<Cluster, "publishStatus" | "tell"> = {
  publishStatus: async (_, annotation) => {
    published.push(JSON.parse(annotation));
    return answer;
  },
  tell: (_, { reason, message }) => void events.push(`${reason}: ${message}`),
};

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

/** An attachment of the network `storage-net`. `selection`: the pod's selection. */
function attached(ifname: string, addresses: readonly string[], selection?: Partial<NetworkSelection>): Attached {
  const conflist = JSON.stringify({ cniVersion: "1.0.0", name: "storage-net", plugins: [{ type: "macvlan" }] });
  const ips = addresses.map((address) => ({ address, interface: 0 }));
  const interfaces = [{ name: ifname, sandbox: "/run/netns/a" }];
  const request = { name: "storage", namespace: "shop", extensions: new Map(), ...selection };
  return {
    plan: {
      source: selection === undefined ? "default" : "shop/storage",
      list: valueOf(parseNetworkList(conflist)),
      statusName: selection === undefined ? "pods" : "shop/storage",
      conflist,
      attachment: { containerId: "c1", ifname, netns: "/run/netns/a", args: "", capabilityArgs: new Map() },
      request: selection === undefined ? undefined : { selection: request, verification: new Set() },
    },
    result: valueOf(readResult(JSON.stringify({ cniVersion: "1.0.0", interfaces, ips }), "1.0.0")),
  };
}

const publish = (attachments: readonly Attached[]): Promise<Result<void>> =>
  publishStatus({ cluster: cluster as Cluster, pod, profile }, attachments, []);

describe("the status of a pod", () => {
  const web = [
    attached("eth0", ["10.0.0.2/24"]),
    attached("net1", ["10.1.0.2/24", "fd00::2/64"], { defaultRoute: ["10.1.0.1"] }),
  ];

  test("has each attachment in order, and the first one as the default", async () => {
    expect(await publish(web)).toEqual(ok(undefined));
    expect(published).toMatchObject([
      [
        { name: "pods", interface: "eth0", ips: ["10.0.0.2"], default: true },
        { name: "shop/storage", interface: "net1", ips: ["10.1.0.2", "fd00::2"], "default-route": ["10.1.0.1"] },
      ],
    ]);
    expect(published).not.toHaveProperty("0.1.default", true);
  });

  test("leaves out an attachment without a name for the status, whose event is sent all the same", async () => {
    const [first, second] = web;
    if (first === undefined || second === undefined) throw new Error("two attachments are needed");
    await publish([first, { ...second, plan: { ...second.plan, statusName: undefined } }]);
    expect(published).toMatchObject([[{ name: "pods" }]]);
    expect(events).toHaveLength(2);
  });

  test("an event for each attachment has Multus' text: a definition by namespace and name, else the list's name", async () => {
    await publish(web);
    expect(events).toEqual([
      "AddedInterface: Add eth0 [10.0.0.2/24] from storage-net",
      "AddedInterface: Add net1 [10.1.0.2/24 fd00::2/64] from shop/storage",
    ]);
  });

  test("a failure to publish is the answer, and sends no event", async () => {
    answer = failed(fault("API_UNREACHABLE", "the API server does not answer"));
    expect(await publish(web)).toEqual(answer);
    expect(events).toEqual([]);
  });

  test("nothing is published without a cluster or without a pod", async () => {
    expect(await publishStatus(undefined, web, [])).toEqual(ok(undefined));
    expect([published, events]).toEqual([[], []]);
  });
});

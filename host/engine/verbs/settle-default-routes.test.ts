// `default-route` in a whole ADD (NPWG 4.1.2.1.9): the requests to the kernel, and the routes in the results.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import type { DefaultRoute } from "../../system/netlink/route.ts";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { routeOfType, ScriptedRoutes } from "../testing/scripted-routes.ts";
import type { PluginScript } from "../testing/scripted-shim.ts";

const indexes: Readonly<Record<string, number>> = { lo: 1, eth0: 2, net1: 3 };
const viaEth0 = { family: 4, gateway: readAddress("10.0.0.1"), oif: 2, metric: 0 } as const;
const viaNet1 = { family: 4, gateway: readAddress("10.1.0.1"), oif: 3, metric: 0 } as const;
const EPERM = 1;

let stage: CallStage;
let kernel: ScriptedRoutes;
beforeEach(() => {
  stage = new CallStage();
  stage.shim.install("bridge", routed("10.0.0.2/24", "10.0.0.1"));
  stage.shim.install("macvlan", routed("10.1.0.2/24", "10.1.0.1"));
  stage.delegates = [{ name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] }];
  stage.config = { manifests: stage.manifests.directory };
  stage.manifests.network("storage", [{ type: "macvlan" }]);
  useRoutes([viaEth0]);
});
afterEach(() => stage.dispose());

function useRoutes(routes: readonly DefaultRoute[]): void {
  kernel = new ScriptedRoutes(routes);
  kernel.links.set(1, "lo");
  stage.shim.netlinkScript = (effect) => kernel.answer(effect);
}

/** A plugin that attaches one link with one address and a default route. */
function routed(address: string, gateway: string): PluginScript {
  return ({ verb, ifname, netns }) => {
    if (verb !== "ADD") return {};
    kernel.links.set(indexes[ifname] ?? 9, ifname);
    const interfaces = [{ name: ifname, sandbox: netns }];
    const ips = [{ address, interface: 0, gateway }];
    const routes = [{ dst: "0.0.0.0/0", gw: gateway }, { dst: "192.0.2.0/24" }];
    return { stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces, ips, routes }) };
  };
}

function add(...gateways: string[]): Promise<StagedAnswer> {
  stage.manifests.pod("web", [{ name: "storage", "default-route": gateways }]);
  return stage.call({ verb: "ADD", args: stage.manifests.argsOf("web") });
}

const codeOf = ({ json }: StagedAnswer): readonly unknown[] => [json["code"], json["msg"]];

describe("the routes of the pod's namespace", () => {
  test("the default route over the default network is deleted before the route over the attachment is added", async () => {
    const { status } = await add("10.1.0.1");
    expect(status).toBe(0);
    expect(kernel.changes).toEqual([
      "delete 0.0.0.0/0 via 10.0.0.1 dev eth0 metric 0",
      "add 0.0.0.0/0 via 10.1.0.1 dev net1 metric 0",
    ]);
  });

  test("an existing route is neither removed nor added", async () => {
    useRoutes([viaEth0, viaNet1]);
    await add("10.1.0.1");
    expect(kernel.changes).toEqual(["delete 0.0.0.0/0 via 10.0.0.1 dev eth0 metric 0"]);
  });

  test("gateways of one family get rising metrics", async () => {
    await add("10.1.0.1", "10.1.0.7");
    expect(kernel.routes).toEqual(["0.0.0.0/0 via 10.1.0.1 dev net1 metric 0", "0.0.0.0/0 via 10.1.0.7 dev net1 metric 1"]);
  });

  test("a gateway that an onlink route had stays onlink", async () => {
    useRoutes([viaEth0, { ...viaNet1, metric: 5, onlink: true }]);
    await add("10.1.0.1");
    expect(kernel.routes).toEqual(["0.0.0.0/0 via 10.1.0.1 dev net1 metric 0 onlink"]);
  });

  test("an unreachable route and the routes of the other family stay", async () => {
    const over6 = { family: 6, gateway: readAddress("fd00::1"), oif: 2, metric: 1024 } as const;
    useRoutes([over6]);
    kernel.addMessage(routeOfType(viaEth0, 7));
    await add("10.1.0.1");
    expect(kernel.changes).toEqual(["add 0.0.0.0/0 via 10.1.0.1 dev net1 metric 0"]);
  });

  test("without a default-route no route is read", async () => {
    stage.manifests.pod("web", [{ name: "storage" }]);
    const netlinkPaths: string[] = [];
    stage.shim.netlinkScript = (effect) => {
      netlinkPaths.push(effect.path);
      return kernel.answer(effect);
    };
    await stage.succeed({ verb: "ADD", args: stage.manifests.argsOf("web") });
    const { log } = await stage.succeed({ verb: "DEL", args: stage.manifests.argsOf("web") });
    expect(kernel.changes).toEqual([]);
    expect(log).toContain("DEL macvlan net1");
    // The ADD lists the namespace's links before and after its steps, and the DEL looks for those of the ADD.
    expect(netlinkPaths).toEqual(Array.from({ length: 3 }, () => "/run/netns/a"));
  });
});

describe("the results after the change of routes", () => {
  test("the runtime's result lacks the default route and the gateway, and keeps the other routes", async () => {
    const { json } = await add("10.1.0.1");
    expect(json["routes"]).toEqual([{ dst: "192.0.2.0/24" }]);
    expect(json["ips"]).toEqual([{ address: "10.0.0.2/24", interface: 0 }]);
  });

  test("journal and status have the attachment's own routes", async () => {
    await add("10.1.0.7");
    const results = stage.entry().flatMap(({ attached, result }) => (attached === 1 ? [JSON.parse(String(result))] : []));
    expect(results.at(-1).routes).toEqual([{ dst: "192.0.2.0/24" }, { dst: "0.0.0.0/0", gw: "10.1.0.7" }]);
    expect(stage.manifests.statusOf("web")).toMatchObject([{}, { name: "shop/storage", "default-route": ["10.1.0.7"] }]);
  });
});

describe("a failure undoes the attachments, and the fault names the attachment that asks for the route", () => {
  test.each([
    ["delete 0.0.0.0/0 via 10.0.0.1 dev eth0 metric 0", "EPERM"],
    ["add 0.0.0.0/0 via 10.1.0.1 dev net1 metric 0", "EPERM"],
  ])("%s refused with %s", async (line, errno) => {
    kernel.refuse = (change) => (change === line ? EPERM : 0);
    const answer = await add("10.1.0.1");
    expect(codeOf(answer)[1]).toMatch(new RegExp(`shop/storage.*net1.*default-route: .*${errno}`));
    expect(answer.log.slice(-4)).toContain("DEL bridge eth0");
    expect(stage.stateFiles()).toEqual([]);
  });

  test("an interface of the result that the pod does not have", async () => {
    const attach = routed("10.1.0.2/24", "10.1.0.1");
    stage.shim.on("macvlan", "ADD", (call) => {
      const end = attach(call);
      kernel.links.delete(3);
      return end;
    });
    const answer = await add("10.1.0.1");
    expect(codeOf(answer)[1]).toContain('default-route: the pod has no interface "net1", which the default route needs');
  });

  test.each([
    ["links", 18],
    ["routes", 26],
  ])("%s that cannot be listed", async (_, type) => {
    stage.shim.netlinkScript = (effect) =>
      effect.request[4] === type ? { kind: "done", errno: EPERM, sent: false, reply: new Uint8Array() } : kernel.answer(effect);
    const answer = await add("10.1.0.1");
    expect(answer.status).toBe(1);
    expect(codeOf(answer)[1]).toContain("EPERM");
    expect(kernel.changes).toEqual([]);
  });
});

import { expect, test } from "vitest";
import { readAddress, readCidr } from "../../../src/net/ip.ts";
import { type NetworkPod, targetQuestions, withForbidding } from "./judged-targets.ts";
import { outcomeText, type ProbedTarget, probeWarnings } from "./probe-report.ts";

const target = (outcome: ProbedTarget["outcome"], bytes: number, sides: readonly ("egress" | "ingress")[]): ProbedTarget => ({
  what: "pod shop/b",
  address: "10.0.0.3",
  outcome,
  bytes,
  forbidden: sides.map((side) => ({ side, pod: side === "egress" ? "shop/a" : "shop/b", policies: ["shop/one", "shop/two"] })),
});

const podOf = (name: string, ...addresses: readonly string[]): NetworkPod => ({
  pod: `shop/${name}`,
  netns: `/ns/${name}`,
  ifname: `net-${name}`,
  addresses: addresses.flatMap((each) => readCidr(each) ?? []),
});

test("PR-06: the policies that forbid a request stand in place of a lost answer, and beside one that came", () => {
  const ingress = "forbidden by shop/one, shop/two (ingress of shop/b)";
  expect(outcomeText(target("lost", 0, ["ingress"]))).toBe(`no answer: ${ingress}`);
  expect(outcomeText(target("lost", 0, ["egress", "ingress"]))).toBe(
    "no answer: forbidden by shop/one, shop/two (egress of shop/a) and shop/one, shop/two (ingress of shop/b)",
  );
  expect(outcomeText(target("no-neighbour", 0, ["ingress"]))).toBe(`no neighbour has answered for it; ${ingress}, too`);
  expect(outcomeText(target("answers", 1500, ["ingress"]))).toBe(`answers packets of 1500 bytes, although ${ingress}`);
  expect(probeWarnings({ targets: [target("lost", 0, ["ingress"]), target("answers", 1500, [])] })).toEqual([]);
  expect(probeWarnings({ targets: [target("answers", 1500, ["egress", "ingress"])], policyProblems: ["shop/b: away"] })).toEqual([
    expect.stringContaining("The pod's own packets are forbidden by shop/one, shop/two (egress of shop/a)"),
    expect.stringContaining(`although ${ingress}: the pod's table is missing or old`),
    "policies are not judged: shop/b: away",
  ]);
});

test("PR-06: the asking pod's egress is judged for each target that it has an address for, and the ingress of pods of this node", () => {
  const targets = ["10.0.0.1", "10.0.0.3", "fd00::3"].flatMap((each) => readAddress(each) ?? []);
  const questions = targetQuestions(
    { ...podOf("a", "10.0.0.2/24"), gateways: [] },
    [podOf("b", "10.0.0.3/24", "fd00::3/64")],
    targets,
  );
  expect(
    questions.map(({ target: address, side, pod: own, echo }) => [address, side, own.pod, echo.direction, echo.ifname]),
  ).toEqual([
    ["10.0.0.1", "egress", "shop/a", "out", "net-a"],
    ["10.0.0.3", "egress", "shop/a", "out", "net-a"],
    ["10.0.0.3", "ingress", "shop/b", "in", "net-b"],
  ]);
  const report = {
    apiVersion: "plexus/v1",
    kind: "NetworkProbe",
    pod: "shop/a",
    network: "shop/red",
    ifname: "net1",
    mtu: 1500,
  } as const;
  const probed = { ...report, targets: [{ what: "pod shop/b", address: "10.0.0.3", outcome: "lost", bytes: 0 } as const] };
  const found = questions.map((question) => ({ question, policies: question.side === "ingress" ? ["shop/one"] : [] }));
  expect(withForbidding(probed, found).targets[0]?.forbidden).toEqual([
    { side: "ingress", pod: "shop/b", policies: ["shop/one"] },
  ]);
});

test("PR-05: a Service without endpoints is told as such", () => {
  expect(outcomeText({ outcome: "no-endpoint", bytes: 0 })).toBe(
    "the Service has no endpoint on this network: connections are refused",
  );
});

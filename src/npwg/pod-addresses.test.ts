import { describe, expect, test } from "vitest";
import { formatAddress } from "../net/ip.ts";
import { interfaceNames, podAddresses } from "./pod-addresses.ts";

const definitions = "k8s.v1.cni.cncf.io/network-status";
const podNetworks = "plexus.dev/network-status";

/** Answers the text of an annotation with these values by key. */
function annotationsOf(values: Readonly<Record<string, unknown>>): (key: string) => string | undefined {
  return (key) => (key in values ? JSON.stringify(values[key]) : undefined);
}

/** The addresses by network of a pod with these annotations. */
function addresses(values: Readonly<Record<string, unknown>>): object {
  const found = podAddresses(annotationsOf(values));
  return Object.fromEntries([...found].map(([network, each]) => [network, each.map(formatAddress)]));
}

const status = {
  [definitions]: [
    { name: "cbr0", ips: ["10.244.0.2"], default: true },
    { name: "a/red", interface: "net1", ips: ["10.0.0.1/24", "fd00::1", "x", 5] },
    { name: "a/red", interface: "net2", ips: ["10.0.0.2"] },
    null,
    { name: "a/blue", interface: "net3" },
  ],
  [podNetworks]: [{ name: "blue", interfaceName: "net1", ips: ["10.0.0.1"] }],
};

/** Addresses of 10.0.THIRD.0/24. */
function many(count: number, third: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `10.0.${third}.${index}`);
}

/** The names of the network's interface, for a pod with these annotations. */
function namesOf(network: string, values: Readonly<Record<string, unknown>> = status): readonly string[] {
  return interfaceNames(annotationsOf(values), network);
}

describe("a pod's addresses", () => {
  test("come from its status, by definition and by PodNetwork", () => {
    expect(addresses(status)).toEqual({
      cbr0: ["10.244.0.2"],
      "a/red": ["10.0.0.1", "fd00::1", "10.0.0.2"],
      "podnetwork/blue": ["10.0.0.1", "fd00::1"],
    });
  });

  test("in a PodNetwork are those of its entry where no definition's entry has the interface", () => {
    const entries = [
      { name: "blue", interfaceName: "net7", ips: ["10.0.0.9"] },
      { name: "green", ips: ["10.0.1.9"] },
      { ips: ["10.0.2.9"] },
    ];
    expect(addresses({ ...status, [podNetworks]: entries })).toMatchObject({
      "podnetwork/blue": ["10.0.0.9"],
      "podnetwork/green": ["10.0.1.9"],
    });
    expect(Object.keys(addresses({ [podNetworks]: entries }))).toEqual(["podnetwork/blue", "podnetwork/green"]);
  });

  test("need a network with a name", () => {
    expect(
      addresses({ [definitions]: [{ name: "", ips: ["10.0.0.1"] }, { name: 5, ips: ["10.0.0.1"] }, { ips: ["10.0.0.1"] }] }),
    ).toEqual({});
    const unnamed = [{ interface: "net1", ips: ["10.0.0.1", "10.0.0.2"] }];
    expect(addresses({ [definitions]: unnamed, [podNetworks]: [{ name: "blue", interfaceName: "net1", ips: [] }] })).toEqual({
      "podnetwork/blue": ["10.0.0.1", "10.0.0.2"],
    });
  });

  test.each(["", "{", "5", "{}", "[[[", `[${"[".repeat(200)}`])("of an unreadable annotation are none: %j", (text) => {
    expect(podAddresses(() => text).size).toBe(0);
  });

  test("are at most 64 of an entry, and 64 entries count", () => {
    expect(podAddresses(annotationsOf({ [definitions]: [{ name: "a/red", ips: many(65, 0) }] })).get("a/red")).toHaveLength(64);
    const entries = Array.from({ length: 65 }, (_, index) => ({ name: `a/n${index}`, ips: ["10.0.0.1"] }));
    const names = [...podAddresses(annotationsOf({ [definitions]: entries })).keys()];
    expect([names.length, names.at(-1)]).toEqual([64, "a/n63"]);
  });

  test("are at most 100 of a network and 256 in all: a forged status takes no more memory", () => {
    const entries = ["red", "blue", "green"].flatMap((name, index) => [
      { name: `a/${name}`, ips: many(60, index) },
      { name: `a/${name}`, ips: many(60, index) },
    ]);
    const found = podAddresses(annotationsOf({ [definitions]: entries }));
    expect([...found].map(([network, each]) => [network, each.length])).toEqual([
      ["a/red", 100],
      ["a/blue", 100],
      ["a/green", 56],
    ]);
  });
});

describe("the names of an interface's network", () => {
  test("are definitions first, then PodNetworks, each once", () => {
    expect(namesOf("podnetwork/blue")).toEqual(["a/red", "podnetwork/blue"]);
    expect(namesOf("a/red")).toEqual(["a/red", "podnetwork/blue"]);
    const twice = [
      { name: "blue", interfaceName: "net1" },
      { name: "blue", interfaceName: "net2" },
      { name: "green", interfaceName: "net2" },
    ];
    expect(namesOf("a/red", { ...status, [podNetworks]: twice })).toEqual(["a/red", "podnetwork/blue", "podnetwork/green"]);
  });

  test("are the network alone where no other has its interface", () => {
    expect([namesOf("a/blue"), namesOf("a/none"), namesOf("podnetwork/none")]).toEqual([
      ["a/blue"],
      ["a/none"],
      ["podnetwork/none"],
    ]);
  });

  test("leave out entries without a name or an interface", () => {
    const values = {
      [definitions]: [
        { name: "", interface: "net1" },
        { name: 5, interface: "net1" },
        { name: "a/red", interface: "net1" },
        { name: "a/green" },
      ],
      [podNetworks]: [{ interfaceName: "net1" }, { name: "blue", interfaceName: 5 }],
    };
    expect([namesOf("a/red", values), namesOf("a/green", values)]).toEqual([["a/red"], ["a/green"]]);
  });
});

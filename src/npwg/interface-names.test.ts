import { array, assert, constantFrom, option, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { assignInterfaceNames, type NameRequest } from "./interface-names.ts";

function requests(...names: (string | undefined)[]): NameRequest[] {
  return names.map((name, index) => ({ name: `n${index}`, namespace: "ns", ...(name === undefined ? {} : { interface: name }) }));
}

function assigned(list: NameRequest[], present: string[] = []): readonly string[] {
  const result = assignInterfaceNames(list, "eth0", present);
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function refusal(list: NameRequest[], present: string[] = []): string {
  const result = assignInterfaceNames(list, "eth0", present);
  if (result.ok) throw new Error(`accepted: ${result.value.join()}`);
  expect(result.fault.kind).toBe("INTERFACE_NAME_TAKEN");
  return result.fault.msg;
}

describe("interface names", () => {
  test("N1-29: a selection gets its requested interface name", () => {
    expect(assigned(requests("data", "eth_0", "net.100"))).toEqual(["data", "eth_0", "net.100"]);
  });

  test("MA-07: unnamed selections are net1, net2, … by their place in the list", () => {
    expect(assigned(requests(undefined, undefined, undefined))).toEqual(["net1", "net2", "net3"]);
    expect(assigned(requests("data", undefined))).toEqual(["data", "net2"]);
  });

  test("N1-31: a name that an earlier selection has fails the later one", () => {
    expect(refusal(requests("data", "data"))).toContain(
      'element 1 of the selection) requests interface "data", which network ns/n0',
    );
  });

  test("N1-31: the default network's name, the loopback and existing links are refused", () => {
    expect(refusal(requests("eth0"))).toContain("the cluster's default network already has");
    expect(refusal(requests("lo"))).toContain("loopback");
    expect(refusal(requests("vf0"), ["vf0"])).toContain("already in the pod's network namespace");
  });

  test("N1-33: the same network twice gets two names", () => {
    const twice = [requests(undefined)[0], requests(undefined)[0]].filter((each) => each !== undefined);
    expect(assigned(twice)).toEqual(["net1", "net2"]);
  });

  test("N1-35: a generated name skips what was requested, before or after it", () => {
    expect(assigned(requests("net2", undefined, undefined))).toEqual(["net2", "net3", "net4"]);
    expect(assigned(requests(undefined, "net1"))).toEqual(["net2", "net1"]);
  });

  test("N1-35: a generated name skips existing links and the default network's name", () => {
    expect(assigned(requests(undefined, undefined), ["net1"])).toEqual(["net2", "net3"]);
    const result = assignInterfaceNames(requests(undefined), "net1");
    expect(result).toEqual({ ok: true, value: ["net2"] });
  });

  test("N1-34: the same selection always gets the same names", () => {
    const list = requests(undefined, "net3", undefined, "x", undefined);
    expect(assigned(list)).toEqual(assigned(list));
  });

  test("N1-35: for any requests, all names of a pod differ and requested names are kept", () => {
    const name = option(constantFrom("net1", "net2", "net3", "net4", "a", "b", "c"), { nil: undefined });
    assert(
      property(array(name, { maxLength: 12 }), (names) => {
        const result = assignInterfaceNames(requests(...names), "eth0", ["net5"]);
        const wanted = names.filter((each) => each !== undefined);
        expect(result.ok).toBe(new Set(wanted).size === wanted.length);
        if (!result.ok) return;
        const all = [...result.value, "eth0", "lo", "net5"];
        expect(new Set(all).size).toBe(all.length);
        expect(result.value.filter((_, index) => names[index] !== undefined)).toEqual(wanted);
      }),
    );
  });
});

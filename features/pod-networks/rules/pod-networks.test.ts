import { describe, expect, test } from "vitest";
import { readPodNetworks } from "./pod-networks.ts";

const ok = (text: string | undefined) => {
  const read = readPodNetworks(text);
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value;
};

function why(text: string): string {
  const read = readPodNetworks(text);
  return read.ok ? "accepted" : `${read.fault.kind}: ${read.fault.msg}`;
}

describe("a pod's networks", () => {
  test("KE-45: a pod without the annotation has the default PodNetwork", () => {
    expect(ok(undefined)).toMatchObject([{ kind: "PodNetwork", name: "default" }]);
  });

  test("KE-37: an element names a PodNetwork or an attachment, an interface, and the default gateways", () => {
    const text = JSON.stringify([
      { podNetworkName: "default", isDefaultGW4: true },
      { podNetworkAttachmentName: "fast", interfaceName: "data0", isDefaultGW6: true },
    ]);
    expect(ok(text)).toEqual([
      { kind: "PodNetwork", name: "default", interfaceName: undefined, isDefaultGw4: true, isDefaultGw6: false },
      { kind: "PodNetworkAttachment", name: "fast", interfaceName: "data0", isDefaultGw4: false, isDefaultGw6: true },
    ]);
  });

  test("KE-37: the last revision's isDefaultGW means both families", () => {
    expect(ok('[{"podNetworkName":"a","isDefaultGW":true}]')).toMatchObject([{ isDefaultGw4: true, isDefaultGw6: true }]);
  });

  test("KE-38: a PodNetwork comes at most once", () => {
    expect(why('[{"podNetworkName":"a"},{"podNetworkName":"a"}]')).toContain("element 1: PodNetwork a belongs to element 0");
  });

  test("KE-39: each family has at most one default gateway", () => {
    expect(why('[{"podNetworkName":"a","isDefaultGW4":true},{"podNetworkName":"b","isDefaultGW":true}]')).toContain(
      "the default gateway of IPv4 belongs to element 0",
    );
  });

  test("KE-40: interface names differ, and are names of Linux", () => {
    expect(why('[{"podNetworkName":"a","interfaceName":"x"},{"podNetworkName":"b","interfaceName":"x"}]')).toContain(
      "interfaceName x belongs to element 0",
    );
    expect(why('[{"podNetworkName":"a","interfaceName":"a/b"}]')).toContain("interfaceName: interface name contains /");
  });

  test("KE-42: an element has exactly one of the two names", () => {
    const expected = "exactly one of podNetworkName and podNetworkAttachmentName is needed";
    expect(why("[{}]")).toContain(expected);
    expect(why('[{"podNetworkName":"a","podNetworkAttachmentName":"b"}]')).toContain(expected);
  });

  test.each([
    ["[]", "is empty"],
    ["{}", "must be a JSON array"],
    ["[null]", "element 0"],
    ['["a"]', "element 0"],
    ['[{"podNetworkName":5}]', "the name must be a string"],
    ['[{"podNetworkName":"../x"}]', "is not a DNS-1123 subdomain"],
    ['[{"podNetworkName":"a","isDefaultGW4":"true"}]', "isDefaultGW4 must be true or false"],
    ['[{"podNetworkName":"a","ips":[]}]', 'unknown key "ips"'],
    [`[${Array.from({ length: 129 }, (_, index) => `{"podNetworkName":"n${index}"}`).join(",")}]`, "more than 128 networks"],
  ])("%s is refused with the reason", (text, reason) => {
    expect(why(text)).toContain("SELECTION_INVALID");
    expect(why(text)).toContain(reason);
  });
});

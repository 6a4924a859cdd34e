import { describe, expect, test } from "vitest";
import { parseDocument } from "../json/document.ts";
import { validAttachments } from "./valid-attachments.ts";

const key = "cni.dev/valid-attachments";

/** The list of a GC request with these members, or the fault's kind and message. */
function read(members: object): unknown {
  const document = parseDocument(JSON.stringify(members), { what: "the request" });
  if (!document.ok) throw new Error(document.fault.msg);
  const ids = validAttachments(document.value);
  return ids.ok ? ids.value : `${ids.fault.kind}: ${ids.fault.msg}`;
}

describe("the list of valid attachments", () => {
  test("has the container and the interface of each element, in order", () => {
    const list = [
      { containerID: "b", ifname: "eth0" },
      { containerID: "a", ifname: "net1", more: true },
    ];
    expect(read({ [key]: list })).toEqual([
      { containerId: "b", ifname: "eth0" },
      { containerId: "a", ifname: "net1" },
    ]);
  });

  test("is taken under its other name, cni.dev/attachments, and under its own name first", () => {
    const [own, other] = [[{ containerID: "own", ifname: "eth0" }], [{ containerID: "other", ifname: "eth0" }]];
    expect(read({ "cni.dev/attachments": other })).toEqual([{ containerId: "other", ifname: "eth0" }]);
    expect(read({ "cni.dev/attachments": other, [key]: own })).toEqual([{ containerId: "own", ifname: "eth0" }]);
    expect(read({ "cni.dev/attachments": other, [key]: null })).toEqual([{ containerId: "other", ifname: "eth0" }]);
  });

  test("is empty where libcni wrote a list of Go without an element", () => {
    expect(read({ [key]: null })).toEqual([]);
    expect(read({ "cni.dev/attachments": null })).toEqual([]);
    expect(read({ [key]: [] })).toEqual([]);
  });

  test.each([{}, { "cni.dev/other": [] }, { [key]: {} }, { [key]: "c1" }, { [key]: false }])(
    "L-43: is required: %j is refused, and does not count as an empty list",
    (members) => {
      expect(read(members)).toBe(`CONFIG_INVALID: GC needs ${key}: a list of {containerID, ifname}`);
    },
  );

  test.each([
    [null],
    ["c1"],
    [{}],
    [{ containerID: "c1" }],
    [{ ifname: "eth0" }],
    [{ containerID: "", ifname: "eth0" }],
    [{ containerID: "c1", ifname: "" }],
    [{ containerID: 1, ifname: "eth0" }],
    [{ containerID: "c1", ifname: 0 }],
  ])("with the element %j is refused, with the element's place", (element) => {
    const why = `${key}[1] must have a containerID and an ifname, both non-empty strings`;
    expect(read({ [key]: [{ containerID: "c0", ifname: "eth0" }, element] })).toBe(`CONFIG_INVALID: ${why}`);
  });
});

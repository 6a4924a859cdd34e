import { describe, expect, test } from "vitest";
import { attribute, Attributes, nested } from "./message.ts";
import { concat, u32At } from "./bytes.ts";
import { IFINFOMSG, ifinfomsg, RTM_NEWLINK } from "./link-attributes.ts";
import { vfMessages, vfSettingsIn, virtualFunctionsRequest } from "./virtual-function.ts";

/**
 * Linux 6.1 about an emulated igb with two functions, without the attributes that have no functions. The first function was set by ip(8): `mac
 * 02:11:22:33:44:55`, `vlan 7 qos 3`, `max_tx_rate 100`, `spoofchk off`, `trust on`.
 */
const recorded = [
  "0000010002000000431001000000000009000300657468300000000008001500020000008c011600c400010028000100000000000211223344550000",
  "00000000000000000000000000000000000000000000000024000d00ffffffffffff0000000000000000000000000000000000000000000000000000",
  "10000200000000000700000003000000100006000000000000000000640000000c00030000000000640000000c00040000000000000000000c000500",
  "00000000000000000c00070000000000ffffffff0c000900000000000100000018000c001400010000000000070000000300000081000000c4000100",
  "2800010001000000000000000000000000000000000000000000000000000000000000000000000024000d00ffffffffffff00000000000000000000",
  "0000000000000000000000000000000010000200010000000000000000000000100006000100000000000000000000000c0003000100000000000000",
  "0c00040001000000010000000c00050001000000000000000c00070001000000ffffffff0c000900010000000000000018000c001400010001000000",
  "000000000000000081000000",
].join("");
const message = { type: RTM_NEWLINK, body: new Uint8Array(Buffer.from(recorded, "hex")) };
const [list, info, none] = [22, 1, new Uint8Array(0)];

/** The kernel's message about a function with these attributes. */
function about(...attributes: readonly Uint8Array[]): { readonly type: number; readonly body: Uint8Array } {
  return { type: RTM_NEWLINK, body: concat([ifinfomsg(4), nested(list, [nested(info, attributes)])]) };
}
const mac = attribute(1, Uint8Array.of(1, 0, 0, 0, ...Array.from({ length: 32 }, () => 2)));

describe("virtual functions", () => {
  test("are read from an answer of the kernel", () => {
    expect(vfSettingsIn(message, 0)).toEqual({
      mac: "02:11:22:33:44:55",
      vlan: { id: 7, qos: 3, serviceTag: false },
      rate: { min: 0, max: 100 },
      spoofCheck: false,
      trust: true,
      linkState: "auto",
    });
    expect(vfSettingsIn(message, 1)).toMatchObject({ mac: "00:00:00:00:00:00", vlan: { id: 0 }, spoofCheck: true, trust: false });
    expect([vfSettingsIn(message, 2), vfSettingsIn({ ...message, type: 17 }, 0)]).toEqual([undefined, undefined]);
    expect(vfSettingsIn({ ...message, body: message.body.subarray(0, 40) }, 0)).toBeUndefined();
  });

  test("are requested with the filter that shows them", () => {
    const { body } = virtualFunctionsRequest(4);
    expect([u32At(body, 4), new Attributes(body, IFINFOMSG).u32(29)]).toEqual([4, 1 | 8]);
  });

  test("are set by one message for each setting, with the structures of linux/if_link.h", () => {
    const messages = vfMessages(4, 0, {
      mac: "02:11:22:33:44:55",
      vlan: { id: 7, qos: 3, serviceTag: false },
      rate: { min: 1, max: 100 },
      spoofCheck: false,
      trust: true,
      linkState: "disable",
    });
    const values = messages.map(({ request }) => {
      const [[type, value] = []] = new Attributes(request.body, IFINFOMSG).within(list).within(info).list();
      return [request.type, u32At(request.body, 4), type, Buffer.from(value ?? none).toString("hex")];
    });
    expect(values).toEqual([
      [19, 4, 2, "000000000700000003000000"],
      [19, 4, 4, "0000000000000000"],
      [19, 4, 1, `00000000021122334455${"00".repeat(26)}`],
      [19, 4, 9, "0000000001000000"],
      [19, 4, 6, "000000000100000064000000"],
      [19, 4, 5, "0000000002000000"],
    ]);
    expect(vfMessages(4, 0, {})).toEqual([]);
  });

  test("have a service tag in the list of VLANs, in network byte order", () => {
    const [sent] = vfMessages(4, 1, { vlan: { id: 100, qos: 0, serviceTag: true } });
    const vlan = new Attributes(sent?.request.body ?? none, IFINFOMSG).within(list).within(info).within(12).get(1) ?? none;
    expect(Buffer.from(vlan).toString("hex")).toBe("01000000640000000000000088a80000");
    const told = about(mac, attribute(2, vlan.subarray(0, 12)), nested(12, [attribute(1, vlan)]));
    expect(vfSettingsIn(told, 1)).toMatchObject({ vlan: { id: 100, qos: 0, serviceTag: true } });
  });

  test("whose driver does not tell a flag have none", () => {
    const unknown = attribute(4, Uint8Array.of(1, 0, 0, 0, 255, 255, 255, 255));
    expect(vfSettingsIn(about(mac, unknown), 1)).toMatchObject({ spoofCheck: undefined, trust: undefined });
  });
});

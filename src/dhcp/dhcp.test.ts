import { array, assert, boolean, constantFrom, property, record, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { clientDatagram, messageInDatagram } from "./datagram.ts";
import { termsOf } from "./lease-terms.ts";
import { encodeClientMessage, MESSAGE, OPTION, readServerMessage } from "./message.ts";

const mac = Uint8Array.of(2, 0, 0, 0, 0, 10);
const xid = Uint8Array.of(1, 2, 3, 4);
const hex = (digits: string): Uint8Array => Uint8Array.from(Buffer.from(digits.replaceAll(" ", ""), "hex"));

/** A server's message with the options' bytes, and bytes in the fields `sname` and `file`. */
function answer(options: string, { sname = "", file = "", address = "0a090007" } = {}): Uint8Array {
  const bytes = new Uint8Array(240 + options.replaceAll(" ", "").length / 2);
  bytes.set([2, 1, 6, 0, ...xid]);
  bytes.set(hex(address), 16);
  bytes.set(mac, 28);
  bytes.set(hex(sname), 44);
  bytes.set(hex(file), 108);
  bytes.set([99, 130, 83, 99], 236);
  bytes.set(hex(options), 240);
  return bytes;
}
const read = (...args: Parameters<typeof answer>) => {
  const message = readServerMessage(answer(...args));
  if (message === undefined) throw new Error("malformed");
  return message;
};
const ack = "35 01 05 36 04 0a090001 01 04 ffffff00 ";

test("a message has the header, its type first, its options, and 300 bytes at least", () => {
  const bytes = encodeClientMessage({
    type: MESSAGE.discover,
    xid,
    mac,
    clientAddress: new Uint8Array(4),
    broadcast: true,
    options: [{ number: OPTION.parameterList, value: Uint8Array.of(1, 3) }],
  });
  expect(bytes).toHaveLength(300);
  const text = Buffer.from(bytes).toString("hex");
  expect(text.slice(0, 24)).toBe("010106000102030400008000");
  expect(text.slice(56, 68)).toBe("02000000000a");
  expect(text.slice(472, 502)).toBe("6382536335010137020103ff000000");
});

const sum = (bytes: Uint8Array): number => {
  let total = 0;
  for (let at = 0; at < bytes.length; at += 2) total += ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0);
  while (total > 0xffff) total = (total & 0xffff) + (total >> 16);
  return total;
};

test("a datagram has valid checksums, and is read back", () => {
  const message = encodeClientMessage({ type: 3, xid, mac, clientAddress: hex("0a090007"), broadcast: false, options: [] });
  const packet = clientDatagram(hex("0a090007"), hex("0a090001"), message);
  expect(sum(packet.subarray(0, 20))).toBe(0xffff);
  const pseudo = Uint8Array.of(...packet.subarray(12, 20), 0, 17, (packet.length - 20) >> 8, (packet.length - 20) & 255);
  expect(sum(Uint8Array.of(...pseudo, ...packet.subarray(20)))).toBe(0xffff);
  expect(messageInDatagram(packet)).toEqual(message);
});

describe("the terms of an answer", () => {
  test("address, server, gateway, times, name resolution and MTU are those of the options", () => {
    const more =
      "03 08 0a0900fe 0a0900fd 33 04 00000e10 3a 04 00000708 3b 04 00000c4e 06 08 0a090001 08080808 0f 0c 73686f702e6578616d706c65 1a 02 0578 ff";
    expect(termsOf(read(ack + more))).toEqual({
      ok: true,
      value: {
        address: "10.9.0.7",
        prefix: 24,
        server: "10.9.0.1",
        gateway: "10.9.0.254",
        routes: [{ dst: "0.0.0.0/0", gateway: "10.9.0.254" }],
        nameservers: ["10.9.0.1", "8.8.8.8"],
        domain: "shop.example",
        mtu: 1400,
        renewSeconds: 1800,
        rebindSeconds: 3150,
        leaseSeconds: 3600,
      },
    });
  });

  test("without times the defaults of RFC 2131 count, and a lease has 10 s at least", () => {
    expect(termsOf(read(`${ack}ff`))).toMatchObject({ value: { renewSeconds: 1800, rebindSeconds: 3060, leaseSeconds: 3600 } });
    const wrong = termsOf(read(`${ack}33 04 00000000 3a 04 ffffffff 3b 04 ffffffff ff`));
    expect(wrong).toMatchObject({ value: { renewSeconds: 5, rebindSeconds: 8, leaseSeconds: 10 } });
    // A server would otherwise make the node renew, and write the record, every few seconds.
    const short = termsOf(read(`${ack}33 04 00000e10 3a 04 00000001 3b 04 00000001 ff`));
    expect(short).toMatchObject({ value: { renewSeconds: 1800, rebindSeconds: 3060, leaseSeconds: 3600 } });
  });

  test("static routes are classful; classless ones replace them and the router", () => {
    const fixed = "21 10 0a010000 0a0900fe c0a80700 0a0900fd 03 04 0a0900fe ";
    expect(termsOf(read(`${ack}${fixed}ff`))).toMatchObject({
      value: {
        routes: [
          { dst: "10.0.0.0/8", gateway: "10.9.0.254" },
          { dst: "192.168.7.0/24", gateway: "10.9.0.253" },
          { dst: "0.0.0.0/0", gateway: "10.9.0.254" },
        ],
      },
    });
    expect(termsOf(read(`${ack}${fixed}79 16 00 0a0900fe 18 0a0a0a 00000000 19 0a0b0b80 0a0900fe ff`))).toMatchObject({
      value: {
        gateway: "10.9.0.254",
        routes: [
          { dst: "0.0.0.0/0", gateway: "10.9.0.254" },
          { dst: "10.10.10.0/24", gateway: "0.0.0.0" },
          { dst: "10.11.11.128/25", gateway: "10.9.0.254" },
        ],
      },
    });
  });

  test("options in the fields of names, and an option in two parts, are read", () => {
    const message = read("34 01 03 35 01 05 36 04 0a090001 0f 03 73686f ff", { file: "01 04 ffffff00 ff", sname: "0f 01 70 ff" });
    expect(termsOf(message)).toMatchObject({ ok: true, value: { prefix: 24, domain: "shop" } });
  });

  test("without a mask, a server or an address there is no lease", () => {
    for (const [options, address] of [
      ["35 01 05 36 04 0a090001 ff", "0a090007"],
      ["35 01 05 36 04 0a090001 01 04 ff00ff00 ff", "0a090007"],
      ["35 01 05 01 04 ffffff00 ff", "0a090007"],
      [`${ack}ff`, "00000000"],
    ] as const)
      expect(termsOf(read(options, { address }))).toMatchObject({ ok: false, fault: { kind: "DHCP_FAILED" } });
  });
});

describe("a hostile server", () => {
  const bytes = uint8Array({ maxLength: 1500 });

  test("no bytes make the reader throw, or read beyond its bounds", () => {
    assert(
      property(bytes, boolean(), (random, isHeaded) => {
        const message = isHeaded ? Uint8Array.of(...answer(""), ...random) : random;
        const found = readServerMessage(message);
        if (found === undefined) return;
        for (const value of found.options.values()) expect(value.length).toBeLessThanOrEqual(1500);
        termsOf(found);
      }),
    );
    assert(property(bytes, (packet) => void messageInDatagram(packet)));
  });

  test("what its options say gives a usable lease or a fault", () => {
    const option = record({
      number: constantFrom(1, 3, 6, 15, 26, 33, 51, 52, 54, 58, 59, 121),
      value: uint8Array({ maxLength: 40 }),
    }).map(({ number, value }) => Uint8Array.of(number, value.length, ...value));
    assert(
      property(array(option, { maxLength: 20 }), (options) => {
        const message = readServerMessage(Uint8Array.of(...answer(ack), ...options.flatMap((each) => [...each]), 255));
        const terms = message === undefined ? undefined : termsOf(message);
        if (terms?.ok !== true) return;
        const { renewSeconds, rebindSeconds, leaseSeconds, routes, nameservers, domain = "" } = terms.value;
        expect(renewSeconds).toBeGreaterThan(0);
        expect([renewSeconds <= rebindSeconds, rebindSeconds <= leaseSeconds]).toEqual([true, true]);
        expect(routes.length).toBeLessThanOrEqual(65);
        for (const { dst, gateway } of routes) expect(`${dst} ${gateway}`).toMatch(/^[\d.]+\/\d+ [\d.]+$/);
        for (const each of nameservers) expect(each).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        expect(domain).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

// The DHCP client with a second server on the wire, which a real server cannot be made to play at the right moment. A real server: test/node/capabilities/dhcp.

import { describe, expect, test } from "vitest";
import { clientDatagram } from "../../../src/dhcp/datagram.ts";
import { MESSAGE, OPTION } from "../../../src/dhcp/message.ts";
import { packetBytes } from "../../protocol/network-fields.ts";
import type { PacketEffects } from "../../protocol/shim.ts";
import { acquireLease, renewLease } from "./client.ts";

const mac = Uint8Array.of(2, 0, 0, 0, 0, 10);
const link = { netns: "/run/netns/a", index: 2, mac };
const identity = { clientId: Uint8Array.of(0, 1), requested: [], provided: [] };
const own = [10, 9, 0, 1];
const other = [10, 9, 0, 99];
const held = { address: "10.9.0.7", server: own.join("."), serverMac: Uint8Array.of(2, 0, 0, 0, 0, 1) };

/** A server's packet. `server`: its identifier; undefined: none. */
function packet(type: number, server: readonly number[] | undefined, address: readonly number[] = [10, 9, 0, 7]): Uint8Array {
  const options = [
    [OPTION.messageType, 1, type],
    ...(server === undefined ? [] : [[OPTION.serverId, 4, ...server]]),
    [OPTION.subnetMask, 4, 255, 255, 255, 0],
    [255],
  ].flat();
  const message = new Uint8Array(240 + options.length);
  message.set([2, 1, 6]);
  message.set(address, 16);
  message.set(mac, 28);
  message.set([99, 130, 83, 99], 236);
  message.set(options, 240);
  const payload = clientDatagram(Uint8Array.from(server ?? other), Uint8Array.of(10, 9, 0, 7), message);
  return packetBytes([{ ethertype: 0x0800, destination: held.serverMac, payload }]);
}

const unused = (): never => {
  throw new Error("the client does not use it");
};

/** A shim whose effects answer with these packets in turn, and then with none. Each effect takes 100 ms. */
function wire(...replies: readonly Uint8Array[]): { readonly shim: PacketEffects; readonly clock: () => number } {
  const left = [...replies];
  let nowMs = 0;
  const ask: PacketEffects["ask"] = async () => {
    nowMs += 100;
    return { kind: "done", sent: true, errno: 0, reply: left.shift() ?? new Uint8Array() };
  };
  return { shim: { ask, netlink: unused, packet: unused }, clock: () => nowMs };
}

const renew = (rebinds: boolean, ...replies: readonly Uint8Array[]): ReturnType<typeof renewLease> => {
  const { shim, clock } = wire(...replies);
  return renewLease(link, identity, held, { rebinds, milliseconds: 2000 }, shim, clock);
};

describe("a renewal with its server", () => {
  test("passes over a NAK and an ACK of another server, and over one without an identifier", async () => {
    const strangers = [packet(MESSAGE.nak, other), packet(MESSAGE.ack, other, [10, 9, 0, 8]), packet(MESSAGE.nak, undefined)];
    expect(await renew(false, ...strangers, packet(MESSAGE.ack, own))).toMatchObject({
      ok: true,
      value: { terms: { address: "10.9.0.7", server: "10.9.0.1" } },
    });
    expect(await renew(false, ...strangers)).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("does not answer") },
    });
  });

  test("loses the address by a NAK of the server", async () => {
    expect(await renew(false, packet(MESSAGE.nak, own))).toMatchObject({ ok: false, lost: true });
  });
});

test("a rebinding takes the answer of any server, which is the lease's server from then on", async () => {
  expect(await renew(true, packet(MESSAGE.ack, other))).toMatchObject({ ok: true, value: { terms: { server: "10.9.0.99" } } });
  expect(await renew(true, packet(MESSAGE.nak, other))).toMatchObject({ ok: false, lost: true });
});

test("an offer is accepted from its server alone", async () => {
  const { shim, clock } = wire(
    packet(MESSAGE.offer, own),
    packet(MESSAGE.nak, other),
    packet(MESSAGE.ack, other, [10, 9, 0, 8]),
    packet(MESSAGE.ack, own),
  );
  expect(await acquireLease(link, identity, 2000, shim, clock)).toMatchObject({
    ok: true,
    value: { terms: { address: "10.9.0.7", server: "10.9.0.1" } },
  });
});

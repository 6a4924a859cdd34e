import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { addressAddition, addressRestoration, addressStateIn } from "./address.ts";
import { vlansIn } from "./bridge-port.ts";
import { linkIn } from "./link.ts";
import { acceptRa, inetSetting, linkStateIn } from "./link-state.ts";
import { neighbourStateIn } from "./neighbour.ts";
import { attribute, attributesIn, u32Attribute, decodeAnswers, encodeRequests } from "./message.ts";
import { concat, u16, u32, u16At, u32At } from "./bytes.ts";
import { defaultRouteAddition, listedRouteRemoval, routeRestoration, routeIn } from "./route.ts";

const bytes = (maxLength: number): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength });
const attributeTypes = fc.integer({ min: 0, max: 0x3fff });
const request = fc.record({
  type: fc.integer({ min: 16, max: 0xffff }),
  flags: fc.constantFrom(0, 0x300, 0x600),
  body: bytes(60),
  quiet: fc.boolean(),
});

/** A message from the kernel. */
function message(type: number, flags: number, sequence: number, body: Uint8Array): Uint8Array {
  const padding = new Uint8Array(-body.length & 3);
  return concat([u32(16 + body.length), u16(type), u16(flags), u32(sequence), u32(0), body, padding]);
}

describe("attributes", () => {
  test("decode to the encoded values, without the flags of their types", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(attributeTypes, bytes(40)), { selector: ([type]) => type }), (all) => {
        const written = concat(all.map(([type, value], index) => attribute(index % 2 === 0 ? type : type | 0x8000, value)));
        expect(written.length % 4).toBe(0);
        expect([...attributesIn(written)]).toEqual(all);
      }),
    );
  });

  test("in random bytes lie within these", () => {
    fc.assert(
      fc.property(bytes(200), (any) => {
        for (const [, value] of attributesIn(any).list()) expect(value.length).toBeLessThanOrEqual(any.length - 4);
      }),
    );
  });
});

describe("answers", () => {
  test("are assigned to requests by their sequence numbers, in any order", () => {
    const answered = fc.record({ errno: fc.integer({ min: 0, max: 133 }), bodies: fc.array(bytes(20), { maxLength: 3 }) });
    fc.assert(
      fc.property(fc.array(answered, { maxLength: 5 }), fc.boolean(), (all, turned) => {
        const parts = all.map(({ errno, bodies }, index) =>
          concat([
            ...bodies.map((body) => message(16, 2, index + 1, body)),
            message(2, 0x100, index + 1, concat([u32(-errno), new Uint8Array(16)])),
          ]),
        );
        const answers = decodeAnswers(concat(turned ? parts.toReversed() : parts), all.length);
        const decoded = answers.map((answer) => ({ errno: answer?.errno, bodies: answer?.messages.map(({ body }) => body) }));
        expect(decoded).toEqual(all);
      }),
    );
  });

  test("have the kernel's error text and the refused attribute's offset, with or without a copy of the request", () => {
    const tail = concat([attribute(1, Buffer.from("Nexthop has invalid gateway\0")), u32Attribute(2, 28)]);
    const refusedRequest = message(24, 0x605, 1, new Uint8Array(13));
    for (const [flags, repeated] of [
      [0x300, refusedRequest.subarray(0, 16)],
      [0x200, refusedRequest],
    ] as const) {
      const [answer] = decodeAnswers(message(2, flags, 1, concat([u32(-101), repeated, tail])), 1);
      expect(answer).toMatchObject({ errno: 101, errorText: "Nexthop has invalid gateway", offset: 28 });
    }
  });

  test("of a dump end with its DONE message, which may have an error, and show an interruption", () => {
    const one = message(16, 2, 1, new Uint8Array(16));
    expect(decodeAnswers(concat([one, message(3, 2, 1, u32(0))]), 1)).toMatchObject([{ errno: 0, interrupted: false }]);
    expect(decodeAnswers(concat([one, message(3, 0x12, 1, u32(0))]), 1)).toMatchObject([{ errno: 0, interrupted: true }]);
    expect(decodeAnswers(message(3, 2, 1, u32(-16)), 1)).toMatchObject([{ errno: 16 }]);
    expect(decodeAnswers(one, 1)).toEqual([undefined]);
  });

  test("of random bytes never make the decoder throw", () => {
    fc.assert(
      fc.property(bytes(400), fc.integer({ min: 0, max: 3 }), (any, count) => {
        const answers = decodeAnswers(any, count);
        expect(answers).toHaveLength(count);
        const messages = [
          ...answers.flatMap((answer) => answer?.messages ?? []),
          { type: 16, body: any },
          { type: 24, body: any },
        ];
        for (const each of messages) {
          expect([linkIn(each)?.index ?? 0, routeIn(each)?.table ?? 0]).toEqual([expect.any(Number), expect.any(Number)]);
        }
      }),
    );
  });
});

test("links, addresses, neighbours and VLANs of random bytes never make the decoder throw", () => {
  const anyMessage = fc.record({ type: fc.constantFrom(16, 20, 28), body: fc.oneof(bytes(200), links(), addresses()) });
  fc.assert(
    fc.property(anyMessage, (random) => {
      expect(() => {
        const state = linkStateIn(random);
        if (state !== undefined) [acceptRa(state), inetSetting(state, 22)].toString();
        [addressStateIn(random), neighbourStateIn(random), vlansIn(random)].toString();
      }).not.toThrow();
    }),
    { numRuns: 500 },
  );
});

/** The fixed part of a link's message, and attributes of random bytes with the types that the decoder reads. */
function links(): fc.Arbitrary<Uint8Array> {
  const attributeOf = fc
    .tuple(fc.constantFrom(1, 3, 4, 5, 10, 18, 26, 37, 52), bytes(60))
    .map(([type, value]) => attribute(type, value));
  return fc.array(attributeOf, { maxLength: 6 }).map((all) => concat([new Uint8Array(16), ...all]));
}

function addresses(): fc.Arbitrary<Uint8Array> {
  const attributeOf = fc.tuple(fc.constantFrom(1, 2, 8), bytes(20)).map(([type, value]) => attribute(type, value));
  return fc
    .tuple(fc.constantFrom(2, 10, 7), fc.array(attributeOf, { maxLength: 4 }))
    .map(([family, all]) => concat([Uint8Array.of(family, 24, 0, 0, 1, 0, 0, 0), ...all]));
}

test("a removed address is restored with the attributes that define it, without its state", () => {
  const cidr = { address: { family: 4, value: 0x0a09_0002n }, prefix: 24 } as const;
  const added = addressAddition(7, cidr, false);
  const listed = concat([added.body, u32Attribute(8, 0x80 | 0x40 | 0x200)]);
  const state = addressStateIn({ type: 20, body: listed });
  expect(state).toMatchObject({ link: 7, cidr, tentative: true, dadFailed: false });
  if (state === undefined) throw new Error("no address");
  const again = addressStateIn({ type: 20, body: addressRestoration(state.raw).body });
  expect(again).toMatchObject({ link: 7, cidr, tentative: false });
});

test("requests have sequence numbers and padding, and ask for an acknowledgement unless they are quiet", () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 5 }), (requests) => {
      const written = encodeRequests(requests);
      let at = 0;
      for (const [index, { type, flags, body, quiet }] of requests.entries()) {
        expect([u32At(written, at), u16At(written, at + 4), u16At(written, at + 6), u32At(written, at + 8)]).toEqual([
          16 + body.length,
          type,
          flags | (quiet ? 1 : 5),
          index + 1,
        ]);
        expect(written.slice(at + 16, at + 16 + body.length)).toEqual(body);
        at += 16 + ((body.length + 3) & ~3);
      }
      expect(at).toBe(written.length);
    }),
  );
});

describe("a default route", () => {
  const address = fc
    .constantFrom(4, 6)
    .chain((family) =>
      fc
        .bigInt({ min: 0n, max: family === 4 ? 0xffff_ffffn : (1n << 128n) - 1n })
        .map((value): IpAddress => ({ family: family === 4 ? 4 : 6, value })),
    );
  const routes = fc.record({
    family: fc.constantFrom<4 | 6>(4, 6),
    gateway: fc.option(address, { nil: undefined }),
    oif: fc.option(fc.integer({ min: 1, max: 0x7fff_ffff }), { nil: undefined }),
    metric: fc.integer({ min: 0, max: 0xffff_ffff }),
    onlink: fc.boolean(),
  });

  test("decodes to the requested route, also from its removal and restoration", () => {
    fc.assert(
      fc.property(routes, (wanted) => {
        const { family, gateway, oif, metric, onlink } = wanted;
        const route = routeIn(defaultRouteAddition(wanted));
        const same = gateway?.family === family;
        const text = gateway === undefined ? undefined : formatAddress(gateway);
        expect(route).toMatchObject({ family, oif, metric, onlink, table: 254, dst: family === 4 ? "0.0.0.0/0" : "::/0" });
        expect([route?.gateway, route?.via]).toEqual(same ? [text, undefined] : [undefined, text]);
        if (route === undefined) throw new Error("no route");
        expect(routeIn({ ...listedRouteRemoval(route), type: 24 })).toEqual(route);
        expect(routeIn(routeRestoration(route))).toEqual(route);
      }),
    );
  });
});

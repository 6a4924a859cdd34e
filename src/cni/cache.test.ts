import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  cachedAttachments,
  type CachedAttachment,
  cachedResultText,
  cacheFileName,
  decodeCache,
  decodeCacheOf,
  encodeCache,
  mayBeEntryOf,
} from "./cache.ts";

const entry: CachedAttachment = {
  containerId: "c1",
  ifname: "eth0",
  network: "net",
  netns: "/run/netns/c1",
  config: '{"name":"net","é":1e400}',
  args: [["K", "v"]],
  capabilityArgs: new Map([["mac", '"m"']]),
  result: '{"cniVersion":"1.0.0","x":9007199254740993}',
};

function refusal(text: string): string {
  const decoded = decodeCache(text);
  return decoded.ok ? "accepted" : `${decoded.fault.code} ${decoded.fault.msg}`;
}

function changed(change: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...JSON.parse(encodeCache(entry)), ...change });
}

function file(
  each: CachedAttachment,
  name = `${each.network}-${each.containerId}-${each.ifname}`,
): { name: string; text: string } {
  return { name, text: encodeCache(each) };
}

describe("file names", () => {
  test("L-31: network, container and interface, joined", () => {
    expect(cacheFileName(entry)).toEqual({ ok: true, value: "net-c1-eth0" });
  });

  test.each([
    [{ network: "../x" }, 7],
    [{ network: "" }, 7],
    [{ containerId: "a/b" }, 4],
    [{ containerId: "" }, 3],
    [{ ifname: "../../x" }, 4],
    [{ ifname: ".." }, 4],
    [{ ifname: "a\0" }, 4],
    [{ containerId: "x".repeat(300) }, 5],
  ])("L-31, A-05: with %j there is no file name, code %d", (wrong, code) => {
    const name = cacheFileName({ ...entry, ...wrong });
    expect(!name.ok && name.fault.code).toBe(code);
  });
});

describe("an entry", () => {
  test("L-32: has the order and names of libcni's struct", () => {
    const config = Buffer.from(entry.config).toString("base64");
    expect(encodeCache(entry)).toBe(
      `{"kind":"cniCacheV1","containerId":"c1","config":"${config}","ifName":"eth0","networkName":"net","netns":"/run/netns/c1",` +
        '"cniArgs":[["K","v"]],"capabilityArgs":{"mac":"m"},"result":{"cniVersion":"1.0.0","x":9007199254740993}}',
    );
  });

  test("L-32: leaves out empty members", () => {
    const bare = { ...entry, netns: "", args: [], capabilityArgs: new Map<string, string>(), result: undefined };
    expect(Object.keys(JSON.parse(encodeCache(bare)))).toEqual(["kind", "containerId", "config", "ifName", "networkName"]);
    expect(decodeCache(encodeCache(bare))).toEqual({ ok: true, value: { ...bare, args: undefined } });
  });

  test("L-32: reads back unchanged", () => {
    const text = fc.string({ unit: "binary" }).filter((value) => value.isWellFormed());
    const name = fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/);
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    const any = fc.record({
      containerId: name,
      ifname: name,
      network: name,
      netns: text,
      config: text,
      args: fc.option(fc.array(fc.tuple(text, text), { minLength: 1 }), { nil: undefined }),
      capabilityArgs: fc.array(fc.tuple(fc.oneof(text, fc.constant("__proto__")), json)).map((pairs) => new Map(pairs)),
      result: fc.option(
        fc.dictionary(text, fc.jsonValue()).map((value) => JSON.stringify(value)),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(any, (written) => {
        expect(decodeCache(encodeCache(written))).toEqual({ ok: true, value: written });
      }),
    );
  });

  test("L-32: is read as Go's libcni writes it", () => {
    const go =
      '{"kind":"cniCacheV1","containerId":"c1","config":"eyJuYW1lIjoibmV0In0=","ifName":"eth0","networkName":"net",' +
      '"netns":"/run/netns/c1","cniArgs":[["IgnoreUnknown","1"],["K8S_POD_NAME","a\\u003cb"]],' +
      '"capabilityArgs":{"portMappings":[{"hostPort":8080}]},"result":{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]}}';
    expect(decodeCacheOf(entry, go)).toEqual({
      ok: true,
      value: {
        containerId: "c1",
        ifname: "eth0",
        network: "net",
        netns: "/run/netns/c1",
        config: '{"name":"net"}',
        args: [
          ["IgnoreUnknown", "1"],
          ["K8S_POD_NAME", "a<b"],
        ],
        capabilityArgs: new Map([["portMappings", '[{"hostPort":8080}]']]),
        result: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}]}',
      },
    });
  });

  test("L-35: uncached arguments differ from an empty list", () => {
    expect(decodeCache(changed({ cniArgs: null }))).toMatchObject({ ok: true, value: { args: undefined } });
    expect(decodeCache(changed({ cniArgs: [] }))).toMatchObject({ ok: true, value: { args: [] } });
    expect(decodeCache(changed({ capabilityArgs: null, result: null }))).toMatchObject({
      ok: true,
      value: { result: undefined },
    });
  });

  test.each([
    ["", "is empty"],
    ['{"kind":"cniCacheV1","containerId', "is not JSON"],
    ["{}", "has wrong kind: none"],
    [changed({ kind: "cniCacheV2" }), 'has wrong kind: "cniCacheV2"'],
    [changed({ kind: ["cniCacheV1"] }), "has wrong kind: none"],
    [changed({ containerId: "" }), "containerId, ifName and networkName must not be empty"],
    [changed({ ifName: null }), "containerId, ifName and networkName must not be empty"],
    [changed({ networkName: 5 }), "networkName must be a string"],
    [changed({ netns: {} }), "netns must be a string"],
    [changed({ config: "%%%" }), "config is not the base64 of UTF-8 text"],
    [changed({ config: "/w==" }), "config is not the base64 of UTF-8 text"],
    [changed({ cniArgs: {} }), "cniArgs must be a list of pairs of strings"],
    [changed({ cniArgs: [["a"]] }), "cniArgs must be a list of pairs of strings"],
    [changed({ cniArgs: [["a", 1]] }), "cniArgs must be a list of pairs of strings"],
    [changed({ cniArgs: ["ab"] }), "cniArgs must be a list of pairs of strings"],
    [changed({ capabilityArgs: [] }), "capabilityArgs and result must be objects"],
    [changed({ result: "x" }), "capabilityArgs and result must be objects"],
  ])("L-34, A-09: %j is not an entry", (text, message) => {
    expect(refusal(text)).toMatch(/^5 /);
    expect(refusal(text)).toContain(message);
  });

  test("L-37: the entry of another attachment with the same file name is refused", () => {
    const other = { ...entry, network: "a-b", containerId: "c" };
    const mine = { network: "a", containerId: "b-c", ifname: "eth0" };
    expect(cacheFileName(other)).toEqual(cacheFileName(mine));
    const decoded = decodeCacheOf(mine, encodeCache(other));
    expect(!decoded.ok && decoded.fault.msg).toContain('belongs to another attachment: network "a-b", container "c", "eth0"');
    expect(cachedResultText(mine, encodeCache(other))).toBeUndefined();
  });
});

describe("the cached result", () => {
  test("L-34: is the entry's", () => {
    expect(cachedResultText(entry, encodeCache(entry))).toBe(entry.result);
    expect(cachedResultText(entry, encodeCache({ ...entry, result: undefined }))).toBeUndefined();
  });

  test("L-34: is the file itself if it is older than cniCacheV1, or truncated", () => {
    const legacy = '{"cniVersion":"0.3.1","ips":[]}';
    expect(cachedResultText(entry, legacy)).toBe(legacy);
    expect(cachedResultText(entry, "{")).toBe("{");
  });
});

describe("the attachments of a directory", () => {
  test.each([
    ["net-c1-eth0", true],
    ["a-b-c1-net1", true],
    ["-c1-eth0", false],
    ["net-c1-", false],
    ["net-c12-eth0", false],
    ["c1-eth0", false],
    ["-c1-c1-x", true],
  ])("L-38: %s may be of container c1: %j", (name, expected) => {
    expect(mayBeEntryOf("c1", name)).toBe(expected);
  });

  test("L-38: are in the order of names, without broken files, other kinds and other containers", () => {
    const files = [
      file({ ...entry, network: "z" }),
      file({ ...entry, network: "a", ifname: "net1" }),
      { name: "m-c1-eth0", text: "{" },
      { name: "n-c1-eth0", text: '{"cniVersion":"0.3.1"}' },
      file({ ...entry, network: "b", containerId: "x" }, "b-c1-eth0"),
      file({ ...entry, network: "y", containerId: "c2" }),
    ];
    expect(cachedAttachments(files, "c1").map(({ network, ifname }) => `${network} ${ifname}`)).toEqual(["a net1", "z eth0"]);
    expect(cachedAttachments(files).map(({ network }) => network)).toEqual(["a", "b", "y", "z"]);
    expect(cachedAttachments([])).toEqual([]);
  });
});

describe("the definition that binds the network", () => {
  const definition = { namespace: "shop", name: "storage" };

  test("is kept in a member of Plexus' own, which no entry without a definition has", () => {
    const text = encodeCache({ ...entry, definition });
    expect(decodeCache(text)).toEqual({ ok: true, value: { ...entry, definition } });
    expect(encodeCache(entry)).not.toContain("plexusDefinition");
  });

  test.each([[null], ["shop/storage"], [{ namespace: "shop" }], [{ namespace: 1, name: "storage" }]])(
    "is ignored if it is %j",
    (plexusDefinition) => {
      const decoded = decodeCache(changed({ plexusDefinition }));
      expect([decoded.ok, decoded.ok && decoded.value.definition]).toEqual([true, undefined]);
    },
  );
});

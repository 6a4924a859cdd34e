import { describe, expect, test } from "vitest";
import type { ConfigFile } from "../cni/config-directory.ts";
import { findDirectoryNetwork, runsPlexus } from "./directory-network.ts";

const bridge = JSON.stringify({
  cniVersion: "1.0.0",
  name: "cbr0",
  plugins: [
    { type: "bridge", ipam: { type: "host-local" } },
    { type: "portmap", capabilities: { portMappings: true } },
    { type: "bandwidth", capabilities: { bandwidth: true, unused: false } },
  ],
});
const plexus = JSON.stringify({ cniVersion: "1.1.0", name: "plexus", plugins: [{ type: "plexus", clusterNetwork: "/x" }] });
const single = (name: string, more: object = {}): string =>
  JSON.stringify({ cniVersion: "1.0.0", name, type: "bridge", ...more });

interface Wanted {
  readonly pinned?: string;
  readonly plexusTypes?: readonly string[];
  readonly subdirectories?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Files = Readonly<Record<string, string | undefined>>;

function filesOf(path: string, named: Files): ConfigFile[] {
  return Object.entries(named).map(([name, text]) =>
    text === undefined ? { path: `${path}/${name}`, unreadable: "EACCES" } : { path: `${path}/${name}`, text },
  );
}

function find(
  files: Readonly<Record<string, string | undefined>>,
  { pinned, plexusTypes = [], subdirectories = {} }: Wanted = {},
) {
  return findDirectoryNetwork(
    {
      path: "/etc/cni/net.d",
      files: filesOf("/etc/cni/net.d", files),
      subdirectories: new Map(
        Object.entries(subdirectories).map(([name, named]) => [name, filesOf(`/etc/cni/net.d/${name}`, named)]),
      ),
    },
    { pinned, plexusTypes },
  );
}

function pathFound(...found: Parameters<typeof find>): string | undefined {
  const network = find(...found);
  return network.ok ? network.value.path.slice("/etc/cni/net.d/".length) : undefined;
}

describe("MO-21 the first network of the directory", () => {
  test("is the first by name, in one order for lists and single configurations", () => {
    expect(pathFound({ "20-b.conflist": bridge, "10-a.conf": single("a") })).toBe("10-a.conf");
    expect(pathFound({ "20-b.json": single("b"), "10-a.conflist": bridge })).toBe("10-a.conflist");
  });

  test("is chosen by the bytes of the names, as Go sorts them", () => {
    expect(pathFound({ "a.conflist": bridge, "Z.conflist": bridge })).toBe("Z.conflist");
    expect(pathFound({ "\u{ffee}.conflist": bridge, "\u{1f300}.conflist": bridge })).toBe("\u{ffee}.conflist");
  });

  test("has one of the three endings that runtimes read", () => {
    const others = {
      "05-a.conflist.bak": bridge,
      "06-README": "",
      "07-b.CONFLIST": bridge,
      "08-c.conf.uninstalled": single("c"),
    };
    expect(pathFound({ ...others, "10-a.conflist": bridge })).toBe("10-a.conflist");
    expect(pathFound(others)).toBeUndefined();
  });

  test("passes over broken and unreadable files, and names them", () => {
    const found = find({ "01-a.conflist": "{", "02-b.conf": undefined, "03-c.conflist": single("c"), "04-d.conflist": bridge });
    expect(found).toMatchObject({ ok: true, value: { path: "/etc/cni/net.d/04-d.conflist" } });
    expect(found.ok && found.value.passedOver).toEqual([
      expect.stringContaining("01-a.conflist is not JSON"),
      expect.stringContaining("02-b.conf: EACCES"),
      expect.stringContaining("03-c.conflist"),
    ]);
  });

  test("is not a file of Plexus, whatever its name", () => {
    expect(pathFound({ "00-plexus.conflist": plexus, "10-a.conflist": bridge })).toBe("10-a.conflist");
    expect(pathFound({ "00-z.conf": single("z", { type: "plexus" }), "10-a.conflist": bridge })).toBe("10-a.conflist");
  });

  test("tells the capabilities of its plugins, each once", () => {
    const found = find({ "10-a.conflist": bridge });
    expect(found.ok && found.value.capabilities).toEqual(["portMappings", "bandwidth"]);
  });

  test("may get its plugins from the list's subdirectory", () => {
    const empty = JSON.stringify({ cniVersion: "1.1.0", name: "cbr0" });
    expect(pathFound({ "10-a.conflist": empty })).toBeUndefined();
    expect(pathFound({ "10-a.conflist": empty }, { subdirectories: { cbr0: { "1.conf": single("cbr0") } } })).toBe(
      "10-a.conflist",
    );
  });

  test("is the pinned one, which must be usable", () => {
    const files = { "10-a.conflist": bridge, "20-b.conflist": bridge, "30-broken.conflist": "{" };
    expect(pathFound(files, { pinned: "20-b.conflist" })).toBe("20-b.conflist");
    for (const pinned of ["30-broken.conflist", "40-missing.conflist"])
      expect(find(files, { pinned })).toMatchObject({
        ok: false,
        fault: { kind: "NO_DEFAULT_NETWORK", msg: expect.stringContaining(pinned) },
      });
  });

  test("is missing in an empty directory", () => {
    expect(find({})).toMatchObject({
      ok: false,
      fault: { kind: "NO_DEFAULT_NETWORK", msg: expect.stringContaining("/etc/cni/net.d") },
    });
  });
});

const within = (plugin: object): string => JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins: [plugin] });

describe("MO-24 Plexus is never its own default network", () => {
  test.each([
    ["the type of Multus", within({ type: "multus" })],
    ["the type of Multus' daemon", within({ type: "multus-shim" })],
    ["a nested type", within({ type: "flannel", delegate: { type: "plexus" } })],
    ["an IPAM type", within({ type: "bridge", ipam: { type: "multus" } })],
    ["a type with a key in another case", within({ type: "flannel", delegate: { Type: "plexus" } })],
    [
      "a later plugin of the list",
      JSON.stringify({ cniVersion: "1.0.0", name: "n", plugins: [{ type: "bridge" }, { type: "plexus" }] }),
    ],
    ["an inline delegate", within({ type: "other", delegates: [{ plugins: [{ type: "multus" }] }] })],
  ])("not by %s", (_, text) => {
    expect(runsPlexus(text, [])).toBe(true);
    expect(pathFound({ "05-x.conflist": text, "10-a.conflist": bridge })).toBe("10-a.conflist");
    expect(find({ "05-x.conflist": text }, { pinned: "05-x.conflist" })).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("runs Plexus itself") },
    });
  });

  test("not by another link of the shim, nor by the template's own type", () => {
    const linked = within({ type: "meta" });
    expect(pathFound({ "05-x.conflist": linked })).toBe("05-x.conflist");
    expect(pathFound({ "05-x.conflist": linked }, { plexusTypes: ["meta"] })).toBeUndefined();
  });

  test("not by a plugin in the list's subdirectory", () => {
    const files = { "10-a.conflist": JSON.stringify({ cniVersion: "1.1.0", name: "n", plugins: [{ type: "bridge" }] }) };
    expect(pathFound(files, { subdirectories: { n: { "1.conf": single("n", { type: "plexus" }) } } })).toBeUndefined();
  });
});

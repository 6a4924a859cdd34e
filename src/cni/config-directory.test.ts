import { describe, expect, test } from "vitest";

import { appendSubdirectoryPlugins, type ConfigDirectory, type ConfigFile, filesWith, findNetwork } from "./config-directory.ts";
import { parseNetworkList } from "./network-list.ts";

function list(name: string, type: string, more = ""): string {
  return `{"name":"${name}","cniVersion":"1.0.0",${more}"plugins":[{"type":"${type}"}]}`;
}

function directory(files: Readonly<Record<string, string>>, subdirectories?: ConfigDirectory["subdirectories"]): ConfigDirectory {
  const all = Object.entries(files).map(([name, text]) => ({ path: `/etc/cni/net.d/${name}`, text }));
  return { path: "/etc/cni/net.d", files: all, ...(subdirectories === undefined ? {} : { subdirectories }) };
}

function found(from: ConfigDirectory, name: string, strict = false): unknown {
  const result = findNetwork(from, name, strict);
  if (!result.ok) return [result.fault.kind, result.fault.msg];
  const { list: loaded, path, warnings } = result.value;
  return [path.slice(15), loaded.plugins.map(({ type }) => type).join(), warnings.length];
}

const subdirectory = (text: string, name = "10-x.conf"): ReadonlyMap<string, readonly ConfigFile[]> =>
  new Map([["n", [{ path: `/etc/cni/net.d/n/${name}`, text }]]]);

describe("files", () => {
  test("L-23: the extension is matched exactly, and the order is that of the names' bytes", () => {
    const names = ["b.conf", "a.conflist", "a.conf", ".conf", "a.CONF", "conf", "a.conf.bak", "\ud83d\ude00.conf", "\uffee.conf"];
    const files = names.map((name) => ({ path: `/d.conf/${name}`, text: "" }));
    expect(filesWith([".conf"], files).map(({ path }) => path.slice(8))).toEqual([
      ".conf",
      "a.conf",
      "b.conf",
      "\uffee.conf",
      "\ud83d\ude00.conf",
    ]);
  });
});

describe("finding a network", () => {
  test("L-24: the first list with the name wins, before any single configuration", () => {
    const from = directory({
      "20-b.conflist": list("n", "second"),
      "10-a.conflist": list("n", "first"),
      "00-c.conf": '{"name":"n","type":"single"}',
    });
    expect(found(from, "n")).toEqual(["10-a.conflist", "first", 0]);
  });

  test("L-24: .conf and .json are single configurations, read as lists of one", () => {
    const from = directory({
      "b.json": '{"name":"n","type":"json"}',
      "c.conf": '{"name":"n","type":"conf"}',
      "a.conflist": list("x", "x"),
    });
    expect(found(from, "n")).toEqual(["b.json", "json", 0]);
  });

  test("L-24: a broken file is skipped with a warning; with strict it ends the search", () => {
    const from = directory({
      "0.conflist": "{",
      "1.conflist": '{"name":"m"}',
      "2.conflist": list("n", "good"),
      "3.conflist": "[",
    });
    expect(found(from, "n")).toEqual(["2.conflist", "good", 2]);
    expect(found(from, "n", true)).toEqual([
      "CONFIG_NOT_JSON",
      expect.stringContaining("/etc/cni/net.d/0.conflist is not JSON: line 1"),
    ]);
    expect(found(directory({ "a.conf": "{}" }), "n", true)).toEqual([
      "CONFIG_INVALID",
      expect.stringContaining("a.conf: missing 'type'"),
    ]);
  });

  test("L-24: an empty directory and a missing network have different messages", () => {
    expect(found(directory({ "readme.txt": "hello" }), "n")).toEqual([
      "NETWORK_UNKNOWN",
      "no net configurations found in /etc/cni/net.d",
    ]);
    expect(found(directory({ "a.conflist": list("m", "x") }), "n")).toEqual([
      "NETWORK_UNKNOWN",
      'no net configuration with name "n" in /etc/cni/net.d',
    ]);
    const broken = findNetwork(directory({ "a.conflist": "{" }), "n");
    expect(!broken.ok && broken.fault.details).toContain("passed over: configuration list /etc/cni/net.d/a.conflist is not JSON");
  });

  test("L-23: an unreadable file is a warning, and with strict an error", () => {
    const from = {
      path: "/d",
      files: [
        { path: "/d/a.conflist", unreadable: "EACCES" },
        { path: "/d/b.conflist", text: list("n", "b") },
      ],
    };
    expect(findNetwork(from, "n")).toMatchObject({
      ok: true,
      value: { path: "/d/b.conflist", warnings: [{ msg: "error reading /d/a.conflist: EACCES" }] },
    });
    expect(findNetwork(from, "n", true)).toMatchObject({ ok: false, fault: { msg: "error reading /d/a.conflist: EACCES" } });
  });
});

describe("subdirectories", () => {
  test("L-20: plugins of the subdirectory with the list's name follow the list's own, by name", () => {
    const files = [
      { path: "/etc/cni/net.d/n/20.conf", text: '{"type":"third"}' },
      { path: "/etc/cni/net.d/n/10.conf", text: '{"type":"second"}' },
      { path: "/etc/cni/net.d/n/00.conflist", text: "not looked at" },
    ];
    const from = directory(
      { "a.conflist": list("n", "first") },
      new Map([
        ["n", files],
        ["m", [{ path: "m/x.conf", text: "{" }]],
      ]),
    );
    expect(found(from, "n")).toEqual(["a.conflist", "first,second,third", 0]);
  });

  test("L-20: a list may have all its plugins in the subdirectory; a list without any plugin is refused", () => {
    expect(found(directory({ "a.conflist": '{"name":"n"}' }, subdirectory('{"type":"x"}')), "n")).toEqual(["a.conflist", "x", 0]);
    expect(found(directory({ "a.conflist": '{"name":"n"}' }), "n", true)).toEqual([
      "CONFIG_INVALID",
      'network "n": no plugin configs found',
    ]);
  });

  test("L-20: each plugin needs a type", () => {
    expect(found(directory({ "a.conflist": list("n", "a") }, subdirectory("{}")), "n", true)).toEqual([
      "CONFIG_INVALID",
      "plugin configuration /etc/cni/net.d/n/10-x.conf: missing 'type'",
    ]);
  });

  test("L-22: with loadOnlyInlinedPlugins the subdirectory is ignored", () => {
    const from = directory({ "a.conflist": list("n", "a", '"loadOnlyInlinedPlugins":true,') }, subdirectory("broken"));
    expect(found(from, "n", true)).toEqual(["a.conflist", "a", 0]);
  });

  test("L-20: a list that is read again distinguishes inlined from appended plugins", () => {
    const parsed = parseNetworkList(list("n", "a"));
    const more = parsed.ok ? appendSubdirectoryPlugins(parsed.value, [{ path: "n/x.conf", text: '{"type":"b"}' }]) : parsed;
    expect(more.ok && [more.value.inlined, more.value.plugins.length]).toEqual([1, 2]);
  });
});

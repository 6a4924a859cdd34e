import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Fault } from "../../../src/fault/fault.ts";
import { ConfigurationWriter } from "./configuration-writer.ts";
import type { WriterSettings } from "./writer-settings.ts";
import { fakeTimersClock } from "../../system/testing/virtual-clock.ts";

const bridge = JSON.stringify({ cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "bridge" }] });
const within = { interval: 20 };

let root = "";
let directory = "";
let path = "";
let writers: ConfigurationWriter[] = [];
let lines: string[] = [];
let servable = true;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-writer-"));
  directory = join(root, "net.d");
  path = join(directory, "00-plexus.conflist");
  for (const each of [directory, join(root, "template"), join(root, "bin")]) mkdirSync(each);
  writeFileSync(join(root, "template", "config.json"), "{}");
  [writers, lines, servable] = [[], [], true];
});

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(writers.map((writer) => writer.stop()));
  rmSync(root, { recursive: true });
});

async function start(more: Partial<WriterSettings> = {}): Promise<ConfigurationWriter> {
  const writer = newWriter(more, () => undefined);
  await writer.start();
  return writer;
}

function newWriter(more: Partial<WriterSettings>, onProblem: (problem: Fault) => void): ConfigurationWriter {
  const writer = new ConfigurationWriter(
    {
      directory,
      template: join(root, "template", "config.json"),
      fileName: "00-plexus.conflist",
      pinned: undefined,
      binDir: join(root, "bin"),
      kubeconfig: undefined,
      needsShim: false,
      foreignSteps: "keep",
      ...more,
    },
    {
      clock: fakeTimersClock,
      canServe: () => servable,
      log: (_, text) => void lines.push(text),
      onChange: () => undefined,
      onProblem,
      onLostMount: () => undefined,
    },
  );
  writers.push(writer);
  return writer;
}

const put = (name: string, text = bridge): void => writeFileSync(join(directory, name), text);
const clusterNetwork = (): unknown => {
  try {
    const { plugins } = JSON.parse(readFileSync(path, "utf8"));
    return plugins[0].clusterNetwork.slice(directory.length + 1);
  } catch {
    return undefined;
  }
};

describe("MO-21 plexusd's configuration", () => {
  test("names the first network, with mode 0600, and leaves no temporary file", async () => {
    put("10-a.conflist");
    put("20-b.conflist");
    const writer = await start();
    expect(clusterNetwork()).toBe("10-a.conflist");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).toSorted()).toEqual(["00-plexus.conflist", "10-a.conflist", "20-b.conflist"]);
    expect(writer.state).toMatchObject({ written: true, problem: undefined });
  });

  test("is written when the daemon can serve, not before", async () => {
    put("10-a.conflist");
    servable = false;
    const writer = await start();
    await writer.look();
    expect(existsSync(path)).toBe(false);
    servable = true;
    await expect.poll(clusterNetwork, within).toBe("10-a.conflist");
  });

  test("follows a network that comes later, is edited, replaced by rename, and overtaken by another file", async () => {
    const writer = await start();
    expect(writer.state.problem).toMatchObject({ kind: "NO_DEFAULT_NETWORK" });
    put("10-a.conflist");
    await expect.poll(clusterNetwork, within).toBe("10-a.conflist");
    put("10-a.conflist", bridge.replace('"bridge"', '"bridge","capabilities":{"ips":true}'));
    await expect.poll(() => readFileSync(path, "utf8"), within).toContain('"ips":true');
    writeFileSync(join(directory, "new"), bridge);
    renameSync(join(directory, "new"), join(directory, "10-a.conflist"));
    await expect.poll(() => readFileSync(path, "utf8"), within).not.toContain('"ips":true');
    put("05-z.conf", JSON.stringify({ cniVersion: "1.0.0", name: "z", type: "bridge" }));
    await expect.poll(clusterNetwork, within).toBe("05-z.conf");
  });

  test("survives a network that is missing for a moment, and goes with a network that stays away", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    put("10-a.conflist");
    const writer = await start();
    unlinkSync(join(directory, "10-a.conflist"));
    await writer.look();
    expect(writer.state.problem?.kind).toBe("NO_DEFAULT_NETWORK");
    expect(clusterNetwork()).toBe("10-a.conflist");
    vi.advanceTimersByTime(4_999);
    await writer.look();
    expect(clusterNetwork()).toBe("10-a.conflist");
    vi.advanceTimersByTime(1);
    await writer.look();
    expect(existsSync(path)).toBe(false);
    vi.useRealTimers();
    put("10-a.conflist");
    // The file is written before the state says so.
    await expect.poll(() => [clusterNetwork(), writer.state.problem], within).toEqual(["10-a.conflist", undefined]);
  });

  test("follows the template, and keeps its last form while the template is wrong", async () => {
    put("10-a.conflist");
    const writer = await start();
    const template = join(root, "template", "config.json");
    writeFileSync(template, '{"logLevel": "debug"}');
    await expect.poll(() => readFileSync(path, "utf8"), within).toContain("debug");
    writeFileSync(template, '{"logLevle": "debug"}');
    await expect
      .poll(() => writer.state.problem, within)
      .toMatchObject({
        kind: "TEMPLATE_INVALID",
        msg: expect.stringContaining("logLevle"),
      });
    expect(readFileSync(path, "utf8")).toContain("debug");
    expect(lines.filter((line) => line.includes("logLevle"))).toHaveLength(1);
  });

  test("follows the template of a mounted ConfigMap, whose directory is replaced by a link", async () => {
    put("10-a.conflist");
    const volume = join(root, "volume");
    for (const name of ["one", "two"]) {
      mkdirSync(join(volume, name), { recursive: true });
      writeFileSync(join(volume, name, "config.json"), JSON.stringify({ logLevel: name === "one" ? "error" : "debug" }));
    }
    symlinkSync("one", join(volume, "..data"));
    symlinkSync("..data/config.json", join(volume, "config.json"));
    await start({ template: join(volume, "config.json") });
    expect(readFileSync(path, "utf8")).toContain("error");
    symlinkSync("two", join(volume, "new"));
    renameSync(join(volume, "new"), join(volume, "..data"));
    await expect.poll(() => readFileSync(path, "utf8"), within).toContain("debug");
  });

  test("follows a directory that is replaced by another one", async () => {
    put("10-a.conflist");
    const writer = await start();
    renameSync(directory, `${directory}.old`);
    mkdirSync(directory);
    put("20-b.conflist");
    await expect.poll(clusterNetwork, within).toBe("20-b.conflist");
    expect(writer.state.problem).toBeUndefined();
  });

  test("is not written for a wrong or missing template", async () => {
    put("10-a.conflist");
    const writer = await start({ template: join(root, "template", "missing.json") });
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "TEMPLATE_INVALID" } });
    expect(readdirSync(directory)).toEqual(["10-a.conflist"]);
  });

  test("takes the pinned network", async () => {
    put("10-a.conflist");
    put("20-b.conflist");
    await start({ pinned: "20-b.conflist" });
    expect(clusterNetwork()).toBe("20-b.conflist");
  });

  test("renews a file with its mark, and removes one under an earlier name", async () => {
    put("10-a.conflist");
    put("00-plexus.conflist", '{"writtenBy":"plexusd","name":"plexus","plugins":[{"type":"plexus","clusterNetwork":"/old"}]}');
    put("00-a-plexus.conflist", '{"writtenBy":"plexusd","name":"plexus","plugins":[{"type":"plexus","clusterNetwork":"/old"}]}');
    const writer = await start();
    expect(clusterNetwork()).toBe("10-a.conflist");
    expect(readdirSync(directory).toSorted()).toEqual(["00-plexus.conflist", "10-a.conflist"]);
    expect(writer.state.problem).toBeUndefined();
  });

  test("is shared by two daemons without a torn or lost file", async () => {
    put("10-a.conflist");
    const [one, two] = [await start(), await start()];
    for (let round = 0; round < 20; round++) {
      put(
        "10-a.conflist",
        bridge.replace("cbr0", `cbr${round}`).replace('"bridge"', `"bridge","capabilities":{"c${round}":true}`),
      );
      await Promise.all([one.look(), two.look()]);
      expect(readFileSync(path, "utf8")).toContain(`"c${round}":true`);
    }
    await one.stop();
    expect(readdirSync(directory).toSorted()).toEqual(["00-plexus.conflist", "10-a.conflist"]);
    expect(two.state).toMatchObject({ written: true, problem: undefined });
  });
});

describe("MO-24 plexusd's configuration never delegates to Plexus", () => {
  test("also not through a link of the shim under another name", async () => {
    writeFileSync(join(root, "bin", "plexus"), "shim", { mode: 0o755 });
    symlinkSync("plexus", join(root, "bin", "meta"));
    linkSync(join(root, "bin", "plexus"), join(root, "bin", "hard"));
    put("05-m.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "m", plugins: [{ type: "meta" }] }));
    put("06-h.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "h", plugins: [{ type: "hard" }] }));
    put("10-a.conflist");
    await start();
    expect(clusterNetwork()).toBe("10-a.conflist");
  });
});

describe("files of others", () => {
  test("are never changed, even under plexusd's name", async () => {
    put("10-a.conflist");
    const foreign = '{"name":"mine","plugins":[{"type":"plexus"}]}';
    put("00-plexus.conflist", foreign);
    const writer = await start();
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "CNI_FILE_FOREIGN" } });
    expect((await writer.leave()).ok).toBe(true);
    expect(readFileSync(path, "utf8")).toBe(foreign);
  });

  test("that the runtime reads first are a problem", async () => {
    put("00-multus.conf", JSON.stringify({ cniVersion: "0.3.1", name: "m", type: "multus" }));
    put("10-a.conflist");
    const writer = await start();
    expect(writer.state).toMatchObject({
      written: true,
      problem: { kind: "CNI_FILE_BEHIND", msg: expect.stringContaining("00-multus.conf before") },
    });
  });

  test("FI-19 a program that renames plexusd's file meets one restoration, not a loop", async () => {
    put("10-a.conflist");
    const writer = await start();
    let removals = 0;
    const renaming = setInterval(() => {
      if (!existsSync(path)) return;
      renameSync(path, `${path}.cilium_bak`);
      removals += 1;
    }, 20);
    await expect
      .poll(() => writer.state.problem, within)
      .toMatchObject({
        kind: "CNI_FILE_DISPLACED",
        msg: expect.stringContaining("00-plexus.conflist.cilium_bak"),
      });
    clearInterval(renaming);
    expect(removals).toBe(2);
    for (let look = 0; look < 10; look += 1) await writer.look();
    expect(existsSync(path)).toBe(false);
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "CNI_FILE_DISPLACED" } });
  });
});

describe("MO-26 plexusd's configuration goes", () => {
  test("when the daemon leaves, and stays when it stops", async () => {
    put("10-a.conflist");
    const first = await start();
    await first.stop();
    expect(clusterNetwork()).toBe("10-a.conflist");
    const second = await start();
    await second.leave();
    expect(readdirSync(directory)).toEqual(["10-a.conflist"]);
    put("20-b.conflist");
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(existsSync(path)).toBe(false);
  });

  test("and says before that Plexus is being removed, also after a restart of the daemon", async () => {
    put("10-a.conflist");
    const first = await start();
    expect(await first.take("retired")).toBeUndefined();
    expect(readFileSync(path, "utf8")).toContain('"retired":true');
    await first.stop();
    const second = await start();
    expect(second.state.standing).toBe("retired");
    expect(await second.take("in-force")).toBeUndefined();
    expect(readFileSync(path, "utf8")).not.toContain("retired");
  });
});

test("MO-26 a withdrawn configuration stays away until it is taken up again", async () => {
  put("10-a.conflist");
  const writer = await start();
  expect(await writer.take("withdrawn")).toBeUndefined();
  expect(readdirSync(directory)).toEqual(["10-a.conflist"]);
  put("20-b.conflist");
  await writer.look();
  expect(existsSync(path)).toBe(false);
  expect(await writer.take("in-force")).toBeUndefined();
  expect(clusterNetwork()).toBe("10-a.conflist");
});

test("MO-26 a step of a removal is refused while no daemon writes the file: before its start, and after its stop", async () => {
  put("10-a.conflist");
  const writer = await start();
  await writer.stop();
  expect(await writer.take("withdrawn")).toMatchObject({ kind: "DAEMON_BUSY" });
  expect([writer.state.standing, existsSync(path)]).toEqual(["in-force", true]);
});

test("a retirement that the template prevents says so", async () => {
  put("10-a.conflist");
  const writer = await start();
  writeFileSync(join(root, "template", "config.json"), "{");
  expect(await writer.take("retired")).toMatchObject({ kind: "TEMPLATE_INVALID" });
});

test("temporary files of killed daemons are removed, and no runtime reads one", async () => {
  put("10-a.conflist");
  put("00-plexus.conflist.abcdef.plexusd-new", "{");
  await start();
  expect(readdirSync(directory).toSorted()).toEqual(["00-plexus.conflist", "10-a.conflist"]);
});

test("a directory that is missing is reported, and used once it is there", async () => {
  rmSync(directory, { recursive: true });
  const writer = await start();
  expect(writer.state).toMatchObject({ written: false, problem: { kind: "NO_DEFAULT_NETWORK" } });
  mkdirSync(directory);
  put("10-a.conflist");
  await expect.poll(clusterNetwork, within).toBe("10-a.conflist");
});

const list = (): { readonly plugins: readonly { readonly type: string }[] } => JSON.parse(readFileSync(path, "utf8"));
const types = (): readonly string[] => list().plugins.map(({ type }) => type);
/** As an installer that reads the whole list and writes it in its own form. */
const edit = (change: (plugins: { type: string }[]) => object[], name = path): void => {
  const { plugins, ...rest } = JSON.parse(readFileSync(name, "utf8"));
  writeFileSync(`${name}.tmp`, JSON.stringify({ ...rest, plugins: change(plugins) }, undefined, 4));
  renameSync(`${name}.tmp`, name);
};
const shim = (): string => join(root, "bin", "plexus");
const install = (name: string): void => writeFileSync(join(root, "bin", name), "program", { mode: 0o755 });

/** Makes the directory a link, whose target `move` replaces by an empty directory. */
const asLink = (name: string): { readonly move: () => void } => {
  renameSync(join(root, name), join(root, "one"));
  symlinkSync("one", join(root, name));
  return {
    move: () => {
      mkdirSync(join(root, "two"));
      symlinkSync("two", join(root, "next"));
      renameSync(join(root, "next"), join(root, name));
    },
  };
};

describe("FI-17: the shim", () => {
  test("that is missing keeps the file from being written, because each pod would fail", async () => {
    put("10-a.conflist");
    const writer = await start({ needsShim: true });
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "SHIM_MISSING" } });
    install("plexus");
    await writer.look();
    expect(clusterNetwork()).toBe("10-a.conflist");
  });

  test("that goes is a problem at once; the file goes after 5 s, and comes back with the shim", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    install("plexus");
    put("10-a.conflist");
    // Outside of a pod nobody says where the shim is: it is expected once it was seen.
    const writer = await start();
    rmSync(shim());
    await writer.look();
    expect(writer.state).toMatchObject({ written: true, problem: { kind: "SHIM_MISSING" } });
    vi.advanceTimersByTime(4_999);
    await writer.look();
    expect(clusterNetwork()).toBe("10-a.conflist");
    vi.advanceTimersByTime(1);
    await writer.look();
    expect(existsSync(path)).toBe(false);
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "SHIM_MISSING" } });
    install("plexus");
    await writer.look();
    expect(clusterNetwork()).toBe("10-a.conflist");
    expect(writer.state.problem).toBeUndefined();
    expect(lines.filter((line) => line.includes("does not exist, so each pod would fail"))).toHaveLength(1);
  });

  test("that is no program, or leads nowhere, is missing; so is a link with the template's type", async () => {
    install("plexus");
    put("10-a.conflist");
    const writer = await start();
    for (const make of [
      () => writeFileSync(shim(), "torn", { mode: 0o644 }),
      () => mkdirSync(shim()),
      () => symlinkSync("gone", shim()),
    ]) {
      rmSync(shim(), { recursive: true, force: true });
      make();
      await writer.look();
      expect(writer.state.problem?.kind).toBe("SHIM_MISSING");
    }
    rmSync(shim());
    install("plexus");
    symlinkSync("plexus", join(root, "bin", "meta"));
    writeFileSync(join(root, "template", "config.json"), '{"type": "meta"}');
    await writer.look();
    expect(writer.state.problem).toBeUndefined();
    unlinkSync(join(root, "bin", "meta"));
    await writer.look();
    expect(writer.state.problem).toMatchObject({ kind: "SHIM_MISSING", msg: expect.stringContaining("bin/meta does not exist") });
  });

  test("is looked for where the directory of plugins is a link that moves, as K3s' `current`", async () => {
    install("plexus");
    put("10-a.conflist");
    const { move } = asLink("bin");
    const writer = await start();
    move();
    await writer.look();
    expect(writer.state.problem?.kind).toBe("SHIM_MISSING");
    install("plexus");
    await writer.look();
    expect(writer.state).toMatchObject({ written: true, problem: undefined });
  });

  test("the directory of configurations is followed where it is a link that moves", async () => {
    put("10-a.conflist");
    const { move } = asLink("net.d");
    const writer = await start();
    move();
    put("20-b.conflist");
    await writer.look();
    expect(clusterNetwork()).toBe("20-b.conflist");
    expect(writer.state.problem).toBeUndefined();
  });

  test("that is missing does not open another network to pods where the default network is pinned", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    install("plexus");
    put("10-a.conflist");
    put("20-b.conflist");
    const writer = await start({ pinned: "20-b.conflist" });
    rmSync(shim());
    for (const ms of [0, 5_000, 60_000]) {
      vi.advanceTimersByTime(ms);
      await writer.look();
      expect(clusterNetwork()).toBe("20-b.conflist");
      expect(writer.state.problem?.kind).toBe("SHIM_MISSING");
    }
  });
});

describe("FI-20: a pinned network that is missing", () => {
  test("leaves the file in force, so that the runtime does not use another network", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    put("10-a.conflist");
    put("20-b.conflist", bridge.replace('"bridge"', '"bridge","capabilities":{"ips":true}'));
    const writer = await start({ pinned: "20-b.conflist" });
    const before = readFileSync(path, "utf8");
    for (const break_ of [() => unlinkSync(join(directory, "20-b.conflist")), () => put("20-b.conflist", "{")]) {
      break_();
      for (const ms of [0, 5_000, 600_000]) {
        vi.advanceTimersByTime(ms);
        await writer.look();
        expect(readFileSync(path, "utf8")).toBe(before);
        expect(writer.state.problem).toMatchObject({ kind: "NO_DEFAULT_NETWORK", msg: expect.stringContaining("20-b.conflist") });
      }
    }
    // A removal of Plexus is written although the network is away.
    expect(await writer.take("retired")).toBeUndefined();
    expect(readFileSync(path, "utf8")).toContain('"retired":true');
    expect(readFileSync(path, "utf8")).toContain('"ips":true');
    await writer.take("in-force");
    put("20-b.conflist");
    await writer.look();
    expect(writer.state).toMatchObject({ written: true, problem: undefined });
    expect(readFileSync(path, "utf8")).not.toContain('"ips":true');
  });

  test("is named by the file from the start where another network is there, and by a daemon with another pin", async () => {
    put("10-a.conflist");
    put("20-b.conflist");
    const first = await start();
    expect(clusterNetwork()).toBe("10-a.conflist");
    await first.stop();
    const second = await start({ pinned: "30-c.conflist" });
    expect(clusterNetwork()).toBe("30-c.conflist");
    await second.leave();
    await start({ pinned: "30-c.conflist" });
    expect(clusterNetwork()).toBe("30-c.conflist");
  });

  test("needs no file on a node without any network, which is not ready then", async () => {
    const writer = await start({ pinned: "20-b.conflist" });
    expect(existsSync(path)).toBe(false);
    expect(writer.state).toMatchObject({ written: false, problem: { kind: "NO_DEFAULT_NETWORK" } });
    put("20-b.conflist");
    await writer.look();
    expect(clusterNetwork()).toBe("20-b.conflist");
  });
});

/** Sends new pods past Plexus' default network. */
const misdirect = ([plexus]: object[]): object[] => [{ ...plexus, clusterNetwork: "/elsewhere" }];

describe("FI-19: a step that another program adds to the file", () => {
  const mesh = { type: "mesh-cni", log_level: "info", kubernetes: { kubeconfig: "/etc/cni/net.d/ZZZ-mesh" } };
  let told: Fault[] = [];
  beforeEach(() => (told = []));

  const startTelling = async (more: Partial<WriterSettings> = {}): Promise<ConfigurationWriter> => {
    const writer = newWriter(more, (problem) => void told.push(problem));
    await writer.start();
    return writer;
  };
  const add = (): void => edit((plugins) => [...plugins.filter(({ type }) => type !== mesh.type), mesh]);

  test("is kept once if its plugin is installed, without a rewrite of the other program's form", async () => {
    install("mesh-cni");
    put("10-a.conflist");
    const writer = await startTelling();
    add();
    const edited = readFileSync(path, "utf8");
    await writer.look();
    await writer.look();
    expect(readFileSync(path, "utf8")).toBe(edited);
    expect(writer.state).toMatchObject({ written: true, problem: undefined, steps: ["mesh-cni"] });
    expect(told).toMatchObject([{ kind: "CNI_FILE_EDITED", msg: expect.stringContaining('added the step "mesh-cni"') }]);
    // The default network changes: the step stays, with its keys.
    put("05-z.conflist");
    await writer.look();
    expect(clusterNetwork()).toBe("05-z.conflist");
    expect(list().plugins).toEqual([expect.objectContaining({ type: "plexus" }), mesh]);
    edit((plugins) => [mesh, ...plugins, mesh]);
    await writer.look();
    expect(types()).toEqual(["plexus", "mesh-cni"]);
  });

  test("survives a restart of the daemon, a removal of the file, and the time without a default network", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    install("mesh-cni");
    put("10-a.conflist");
    const first = await startTelling();
    add();
    await first.look();
    await first.stop();
    const writer = await startTelling();
    expect(types()).toEqual(["plexus", "mesh-cni"]);
    unlinkSync(path);
    await writer.look();
    expect(types()).toEqual(["plexus", "mesh-cni"]);
    unlinkSync(join(directory, "10-a.conflist"));
    await writer.look();
    vi.advanceTimersByTime(5_000);
    await writer.look();
    expect(existsSync(path)).toBe(false);
    put("10-a.conflist");
    await writer.look();
    expect(types()).toEqual(["plexus", "mesh-cni"]);
    // The installer takes its step away: it does not come back.
    edit((plugins) => plugins.filter(({ type }) => type !== mesh.type));
    put("05-z.conflist");
    await writer.look();
    expect(types()).toEqual(["plexus"]);
  });

  test("runs once where the default network's own list has it, and the list's stays left out when the installer goes", async () => {
    install("mesh-cni");
    put("10-a.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "a", plugins: [{ type: "bridge" }, mesh] }));
    const writer = await startTelling();
    expect(list().plugins[0]).not.toHaveProperty("omitDefaultSteps");
    add();
    await writer.look();
    expect(list().plugins).toEqual([expect.objectContaining({ type: "plexus", omitDefaultSteps: ["mesh-cni"] }), mesh]);
    expect(writer.state).toMatchObject({ problem: undefined, steps: ["mesh-cni"], omitted: ["mesh-cni"] });
    edit((plugins) => plugins.filter(({ type }) => type !== mesh.type));
    await writer.look();
    expect(list().plugins).toEqual([expect.objectContaining({ type: "plexus", omitDefaultSteps: ["mesh-cni"] })]);
    // Only the list's own loss of the step ends that.
    put("10-a.conflist");
    await writer.look();
    expect(list().plugins[0]).not.toHaveProperty("omitDefaultSteps");
    expect(writer.state.problem).toBeUndefined();
  });

  test("is left out while its plugin is not installed, is named, and comes back with the plugin", async () => {
    put("10-a.conflist");
    const writer = await startTelling();
    add();
    await writer.look();
    expect(types()).toEqual(["plexus"]);
    expect(told).toMatchObject([{ msg: expect.stringContaining('"mesh-cni"') }]);
    expect(told[0]?.msg).toContain(`${join(root, "bin")} has no such plugin`);
    expect(writer.state.problem).toBeUndefined();
    install("mesh-cni");
    await writer.look();
    expect(list().plugins[1]).toEqual(mesh);
  });

  test("is stripped by policy, each time after a longer pause, and the problem names the plugin", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    install("mesh-cni");
    put("10-a.conflist");
    const writer = await startTelling({ foreignSteps: "strip" });
    add();
    await writer.look();
    expect(types()).toEqual(["plexus"]);
    expect(told).toHaveLength(1);
    add();
    for (let look = 0; look < 5; look++) await writer.look();
    expect(types()).toEqual(["plexus", "mesh-cni"]);
    expect(writer.state.problem).toMatchObject({ kind: "CNI_FILE_EDITED", msg: expect.stringContaining('"mesh-cni"') });
    expect(writer.state.problem?.msg).toContain("again and again; the next attempt is in 1 min");
    expect(told).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    await writer.look();
    expect(types()).toEqual(["plexus"]);
    expect(writer.state.problem).toBeUndefined();
    add();
    await writer.look();
    expect(writer.state.problem?.msg).toContain("the next attempt is in 10 min");
  });

  test("a program that changes Plexus' own keys meets pauses, too, and the problem names the key", async () => {
    put("10-a.conflist");
    const writer = await startTelling();
    edit(misdirect);
    await writer.look();
    expect(clusterNetwork()).toBe("10-a.conflist");
    edit(misdirect);
    await writer.look();
    expect(writer.state.problem).toMatchObject({
      kind: "CNI_FILE_EDITED",
      msg: expect.stringContaining("plugins.0.clusterNetwork"),
    });
  });

  test("Plexus itself is never a further step, at no depth", async () => {
    install("mesh-cni");
    put("10-a.conflist");
    const writer = await startTelling();
    edit((plugins) => [...plugins, { type: "mesh-cni", delegate: { type: "plexus" } }, { type: "plexus", clusterNetwork: "/x" }]);
    await writer.look();
    expect(types()).toEqual(["plexus"]);
  });

  test("a file of another daemon of plexusd is no edit", async () => {
    put("10-a.conflist");
    const writer = await startTelling();
    const other = await startTelling({ kubeconfig: "/other" });
    await writer.look();
    await other.look();
    await writer.look();
    expect(told).toEqual([]);
    expect(writer.state.problem).toBeUndefined();
  });
});

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
import { ConfigurationWriter, type ConfigurationWriterInit } from "./configuration-writer.ts";

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

async function start(more: Partial<ConfigurationWriterInit> = {}): Promise<ConfigurationWriter> {
  const writer = new ConfigurationWriter(
    {
      directory,
      template: join(root, "template", "config.json"),
      fileName: "00-plexus.conflist",
      pinned: undefined,
      binDir: join(root, "bin"),
      kubeconfig: undefined,
      needsShim: false,
      ...more,
    },
    { canServe: () => servable, log: (_, text) => void lines.push(text), onChange: () => undefined, onProblem: () => undefined },
  );
  writers.push(writer);
  await writer.start();
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

  test("renews a file of an earlier release, and removes one under an earlier name", async () => {
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
    writeFileSync(join(root, "bin", "plexus"), "shim");
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

  test("U-05 a program that renames plexusd's file meets one restoration, not a loop", async () => {
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

test("a file is not written while the shim is missing, because each pod would fail; a file that is there stays", async () => {
  put("10-a.conflist");
  const writer = await start({ needsShim: true });
  expect(writer.state).toMatchObject({ written: false, problem: { kind: "SHIM_MISSING" } });
  writeFileSync(join(root, "bin", "plexus"), "shim");
  await writer.look();
  expect(clusterNetwork()).toBe("10-a.conflist");
  rmSync(join(root, "bin", "plexus"));
  await writer.look();
  expect(writer.state).toMatchObject({ written: true, problem: undefined });
});

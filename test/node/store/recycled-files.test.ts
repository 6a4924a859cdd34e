import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missing, privateNamespaces } from "../../lab/requires.ts";
import { removeFile } from "../../../host/store/files/durable-file.ts";
import { replaceSync } from "../../../host/store/files/file-writer.ts";
import { isRecycledFile, RecycledFiles } from "../../../host/store/files/recycled-files.ts";

let root: string;
let directory: string;
let home: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-recycled-"));
  [directory, home] = [join(root, "files"), join(root, ".plexus-recycled")];
  mkdirSync(directory);
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (name: string): string => join(directory, name);
const text = (name: string): string => readFileSync(at(name), "utf8");
const inode = (name: string): number => statSync(at(name)).ino;
const kept = (): readonly string[] => (existsSync(home) ? readdirSync(home).filter(isRecycledFile) : []);

function write(recycledFiles: RecycledFiles, name: string, content = `of ${name}\n`): void {
  const written = replaceSync(at(name), content, recycledFiles);
  if (!written.ok) throw new Error(written.fault.msg);
  closeSync(written.value.file);
}

function remove(recycledFiles: RecycledFiles, ...names: readonly string[]): void {
  for (const name of names) expect(removeFile(at(name), recycledFiles)).toEqual({ ok: true, value: undefined });
}

/** The recycled files of an engine that wrote and removed `count` files. */
function engineWith(count: number, maxFiles?: number): RecycledFiles {
  const recycledFiles = new RecycledFiles(maxFiles);
  const names = Array.from({ length: count }, (_, index) => `old${index}`);
  for (const name of names) write(recycledFiles, name, `the long old content of ${name}\n`);
  remove(recycledFiles, ...names);
  return recycledFiles;
}

describe("keeping", () => {
  test("The next file reuses a removed one, without its old content and with mode 0600, and its directory stays empty", () => {
    const recycledFiles = new RecycledFiles();
    write(recycledFiles, "a", "a long content\n");
    const ino = inode("a");
    remove(recycledFiles, "a");
    expect([readdirSync(directory), kept().length, statSync(home).mode & 0o777]).toEqual([[], 1, 0o700]);
    write(recycledFiles, "b", "short\n");
    expect([inode("b"), text("b"), statSync(at("b")).mode & 0o777, kept()]).toEqual([ino, "short\n", 0o600, []]);
  });

  test("A file is removed and not kept if this engine never wrote nearby", () => {
    writeFileSync(at("multus"), "x", { mode: 0o600 });
    remove(new RecycledFiles(), "multus");
    expect(readdirSync(root)).toEqual(["files"]);
  });

  test("The number of kept files is bounded, and a new engine removes the files beyond its bound", () => {
    engineWith(5, 3);
    expect(kept()).toHaveLength(3);
    write(new RecycledFiles(2), "a");
    expect(kept()).toHaveLength(1);
  });

  test("A link, a pipe, a file with another mode, a long file and a file with two names are removed and not kept", () => {
    const recycledFiles = engineWith(0);
    write(recycledFiles, "linked");
    linkSync(at("linked"), at("hard"));
    symlinkSync("linked", at("soft"));
    execFileSync("mkfifo", ["-m", "600", at("pipe")]);
    writeFileSync(at("open"), "x");
    chmodSync(at("open"), 0o644);
    writeFileSync(at("long"), "x".repeat(20_000), { mode: 0o600 });
    for (const name of ["hard", "soft", "pipe", "open", "long"]) {
      expect([name, recycledFiles.keep(at(name))]).toEqual([name, "not-kept"]);
      remove(recycledFiles, name);
    }
    mkdirSync(at("directory"), 0o600);
    expect(recycledFiles.keep(at("directory"))).toBe("not-kept");
    expect(removeFile(at("directory"), recycledFiles)).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    expect([readdirSync(directory), kept(), recycledFiles.keep(at("nothing"))]).toEqual([["directory", "linked"], [], "missing"]);
  });

  test("A file that cannot be moved to the recycled files is removed", () => {
    const recycledFiles = engineWith(0);
    write(recycledFiles, "a");
    writeFileSync(home, "a file in the way");
    remove(recycledFiles, "a");
    expect([readdirSync(directory), readFileSync(home, "utf8")]).toEqual([[], "a file in the way"]);
  });

  test("A link in the place of the recycled files' directory is not followed", () => {
    const elsewhere = join(root, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, ".plexus-recycled-foreign"), "foreign", { mode: 0o600 });
    symlinkSync(elsewhere, home);
    const recycledFiles = new RecycledFiles();
    write(recycledFiles, "a");
    remove(recycledFiles, "a");
    write(recycledFiles, "b");
    expect([readdirSync(elsewhere), readdirSync(directory)]).toEqual([[".plexus-recycled-foreign"], ["b"]]);
    expect(readFileSync(join(elsewhere, ".plexus-recycled-foreign"), "utf8")).toBe("foreign");
  });
});

describe("taking", () => {
  test("A new engine uses the recycled files of the last one", () => {
    engineWith(1);
    const ino = statSync(join(home, kept()[0] ?? "")).ino;
    write(new RecycledFiles(), "a");
    expect([inode("a"), text("a"), kept()]).toEqual([ino, "of a\n", []]);
  });

  const replacements: Readonly<Record<string, (recycledFile: string, foreign: string) => void>> = {
    "a symbolic link": (recycledFile, foreign) => symlinkSync(foreign, recycledFile),
    "a hard link": (recycledFile, foreign) => linkSync(foreign, recycledFile),
    "a file that others may read": (recycledFile) => writeFileSync(recycledFile, "x", { mode: 0o644 }),
    "a pipe": (recycledFile) => execFileSync("mkfifo", ["-m", "600", recycledFile]),
    "a long file": (recycledFile) => writeFileSync(recycledFile, "x".repeat(20_000), { mode: 0o600 }),
    nothing: () => undefined,
  };
  test.each(Object.keys(replacements))("Replaced by %s, a recycled file is not written into, and a new file is made", (what) => {
    const recycledFiles = engineWith(1);
    const [recycledFile, foreign] = [join(home, kept()[0] ?? ""), join(root, "foreign")];
    writeFileSync(foreign, "foreign", { mode: 0o600 });
    rmSync(recycledFile);
    replacements[what]?.(recycledFile, foreign);
    write(recycledFiles, "a");
    expect([text("a"), readFileSync(foreign, "utf8"), lstatSync(at("a")).nlink, statSync(at("a")).mode & 0o777]).toEqual([
      "of a\n",
      "foreign",
      1,
      0o600,
    ]);
    // Later files are recycled as before.
    remove(recycledFiles, "a");
    write(recycledFiles, "b");
    expect([readdirSync(directory), text("b")]).toEqual([["b"], "of b\n"]);
  });

  test("A directory with a recycled file's name is left alone", () => {
    mkdirSync(join(home, ".plexus-recycled-directory"), { recursive: true });
    write(new RecycledFiles(), "a");
    expect([text("a"), kept()]).toEqual(["of a\n", [".plexus-recycled-directory"]]);
  });

  test("The temporary file of a killed write is replaced; if it is a hard link, the other name keeps its content", () => {
    const recycledFiles = engineWith(1);
    write(new RecycledFiles(), "whole", "whole\n");
    renameSync(at("whole"), at("kept"));
    linkSync(at("kept"), at(".a"));
    write(recycledFiles, "a");
    expect([text("a"), text("kept"), readdirSync(directory)]).toEqual(["of a\n", "whole\n", ["a", "kept"]]);
  });

  test("A file name that is too long is a fault and uses up no recycled file", () => {
    const recycledFiles = engineWith(2);
    const answer = replaceSync(at("n".repeat(255)), "x", recycledFiles);
    expect(answer).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    const inodes = kept().map((name) => statSync(join(home, name)).ino);
    for (const name of ["a", "b"]) write(recycledFiles, name);
    expect([inode("a"), inode("b")].toSorted()).toEqual(inodes.toSorted());
  });

  test("Files are recycled again after their directories were removed", () => {
    const recycledFiles = engineWith(3);
    rmSync(root, { recursive: true });
    write(recycledFiles, "a");
    remove(recycledFiles, "a");
    write(recycledFiles, "b");
    remove(recycledFiles, "b");
    expect([readdirSync(directory), kept().length]).toEqual([[], 1]);
  });

  test("After some recycled files were removed by hand the others are used, and their number stays bounded", () => {
    const recycledFiles = engineWith(4, 4);
    for (let round = 0; round < 3; round++) {
      rmSync(join(home, kept().at(-1) ?? ""));
      rmSync(join(home, kept()[0] ?? ""));
      for (const name of ["a", "b", "c", "d", "e", "f"]) write(recycledFiles, name);
      expect(kept()).toEqual([]);
      remove(recycledFiles, "a", "b", "c", "d", "e", "f");
      expect(kept()).toHaveLength(4);
    }
  });
});

test("Two engines that keep and take files of one directory never share a file", () => {
  const engines = [engineWith(4), new RecycledFiles()];
  const held = new Map<string, string>();
  for (let step = 0; step < 400; step++) {
    const engine = engines[step % 2];
    if (engine === undefined) throw new Error("no engine");
    // A fixed sequence without a pattern.
    const name = `f${(step * step * 7 + step) % 13}`;
    if (held.has(name)) {
      remove(engine, name);
      held.delete(name);
    } else {
      write(engine, name, `${step}\n`);
      held.set(name, `${step}\n`);
    }
    expect(Object.fromEntries(readdirSync(directory).map((each) => [each, text(each)]))).toEqual(Object.fromEntries(held));
  }
  expect(new Set([...held.keys()].map(inode)).size).toBe(held.size);
});

test("An engine with the process id of the last one replaces none of its recycled files", () => {
  engineWith(8);
  const recycledFiles = new RecycledFiles();
  for (let time = 0; time < 3; time++) {
    write(recycledFiles, "a");
    remove(recycledFiles, "a");
  }
  expect(kept()).toHaveLength(8);
});

test.skipIf(missing("recycled files and another file system", privateNamespaces))(
  "A directory on another file system gets no recycled file, and the known recycled files are not listed again",
  () => {
    const recycledFiles = engineWith(4);
    // A second listing would find this file.
    const planted = join(home, ".plexus-recycled-planted");
    writeFileSync(planted, "", { mode: 0o600 });
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", directory]);
    try {
      write(recycledFiles, "a");
      expect([kept().length, text("a")]).toEqual([5, "of a\n"]);
    } finally {
      execFileSync("umount", [directory]);
    }
    for (const name of ["b", "c", "d", "e", "f"]) write(recycledFiles, name);
    expect(kept()).toEqual([".plexus-recycled-planted"]);
  },
);

// A daemon that was taken over, with a uid of its own, beside the launch server that opens sockets in root's directories for it (host/sandbox/launcher/sockets.c).

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buildLauncher } from "../../../host/sandbox/launcher/build.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { missing, type Requirement } from "../../lab/requires.ts";

const uid = 1_999_999_999;
const ownUid: Requirement = () => (canBecome({ first: uid, count: 1 }) ? undefined : "this user may not change users");

/** Asks as the daemon does. `reach` and `open` print what comes of a request; a descriptor's peer is that of a server of the test. */
const asked = `
import errno, os, socket, struct, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=os.dup(3))
def ask(verb, path):
    server.send(verb.encode() + b"\\0" + os.fsencode(path) + b"\\0")
    answer, fds, _, _ = socket.recv_fds(server, 64, 4)
    number = struct.unpack("i", answer)[0]
    return errno.errorcode.get(number, "got"), [socket.socket(fileno=fd) for fd in fds]
def show(verb, path):
    name, got = ask(verb, path)
    print(verb, name, len(got), path)
    return got
def itself(what, attempt):
    try:
        attempt()
        print("DID:", what)
    except OSError as error:
        print("refused:", what)
def connect(path): socket.socket(socket.AF_UNIX).connect(path)
def bind(path): socket.socket(socket.AF_UNIX).bind(path)
`;

const quote = (path: string): string => JSON.stringify(path);

/** Makes a directory with exactly this mode. */
function make(path: string, mode: number, group = 0): string {
  mkdirSync(path);
  chownSync(path, 0, group);
  chmodSync(path, mode);
  return path;
}

describe.skipIf(missing("attacks on root's sockets", ownUid))(
  "FI-28: a daemon that was taken over, beside sockets of root",
  () => {
    let launcher = "";
    let directory = "";
    let closed = "";
    const servers: Server[] = [];
    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "plexus-root-sockets-"));
      chmodSync(directory, 0o755);
      ({ path: launcher } = await buildLauncher({ outDir: directory }));
      closed = join(directory, "closed");
      mkdirSync(closed, { mode: 0o700 });
    });
    afterEach(() => {
      for (const server of servers.splice(0)) server.close();
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

    /** Executes a Python script as the daemon, whose launch server has these options. */
    function asDaemon(
      script: string,
      options: readonly string[],
      user: readonly string[] = ["--daemon-uid", String(uid)],
    ): string {
      const jail = ["--serve", "--uids", "2000000000:65536", "--limit", "4:0", ...user, ...options, "--", "/bin/true"];
      const daemon = ["/usr/bin/env", "python3", "-c", `${asked}\n${script}`];
      const { stdout, stderr } = spawnSync(launcher, [...jail, "--", ...daemon], { encoding: "utf8", timeout: 60_000 });
      return `${stdout}${stderr}`;
    }
    async function serve(path: string): Promise<string> {
      const server = createServer((client) => client.end("of root"));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(path, resolve));
      return path;
    }
    test("gets a connection to the socket of its command line, and to no other by any name", async () => {
      const named = await serve(join(closed, "named.sock"));
      const other = await serve(join(closed, "other.sock"));
      symlinkSync("named.sock", join(closed, "link.sock"));
      writeFileSync(join(closed, "file"), "of root", { mode: 0o600 });
      const paths = [
        other,
        join(closed, "file"),
        `${closed}//named.sock`,
        `${closed}/./named.sock`,
        `${named}/`,
        "named.sock",
        "",
        "/",
      ];
      const found = asDaemon(
        `
itself("connected itself", lambda: connect(${quote(named)}))
itself("removed it", lambda: os.unlink(${quote(named)}))
[connection] = show("connect", ${quote(named)})
print("peer", connection.getpeername())
for path in ${JSON.stringify(paths)}: show("connect", path)
for verb in ("listen", "remove", "share", "file"):
    if verb != "file": show(verb, ${quote(named)})
show("connect", ${quote(join(closed, "link.sock"))})
show("connect", ${quote(join(closed, "missing", "x.sock"))})
`,
        ["--connect", named, "--connect", join(closed, "link.sock"), "--connect", join(closed, "missing", "x.sock")],
      );
      expect(found).toContain(`connect got 1 ${named}\n`);
      for (const path of paths) expect(found).toContain(`connect EPERM 0 ${path}\n`);
      for (const verb of ["listen", "remove", "share"]) expect(found).toContain(`${verb} EPERM 0 ${named}\n`);
      expect(found).toContain(`connect EPERM 0 ${join(closed, "link.sock")}\n`);
      expect(found).toContain(`connect ENOENT 0 ${join(closed, "missing", "x.sock")}\n`);
      expect(found).not.toMatch(/DID:|Traceback/u);
    });

    test("gets nothing by a path that it could lead elsewhere, although the command line names the path", async () => {
      const victim = await serve(join(closed, "victim.sock"));
      const shared = make(join(directory, "shared"), 0o2770, uid);
      const open = make(join(directory, "open"), 0o777);
      const sticky = make(join(directory, "sticky"), 0o1777);
      const kept = make(join(directory, "kept"), 0o755);
      mkdirSync(join(sticky, "of-root"), { mode: 0o755 });
      for (const path of [join(shared, "link"), join(kept, "link")]) symlinkSync(closed, path);
      for (const path of [shared, open, join(sticky, "of-root"), join(kept)]) await serve(join(path, "direct.sock"));
      const refused = [
        join(shared, "direct.sock"),
        join(open, "direct.sock"),
        join(shared, "link", "victim.sock"),
        join(sticky, "mine", "x.sock"),
      ];
      const given = [
        join(kept, "link", "victim.sock"),
        join(sticky, "of-root", "direct.sock"),
        join(kept, "direct.sock"),
        victim,
      ];
      const listened = [join(shared, "new.sock"), join(sticky, "mine", "new.sock"), join(shared, "link", "new.sock")];
      const found = asDaemon(
        `
os.mkdir(${quote(join(sticky, "mine"))})
bind(${quote(join(sticky, "mine", "x.sock"))})
for path in ${JSON.stringify([...refused, ...given])}: show("connect", path)
for path in ${JSON.stringify(listened)}: show("listen", path); show("remove", path)
`,
        [...[...refused, ...given].flatMap((path) => ["--connect", path]), ...listened.flatMap((path) => ["--listen", path])],
      );
      for (const path of refused) expect(found).toContain(`connect EPERM 0 ${path}\n`);
      for (const path of given) expect(found).toContain(`connect got 1 ${path}\n`);
      for (const path of listened) expect(found).toContain(`listen EPERM 0 ${path}\nremove EPERM 0 ${path}\n`);
      expect(found).not.toContain("Traceback");
    });

    test("listens by root in a directory of root, replaces no living socket and no file, and removes what no process listens to", async () => {
      const own = join(closed, "driver-reg.sock");
      const alive = await serve(join(closed, "alive.sock"));
      const file = join(closed, "plain");
      writeFileSync(file, "kept", { mode: 0o600 });
      const found = asDaemon(
        `
itself("bound itself", lambda: bind(${quote(join(closed, "mine.sock"))}))
[listener] = show("listen", ${quote(own)})
again = show("listen", ${quote(own)})
show("remove", ${quote(own)})
listener.close()
[listener] = show("listen", ${quote(own)})
print("listening", listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
listener.close()
for path in ${JSON.stringify([alive, file])}: show("listen", path); show("remove", path)
show("remove", ${quote(own)})
print("left", os.path.lexists(${quote(own)}))
show("remove", ${quote(own)})
[listener] = show("listen", ${quote(own)})
`,
        [own, alive, file].flatMap((path) => ["--listen", path]),
      );
      expect(found.split("\n").filter((line) => line !== "")).toEqual([
        "refused: bound itself",
        `listen got 1 ${own}`,
        `listen EADDRINUSE 0 ${own}`,
        `remove EADDRINUSE 0 ${own}`,
        `listen got 1 ${own}`,
        "listening 1",
        `listen EADDRINUSE 0 ${alive}`,
        `remove EADDRINUSE 0 ${alive}`,
        `listen EPERM 0 ${file}`,
        `remove EPERM 0 ${file}`,
        `remove got 0 ${own}`,
        "left False",
        `remove got 0 ${own}`,
        `listen got 1 ${own}`,
      ]);
      expect([lstatSync(own).isSocket(), statSync(own).mode & 0o777, statSync(own).uid]).toEqual([true, 0o600, 0]);
      expect(readFileSync(file, "utf8")).toBe("kept");
      expect(lstatSync(alive).isSocket()).toBe(true);
    });

    test("listens again as soon as it has closed its listener", () => {
      const own = join(closed, "again.sock");
      const found = asDaemon(
        `
for _ in range(300):
    name, got = ask("listen", ${quote(own)})
    if len(got) != 1: print("refused", name)
    for each in got: each.close()
print("done")
`,
        ["--listen", own],
      );
      expect(found).toBe("done\n");
    });

    test("never waits for a server that accepts no connection, and gets no socket without a user of its own", async () => {
      const full = join(closed, "full.sock");
      const found = asDaemon(
        `
import time
listener = socket.socket(socket.AF_UNIX)
[listener] = show("listen", ${quote(full)})
got = [ask("connect", ${quote(full)}) for _ in range(600)]
print("last", got[-1][0], len(got[-1][1]))
`,
        ["--listen", full, "--connect", full],
      );
      expect(found).toContain("last EAGAIN 0\n");
      const named = await serve(join(closed, "plain.sock"));
      const plain = asDaemon(`show("connect", ${quote(named)})`, ["--connect", named], []);
      expect(plain).toContain(`connect EINVAL 0 ${named}\n`);
    });

    test("passes through a directory that is closed for other users to what root shares below, and reads nothing beside", () => {
      const closedState = join(directory, "cni");
      const [state, results] = [join(closedState, "plexus"), join(closedState, "results")];
      for (const path of [closedState, state, results]) mkdirSync(path, { mode: 0o700 });
      const foreign = join(directory, "foreign");
      mkdirSync(join(foreign, "state"), { recursive: true });
      chownSync(foreign, 0, 4242);
      chmodSync(foreign, 0o750);
      const found = asDaemon(
        `
itself("listed the directory", lambda: os.listdir(${quote(closedState)}))
itself("listed what lies beside", lambda: os.listdir(${quote(results)}))
itself("made a file", lambda: open(${quote(join(closedState, "file"))}, "w"))
open(${quote(join(state, "own"))}, "w").write("own")
itself("passed another group's directory", lambda: os.listdir(${quote(join(foreign, "state"))}))
`,
        ["--share", state, "--share", join(foreign, "state")],
      );
      expect(found).not.toMatch(/DID:|Traceback/u);
      expect(found.match(/refused:/gu)).toHaveLength(4);
      expect(readFileSync(join(state, "own"), "utf8")).toBe("own");
      expect([closedState, results, foreign].map((path) => (statSync(path).mode & 0o7777).toString(8))).toEqual([
        "710",
        "700",
        "750",
      ]);
      expect(statSync(foreign).gid).toBe(4242);
    });
  },
);

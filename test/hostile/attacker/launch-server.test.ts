// A daemon that was taken over, beside its launch server, which may change users. The attacker has the connection and the launcher's program.

import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildLauncher } from "../../../host/sandbox/launcher/build.ts";
import { EINVAL, EIO } from "../../../host/system/errno.ts";
import { LANGUAGE_FLAGS } from "../../../host/shim/build.ts";
import { ownCgroup } from "../../../host/sandbox/launcher/cgroups.ts";
import { controls } from "../../../host/sandbox/launcher/controls.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { compiledPlugin } from "../../lab/compiled.ts";
import { dist } from "../../lab/plexus.ts";
import { missing, type Requirement } from "../../lab/requires.ts";

const uids = { first: 2_000_000_000, count: 65_536 };
const changesUsers: Requirement = () => (canBecome(uids) ? undefined : "this user may not change users");

/** Whether the kernel has this ABI of Landlock: the launcher tells its daemon. */
const landlock =
  (abi: number): Requirement =>
  () => {
    const built = join(dist, "bin", "plexus-sandbox");
    const args = ["--serve", "--", "/bin/true", "--", "/bin/sh", "-c", "echo $PLEXUS_LANDLOCK"];
    const found = Number(spawnSync(built, args, { encoding: "utf8" }).stdout);
    return found >= abi ? undefined : `needs ABI ${abi} of Landlock, here: ${found}`;
  };

const cgroupOfTest = (): string => join(ownCgroup() ?? "/nonexistent", `plexus-own-uid-${process.pid}`);
const makesCgroups: Requirement = () => {
  try {
    mkdirSync(cgroupOfTest());
    rmdirSync(cgroupOfTest());
    return undefined;
  } catch (error) {
    return `no cgroup can be made here: ${error instanceof Error ? error.message : String(error)}`;
  }
};

/** The bits of the controls in a launcher's report. */
const controlsIn = (text: string): number => Number(/"controls":(\d+)/u.exec(text)?.[1]);

const launcherSources = fileURLToPath(new URL("../../../host/sandbox/launcher/", import.meta.url));

let directory = "";
let launcher = "";
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-launch-server-"));
  ({ path: launcher } = await buildLauncher({ outDir: directory }));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A process of the launch server that prints its user, its capabilities, and its further arguments. */
const guest = [
  "/bin/sh",
  "-c",
  'echo uid=$(id -u) gid=$(id -g) groups=$(id -G) $(grep CapPrm /proc/self/status) args="$*"',
  "sh",
];

/** Executes a shell's script as the daemon: without rights, beside a launch server. */
function asDaemon(script: string, through: readonly string[] = [], options: readonly string[] = []): string {
  const serve = [launcher, "--serve", "--uids", `${uids.first}:${uids.count}`, "--limit", "4:0", ...options, "--", ...guest];
  const [program = "", ...args] = [...through, ...serve, "--", "/bin/sh", "-c", script];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "latin1", timeout: 120_000 });
  return `${stdout}${stderr}`;
}

/** The shell's command that asks for a process. */
const ask = (...args: readonly string[]): string => `'${launcher}' --ask ${args.map((each) => `'${each}'`).join(" ")}`;
const gibibyte = String(1024 ** 3);

describe.skipIf(missing("attacks on the launch server", changesUsers))("FI-28: a daemon that was taken over", () => {
  test("has no capability, and can neither change its user nor read or trace the launch server", () => {
    const found = asDaemon(`
      grep -E '^(CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status
      setpriv --reuid 1000 --clear-groups true && echo became another user
      cat /proc/$PLEXUS_LAUNCH_SERVER/environ > /dev/null && echo read its environment
      head -c 1 /proc/$PLEXUS_LAUNCH_SERVER/mem > /dev/null && echo read its memory
      readlink /proc/$PLEXUS_LAUNCH_SERVER/fd/3 > /dev/null && echo read its descriptors
    `);
    for (const name of ["CapPrm", "CapEff", "CapBnd", "CapAmb"]) expect(found).toContain(`${name}:\t0000000000000000`);
    expect(found).toMatch(/NoNewPrivs:\t1/);
    expect(found).not.toMatch(/became|read its/);
  });

  test("makes no further name for a file of root on any kernel: neither a hard nor a symbolic link, nor by a ring that makes them", () => {
    const place = join(directory, "names");
    mkdirSync(place);
    writeFileSync(join(place, "secret"), "of root", { mode: 0o600 });
    const found = asDaemon(`
      cd '${place}'
      echo PLEXUS_NO_LINKS=$PLEXUS_NO_LINKS
      ln secret last_reserved_ip.0 && echo made a hard link
      ln -s secret last_reserved_ip.1 && echo made a symbolic link
      mkfifo pipe && echo made a pipe
      python3 -c '
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
ring = libc.syscall(425, 1, ctypes.create_string_buffer(120))
print("ring:", errno.errorcode.get(ctypes.get_errno()) if ring < 0 else "made a ring")
# RENAME_WHITEOUT leaves a device. A rename without flags, or with RENAME_NOREPLACE, is allowed.
renameat2 = 316 if os.uname().machine == "x86_64" else 276
for flags, name in (4, "whiteout"), (5, "both"), (1, "rename"):
    open("old", "w").close()
    result = libc.syscall(renameat2, -100, b"old", -100, b"new", flags)
    print(name + ":", errno.errorcode.get(ctypes.get_errno()) if result < 0 else "made a device" if os.path.lexists("old") else "moved")
os.remove("new")
# CLONE_NEWUSER and CLONE_NEWNS: there this process may mount, and an overlay makes links without these calls.
libc.unshare(0x10020000)
for name, act in ("mount", lambda: libc.mount(None, None, None, 0, None)), ("fsopen", lambda: libc.syscall(430, b"tmpfs", 0)):
    print(name + ":", errno.errorcode.get(ctypes.get_errno()) if act() < 0 else "made a mount")'
      echo own > own && mv own moved && rm moved && echo has its own files
    `);
    expect(found).toContain("PLEXUS_NO_LINKS=1\n");
    for (const name of ["ring", "whiteout", "both", "mount", "fsopen"]) expect(found).toContain(`${name}: EPERM\n`);
    expect(found).toContain("rename: moved\n");
    expect(found).toContain("has its own files");
    expect(found).not.toMatch(/made a/u);
    expect(readdirSync(place)).toEqual(["secret"]);
  });

  test.skipIf(missing("Landlock for a daemon", landlock(2)))(
    "puts no link, device or pipe where root's programs write: host-local would write through a link",
    () => {
      const place = join(directory, "leases");
      mkdirSync(place);
      const found = asDaemon(`
        cd '${place}'
        ln -s '${join(directory, "victim")}' last_reserved_ip.0 && echo made a link
        mkfifo pipe && echo made a pipe
        python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' ; mknod device c 1 3 && echo made a device
        echo 10.1.0.1 > last_reserved_ip.0 && mkdir -p other && mv last_reserved_ip.0 other/ && rm -r other && echo has its own files
      `);
      expect(found).toContain("has its own files");
      expect(found).not.toMatch(/made a/u);
      expect(readdirSync(place).filter((name) => name !== "socket")).toEqual([]);
    },
  );

  test.skipIf(missing("signals of a daemon", landlock(6)))(
    "signals no process that it has not started, as uid 0 does otherwise",
    () => {
      const victim = spawn("sleep", ["1000"]);
      try {
        const found = asDaemon(`
        kill -9 ${victim.pid} && echo signalled another process
        kill -9 $PLEXUS_LAUNCH_SERVER && echo signalled the launch server
        sleep 1000 & kill -9 $! && echo signalled its child
      `);
        expect(found).toContain("signalled its child");
        expect(found).not.toMatch(/signalled (?:another|the launch)/u);
        expect(existsSync(`/proc/${victim.pid}`)).toBe(true);
      } finally {
        victim.kill("SIGKILL");
      }
    },
  );

  test("gets the one program of the server, with another user and no capability, whatever it asks", () => {
    const found = asDaemon(`${ask(gibibyte, "", "256", "10000")} | tr -d '\\0'`);
    expect(found).toMatch(/uid=20000\d{5} gid=20000\d{5} groups=20000\d{5} CapPrm: 0000000000000000 args=256 10000/);
    const refused: readonly (readonly string[])[] = [
      [gibibyte, "", "--uids", "0:1"],
      [gibibyte, "", "/bin/sh"],
      [gibibyte, "", "1", "-1"],
      [gibibyte, "", "1", ""],
      [gibibyte, "", ...Array.from({ length: 100 }, () => "1")],
      ["--uids", "", "1"],
      ["", "", "1"],
    ];
    for (const args of refused) {
      const answer = asDaemon(`${ask(...args)} | tr -d '\\0'`);
      expect([args, answer]).toEqual([args, expect.stringContaining("the request is not understood")]);
      expect(answer).not.toContain("uid=");
    }
  });

  test("makes the server write into no file but a cgroup's", () => {
    const victim = join(directory, "victim");
    const place = join(directory, "place");
    writeFileSync(victim, "kept");
    spawnSync("mkdir", [place]);
    writeFileSync(join(place, "cgroup.procs"), "kept");
    expect(asDaemon(`${ask(gibibyte, place, "1")} | tr -d '\\0'`)).toContain("args=1");
    expect(readFileSync(join(place, "cgroup.procs"), "utf8")).toBe("kept");
    rmSync(join(place, "cgroup.procs"));
    symlinkSync(victim, join(place, "cgroup.procs"));
    expect(asDaemon(`${ask(gibibyte, place, "1")} | tr -d '\\0'`)).toContain("args=1");
    expect(readFileSync(victim, "utf8")).toBe("kept");
  });

  test("neither ends nor confuses the server by malformed requests, also under sanitizers", () => {
    const sanitized = join(directory, "sanitized");
    const flags = [...LANGUAGE_FLAGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", '-DPLEXUS_VERSION="0.0.0"'];
    const sources = readdirSync(launcherSources).filter((name) => name.endsWith(".c"));
    const built = spawnSync("cc", [...flags, "-o", sanitized, ...sources.map((name) => join(launcherSources, name))]);
    // A compiler without sanitizers: the plain program then shows less.
    const plain = launcher;
    if (built.status === 0) launcher = sanitized;
    // The sanitizers map terabytes, which the limit of the request would forbid.
    const most = String(2 ** 62);
    const found = asDaemon(`'${compiledPlugin("pester")}' '${plain}' --ask ${most} '' 7 | tr -d '\\0'`);
    launcher = plain;
    expect(found).toMatch(/uid=20000\d{5} .* args=7/);
    expect(asDaemon(`'${compiledPlugin("pester")}' ${ask(gibibyte, "", "7")} | tr -d '\\0'`)).toMatch(/uid=20000\d{5} .* args=7/);
  });

  test.each([
    ["", []],
    [" in a user namespace", ["--namespaces", "10000000"]],
  ])("gets no process with the server's user where the user cannot be changed%s", (_, options) => {
    const powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
    const found = asDaemon(`${ask(gibibyte, "", "1")} | tr -d '\\0'`, powerless, options);
    expect(found).toContain("the process would keep the launch server's user");
    expect(found).not.toContain("uid=");
  });
});

/** Asks root to share directories, and prints the errno of each. */
const shareCommand = (...paths: readonly string[]): string =>
  `python3 -c '
import os, struct, sys
for path in sys.argv[1:]:
    os.write(3, b"share\\0" + os.fsencode(path) + b"\\0")
    print("errno", struct.unpack("i", os.read(3, 4))[0], path)' ${paths.map((path) => `'${path}'`).join(" ")}`;
/** A program that kills the first child of the process that the file argv[1] names, before the child's first instruction (ptrace(2)). Then it lets go. */
const killsFirstChild = `
import ctypes, os, signal, sys, time
SEIZE, CONT, EVENTS, WALL = 0x4206, 7, 2 | 4 | 8, 0x40000000
ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes = [ctypes.c_long] * 4
while not os.path.exists(sys.argv[1]): time.sleep(0.01)
server = int(open(sys.argv[1]).read())
assert ptrace(SEIZE, server, 0, EVENTS) == 0
open(sys.argv[2], "w").close()
while (pid := os.waitpid(-1, WALL)[0]) == server: ptrace(CONT, server, 0, 0)
os.kill(pid, signal.SIGKILL)
`;
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

/** The shell's command that asks root for a configuration, and prints its name after the content. */
const readCommand = (name: string): string => `'${launcher}' --ask file read '${name}' < /dev/null | cat; echo " ${name}"`;

describe.skipIf(missing("attacks of a daemon with a uid of its own", changesUsers))(
  "FI-28: a daemon that was taken over, with a uid of its own",
  () => {
    const uid = 1_999_999_999;
    let shared = "";
    let sockets = "";
    let foreign = "";
    beforeAll(() => {
      chmodSync(directory, 0o755);
      [shared = "", sockets = "", foreign = ""] = ["shared", "sockets", "foreign"].map((name) => join(directory, name));
      for (const path of [shared, sockets, foreign, join(shared, "net"), join(sockets, "slots"), join(foreign, "below")])
        mkdirSync(path, { mode: 0o700 });
      writeFileSync(join(foreign, "secret"), "of root", { mode: 0o600 });
      writeFileSync(join(directory, "secret"), "of root", { mode: 0o600 });
    });
    const options = (): readonly string[] => ["--daemon-uid", String(uid), "--share", shared, "--share-directory", sockets];
    const asUser = (script: string): string => asDaemon(script, [], options());

    test("is that user alone, can become no other, and has no right over root's processes and files", () => {
      const victim = spawn("sleep", ["1000"]);
      try {
        const found = asUser(`
        echo uid=$(id -u) gid=$(id -g) groups=$(id -G)
        setpriv --reuid 0 --clear-groups true && echo became root
        cat '${join(directory, "secret")}' && echo read a file of root
        python3 -c '
import ctypes, os, resource, sys
pid, server, secret = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None)
def trace():
    if libc.ptrace(16, pid, 0, 0) != 0: raise OSError()
tries = {
    "signalled": lambda: os.kill(pid, 9),
    "signalled the launch server": lambda: os.kill(server, 9),
    "limited": lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)),
    "slowed": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "moved": lambda: os.sched_setaffinity(pid, {0}),
    "traced": trace,
    "read the memory of": lambda: open(f"/proc/{pid}/mem", "rb").read(1),
    "listed the files of": lambda: os.readlink(f"/proc/{pid}/exe"),
    "linked a file of": lambda: os.link(secret, "/tmp/plexus-own-uid-link"),
    "wrote a pattern of cores beside": lambda: open("/proc/sys/kernel/core_pattern", "w"),
}
for name, attempt in tries.items():
    try:
        attempt()
        print("DID:", name)
    except OSError as error:
        print("refused:", name)' ${victim.pid} $PLEXUS_LAUNCH_SERVER '${join(directory, "secret")}'
      `);
        expect(found).toContain(`uid=${uid} gid=${uid} groups=${uid}\n`);
        expect(found).not.toMatch(/became root|read a file of root|DID:|Traceback/u);
        expect(found.match(/refused:/gu)).toHaveLength(10);
        expect(existsSync(`/proc/${victim.pid}`)).toBe(true);
      } finally {
        victim.kill("SIGKILL");
      }
    });

    test("gets what root has made in a shared directory, and nothing by a name that leads elsewhere", () => {
      const net = join(shared, "net");
      const lease = join(net, "10.1.0.1");
      const program = join(net, "program");
      const twice = join(net, "twice");
      // A plugin of root makes the lease while the daemon runs.
      const [asked, made] = [join(shared, "asked"), join(shared, "made")];
      const plugin = `until [ -e '${asked}' ]; do sleep 0.01; done; umask 077; printf one > '${lease}'; umask 022; touch '${made}'`;
      const root = spawn("sh", ["-c", plugin]);
      writeFileSync(program, "", { mode: 0o700 });
      chmodSync(program, 0o4700);
      linkSync(join(foreign, "secret"), twice);
      symlinkSync(join(foreign, "secret"), join(net, "link"));
      symlinkSync(foreign, join(shared, "elsewhere"));
      const found = asUser(`
      touch '${asked}'; until [ -e '${made}' ]; do sleep 0.01; done
      cat '${lease}' && echo read it before
      ${shareCommand(net, `${shared}/`, join(shared, "elsewhere"), `${shared}/net/../../foreign`, foreign, `${shared}-of-another`, `${sockets}/slots`, "", "/")}
      cat '${lease}'; rm '${lease}' && echo removed it
      cat '${twice}' '${join(net, "link")}' && echo read a file of root
    `);
      root.kill("SIGKILL");
      expect(found).not.toMatch(/read it before|read a file of root/u);
      expect(found).toContain(`errno 0 ${net}\n`);
      expect(found).toMatch(/\noneremoved it\n/u);
      expect([...found.matchAll(/^errno (\d+) /gmu)].map(([, errno]) => Number(errno) !== 0)).toEqual([
        false,
        ...Array(8).fill(true),
      ]);
      expect(
        [foreign, join(foreign, "below"), join(foreign, "secret"), twice, join(sockets, "slots"), program].map(modeOf),
      ).toEqual(["700", "700", "600", "600", "700", "4700"]);
      expect([shared, net, sockets].map(modeOf)).toEqual(["2770", "2770", "2770"]);
      for (const path of [shared, net, sockets]) expect(statSync(path)).toMatchObject({ uid: 0, gid: uid });
    });

    test("gets an answer at once if root's process of a request is killed, and the next request is served", () => {
      const [asked, seized] = [join(shared, "server"), join(shared, "seized")];
      const root = spawn("python3", ["-c", killsFirstChild, asked, seized], { stdio: ["ignore", "inherit", "inherit"] });
      const found = asUser(`
      echo $PLEXUS_LAUNCH_SERVER > '${asked}.new'; mv '${asked}.new' '${asked}'; until [ -e '${seized}' ]; do sleep 0.01; done
      ${shareCommand(shared, shared)}
    `);
      root.kill("SIGKILL");
      expect(found).toBe(`errno ${EIO} ${shared}\nerrno 0 ${shared}\n`);
    });

    test.skipIf(missing("a cgroup of a daemon with a uid of its own", makesCgroups))(
      "divides its delegated cgroup, raises no bound of the cgroup, and starts no process in a cgroup of root",
      () => {
        const cgroup = cgroupOfTest();
        // Without the bounds of the daemon's own cgroup.
        const cgroupOfRoot = `${cgroup}-of-root`;
        for (const each of [cgroup, cgroupOfRoot]) mkdirSync(each);
        try {
          const inside = ["/bin/sh", "-c", `echo $$ > '${cgroup}/cgroup.procs' && exec "$@"`, "sh"];
          const found = asDaemon(
            `
          mkdir '${cgroup}/engine' && echo $$ > '${cgroup}/engine/cgroup.procs' && echo $PLEXUS_LAUNCH_SERVER > '${cgroup}/engine/cgroup.procs' && echo moved both
          mkdir '${cgroup}/sandbox' && chmod 664 '${cgroup}/sandbox/cgroup.procs'
          ${ask(gibibyte, `${cgroup}/sandbox`, "1")} | tr -d '\\0'
          echo of root; ${ask(gibibyte, cgroupOfRoot, "1")} | tr -d '\\0'
          for file in cgroup.max.depth cgroup.max.descendants; do [ -w '${cgroup}'/$file ] && echo may write $file; done
        `,
            inside,
            ["--daemon-uid", String(uid), "--share-directory", cgroup],
          );
          expect(found).toContain("moved both");
          expect(found).not.toContain("may write");
          const joined = 1 << controls.indexOf("cgroup");
          expect(controlsIn(found) & joined).toBe(joined);
          const asked = found.split("of root\n")[1] ?? "";
          expect(asked).toContain("args=1");
          expect(controlsIn(asked) & joined).toBe(0);
        } finally {
          for (const name of ["engine", "sandbox", ""]) spawnSync("rmdir", [join(cgroup, name)]);
          spawnSync("rmdir", [cgroupOfRoot]);
        }
      },
    );

    test("shares nothing without that user, and starts as no other user where the user can't be changed", () => {
      const plain = join(directory, "plain");
      mkdirSync(plain, { mode: 0o700 });
      expect(asDaemon(shareCommand(plain), [], ["--share", plain])).toContain(`errno ${EINVAL} ${plain}`);
      expect(modeOf(plain)).toBe("700");
      const powerless = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];
      const found = asDaemon("echo started", powerless, options());
      expect(found).toMatch(/\(--uid\) needs CAP_SETGID/u);
      expect(found).not.toContain("started");
    });

    test("reads configurations of the runtime's directory that root alone may read, and no credentials beside them", () => {
      const netD = join(directory, "net.d");
      mkdirSync(netD, { mode: 0o755 });
      for (const name of ["10-calico.conflist", "calico-kubeconfig"]) writeFileSync(join(netD, name), "of root", { mode: 0o600 });
      symlinkSync("calico-kubeconfig", join(netD, "link.conf"));
      const configuration = ["--configuration", join(netD, "00-plexus.conflist"), "--type", "plexus"];
      const found = asDaemon(
        ["10-calico.conflist", "calico-kubeconfig", "link.conf", "../secret", "../secret.conf"].map(readCommand).join("\n"),
        [],
        [...options(), ...configuration],
      );
      expect(found).toContain("of root 10-calico.conflist\n");
      expect(found.match(/of root/gu)).toHaveLength(1);
    });
  },
);

test.each([
  [["--serve", "--", "/bin/true"]],
  [["--serve", "--uids", "0:5", "--", "/bin/true", "--", "/bin/true"]],
  [["--serve", "--uids", "5:5", "--", "/bin/true"]],
  [["--serve", "--uids", "5:5", "--", "/bin/true", "--"]],
])("a launch server without good uids, program or daemon does not start: %j", (args) => {
  const { status, stderr } = spawnSync(launcher, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([125, "plexusd: the launch server's arguments: Invalid argument\n"]);
});

test("a process that is asked for without a launch server is reported as such", () => {
  const { status, stdout } = spawnSync(launcher, ["--ask", gibibyte, "", "1"], { encoding: "latin1" });
  expect([status, stdout]).toEqual([125, expect.stringContaining("launch server cannot be asked")]);
});

import { expect, test } from "vitest";
import type { AttachmentState, NodeState } from "../../node/state/node-state.ts";
import type { StatusDocument } from "../../telemetry/status-document.ts";
import { attachmentsText, needsAttention, statusText } from "./status-text.ts";

const attachment: AttachmentState = {
  pod: "shop/cart-7",
  container: "0123456789abcdef",
  ifname: "eth0",
  network: "pods",
  source: "default",
  addresses: ["10.1.0.7/24", "fd00::7/64"],
  state: "attached",
  since: "2026-11-21T12:00:00.000Z",
  failures: 0,
  why: undefined,
};

const node: NodeState = {
  stateDirectory: "/var/lib/cni/plexus",
  journal: { entries: 2, bytes: 4096 },
  abandoned: { entries: 1, bytes: 812 },
  attachments: [
    attachment,
    { ...attachment, ifname: "net1", network: "storage", source: "shop/storage", addresses: ["10.2.0.7/16"] },
    {
      ...attachment,
      pod: "shop/a-pod-with-a-name-that-is-much-longer-than-any-table-can-be-wide-7",
      state: "abandoned",
      failures: 10,
      why: "plugin bridge failed (delete): no such device",
    },
  ],
  networks: [{ name: "pods", source: "default", chain: ["bridge/host-local", "tuning"], links: [], pools: [], attachments: 2 }],
  pools: [
    { directory: "/var/lib/cni/networks/pods", used: 240, size: 253 },
    { directory: "/var/lib/cni/networks/six", used: 1, size: 1.8446744073709552e19 },
  ],
  problems: [],
};

const document: StatusDocument = {
  apiVersion: "plexus/v1",
  kind: "NodeStatus",
  time: "2026-11-21T15:30:00.000Z",
  daemon: {
    version: "1.2.3",
    pid: 812,
    since: "2026-11-19T15:30:00.000Z",
    socket: "/run/plexus/plexus.sock",
    ready: false,
    checks: [
      { name: "socket", ok: true, message: "/run/plexus/plexus.sock: listens" },
      { name: "journal", ok: false, message: "/var/lib/cni/plexus: /var/lib/cni/plexus can't be written: EROFS" },
    ],
    queue: { active: 64, waiting: 3, mostActive: 64, mostWaiting: 512 },
    sandboxes: { idle: 2, busy: 1, starting: 0, restarts: 4 },
    isolation: { level: "process", missing: [] },
    information: { watch: "60000 pods known" },
  },
  nodes: [node],
  failures: [
    {
      time: "2026-11-21T15:29:40.000Z",
      request: "00f067aa0ba902b7",
      verb: "ADD",
      pod: "shop/cart-8",
      container: "c",
      network: "pods",
      fault: "STORE_FAILED",
      code: 5,
      msg: "appending to /var/lib/cni/plexus/journal/c@pods@eth0: EROFS: read-only file system, open",
      remedy: "Check the directory named: owner, mode, free space, read-only mount.",
      times: 12,
    },
  ],
};

test("prints a whole node in 80 columns, with failing attachments first", () => {
  expect(statusText(document, 80)).toMatchInlineSnapshot(`
    "Daemon: NOT READY, version 1.2.3, pid 812, up 2d
      ok  socket   /run/plexus/plexus.sock: listens
      NO  journal  /var/lib/cni/plexus: /var/lib/cni/plexus can't be written: EROFS
      Calls      64 of 64 served, 3 of 512 waiting
      Sandboxes  2 idle, 1 busy, 0 starting, 4 restarted
      watch: 60000 pods known

    Attachments: 2 attached, 1 NEED ATTENTION
      POD               INTERFACE  NETWORK  ADDRESSES         STATE              AGE
      shop/a-pod-with…  eth0       pods     10.1.0.7/24 fd0…  abandoned, 10 DE…  3h
      shop/cart-7       eth0       pods     10.1.0.7/24 fd0…  attached           3h
      shop/cart-7       net1       storage  10.2.0.7/16       attached           3h
      Why DEL fails:
        shop/a-pod-with-a-name-that-is-much-longer-than-any-table-can-be-wide-7:
        plugin bridge failed (delete): no such device
        To do: docs/how-to/when-del-fails.md

    Networks: 1
      NETWORK  SOURCE   PODS  CHAIN
      pods     default     2  bridge/host-local tuning

    Pools: 2
      POOL                        USED     SIZE
      /var/lib/cni/networks/pods   240      253  95 %
      /var/lib/cni/networks/six      1  1.8e+19   0 %

    Journal: 2 entries, 4096 bytes; abandoned: 1 entry, 812 bytes

    Last failures:
      20s ago: ADD shop/cart-8, network pods, 12 times: STORE_FAILED, code 5
        appending to /var/lib/cni/plexus/journal/c@pods@eth0: EROFS: read-only file
        system, open
        To do: Check the directory named: owner, mode, free space, read-only mount.
    "
  `);
});

test("prints a node without a daemon", () => {
  const silent = { socket: "/run/plexus/status.sock", why: "the socket does not exist" };
  const alone = { ...document, daemon: null, failures: [], nodes: [{ ...node, attachments: [], networks: [], pools: [] }] };
  expect(statusText(alone, 80, undefined, silent)).toMatchInlineSnapshot(`
    "Daemon: no answer on /run/plexus/status.sock (the socket does not exist).
    Without a daemon the shim starts a one-shot engine for each call, which is
    slower. The rest of this status comes from the state directory.
    To do: systemctl start plexusd; if that fails, read journalctl -u plexusd and
    docs/how-to/run-the-daemon.md. If plexusd runs, give its status socket with
    --status-socket.

    Attachments: 0 attached

    Networks: 0

    Pools: 0

    Journal: 2 entries, 4096 bytes; abandoned: 1 entry, 812 bytes
    "
  `);
});

test("a node needs attention if the daemon is not ready or absent, an attachment is abandoned, or a DEL fails", () => {
  const ready = document.daemon === null ? null : { ...document.daemon, ready: true };
  const well = { ...document, daemon: ready, nodes: [{ ...node, attachments: [attachment] }] };
  expect(needsAttention(well)).toBe(false);
  expect(needsAttention({ ...well, daemon: null })).toBe(true);
  expect(needsAttention({ ...well, nodes: [node] })).toBe(true);
  expect(needsAttention({ ...well, nodes: [{ ...node, attachments: [{ ...attachment, failures: 1 }] }] })).toBe(true);
});

test("ten thousand attachments with hostile names fit one screen, without control characters", () => {
  const hostile = {
    ...attachment,
    pod: "evil\u001B[2J\u202E/x\ny\u0007",
    network: "n".repeat(5000),
    addresses: ["a".repeat(900)],
  };
  const many = { ...node, attachments: Array.from({ length: 10_000 }, () => hostile) };
  const text = statusText({ ...document, nodes: [many] }, 80);
  expect(text).toContain("  … and 9980 more: plexusctl attachments\n");
  // oxlint-disable-next-line no-control-regex -- the text must not contain control characters
  expect(text).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202E]/);
  expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test("wide output cuts no cell, and has the columns CONTAINER and SOURCE", () => {
  const [titles, ...rows] = attachmentsText([node], Infinity, document.time);
  expect(titles).toMatch(/CONTAINER +SOURCE$/);
  expect(rows[0]).toContain("a-name-that-is-much-longer-than-any-table-can-be-wide-7");
  expect(rows.every((row) => row.includes("0123456789abcdef"))).toBe(true);
});

test("reports an installed version that differs from the running one, and only then", () => {
  const running = document.daemon?.version ?? "";
  const text = statusText(document, 80, "9.9.9");
  expect(text).toContain(
    `  Version 9.9.9 is installed, but the daemon still runs version ${running}.\n  To do: systemctl restart plexusd\n`,
  );
  expect(statusText(document, 80, running)).toBe(statusText(document, 80));
});

// Fuzzes the shim's frame parser.

import { encodeFrame, PROTOCOL_VERSION } from "../../../host/protocol/frames.ts";
import { encodeMessage } from "../../../host/protocol/message-codec.ts";
import type { EngineMessage, ShimMessage } from "../../../host/protocol/messages.ts";
import { describeFuzzing } from "./fuzz-target.ts";

const environment = new Map([
  ["CNI_COMMAND", "ADD"],
  ["CNI_PATH", "/opt/cni/bin"],
]);

const messages: Readonly<Record<string, ShimMessage | EngineMessage>> = {
  request: {
    kind: "request",
    name: "plexus",
    environment,
    stdin: Buffer.from("{}"),
    under: 0,
  },
  agent: { kind: "agent", environment },
  reply: { kind: "reply", status: 1, stdout: '{"code":7}', stderr: "no" },
  exec: {
    kind: "exec",
    type: "bridge",
    environment,
    stdin: "{}",
    deadlineMs: 1000,
    stdoutCap: 4096,
    stderrCap: 4096,
    nestedCallDirectory: "0123456789abcdef",
  },
  find: { kind: "find", type: "host-local", componentFirst: true },
  read: { kind: "read", path: "/opt/cni/bin/a.wasm", cap: 65_536 },
  netlink: {
    kind: "netlink",
    path: "/run/netns/pod",
    second: "/run/netns/second",
    allowsOwn: true,
    protocol: "netfilter",
    request: Buffer.alloc(20, 20),
    deadlineMs: 1000,
  },
  sysctl: { kind: "sysctl", path: "/run/netns/pod", settings: [{ key: "net/ipv4/ip_forward", value: "1" }] },
  packet: {
    kind: "packet",
    path: "",
    index: 2,
    packets: [{ ethertype: 2054, destination: Buffer.alloc(6, 255), payload: Buffer.alloc(28, 1) }],
  },
  tap: { kind: "tap", path: "/run/netns/pod", name: "tap0", multiQueue: true, owner: 107, group: 108 },
  ask: {
    kind: "ask",
    path: "/run/netns/pod",
    index: 2,
    answers: "arp",
    keys: [Buffer.alloc(4, 10)],
    packets: [{ ethertype: 2054, destination: Buffer.alloc(6, 255), payload: Buffer.alloc(28, 1) }],
    deadlineMs: 500,
    maxAnswers: 1,
  },
  done: { kind: "done", errno: 1, sent: true, reply: Buffer.alloc(20, 20) },
};

/** A stream for each message, arriving whole and in small pieces; streams of all messages; and invalid streams. */
function seeds(): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const all: Uint8Array[] = [];
  for (const [name, message] of Object.entries(messages)) {
    const frame = encodeMessage(3, message);
    const bytes = frame.ok ? encodeFrame(frame.value) : frame;
    if (!bytes.ok) throw new Error(bytes.fault.msg);
    all.push(bytes.value);
    found.set(name, Buffer.concat([Uint8Array.of(0), bytes.value]));
    found.set(`${name}-in-pieces`, Buffer.concat([Uint8Array.of(5), bytes.value]));
  }
  found.set("all", Buffer.concat([Uint8Array.of(0), ...all]));
  found.set("all-in-pieces", Buffer.concat([Uint8Array.of(13), ...all]));
  found.set("longest", Uint8Array.of(0, 0, 0, 0, 2, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0));
  found.set("too-long", Uint8Array.of(0, 255, 255, 255, 255, PROTOCOL_VERSION, 16, 0, 0, 0, 0, 0, 0));
  return found;
}

describeFuzzing({
  title: "the shim's frame parser",
  target: "frame-fuzz.c",
  sources: ["frame.c", "buffer.c"],
  seeds,
  checks: {
    source: "frame.c",
    without: {
      "value->size > rest.size": "false",
      "rest.size < sizeof *number": "false",
      "return rest.size == 0": "return true",
      "frame->length > payload_max": "payload_max == 0",
    },
  },
});
